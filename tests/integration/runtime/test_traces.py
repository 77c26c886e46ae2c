"""Traces: one from the request to the proof, nothing where they are off, never an input in them."""

import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from django.test import Client
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from pytest_django import DjangoCaptureOnCommitCallbacks, Settings

from proving import spool
from proving.models import Circuit, Job
from proving.services import keys, tracing
from tests.conftest import REPOSITORY
from tests.integration.runtime.conftest import Line

TRACE, CALLER = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
INPUT = 7_654_321


@pytest.fixture
def spans(monkeypatch: pytest.MonkeyPatch, settings: Settings) -> Iterator[InMemorySpanExporter]:
    """Traces are on; what they tell stays in memory."""
    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    tracer = provider.get_tracer("test")
    monkeypatch.setattr(tracing, "tracer", lambda: tracer)
    settings.CUZKWEB_TRACES = True
    settings.MIDDLEWARE = ["proving.api.tracing.TraceRequests", *settings.MIDDLEWARE]
    yield exporter
    provider.shutdown()


@pytest.fixture
def submit(
    line: Line, circuit: Circuit, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> Any:
    """Submits over HTTP, as a caller who traces too."""
    _, plain = keys.create_key(circuit.owner, "test")
    client = Client(headers={"authorization": f"Bearer {plain}", "traceparent": f"00-{TRACE}-{CALLER}-01"})

    def post(inputs: list[dict[str, object]]) -> Any:
        body = {"circuit": circuit.pk, "inputs": inputs}
        with django_capture_on_commit_callbacks(execute=True):
            return client.post("/api/v1/jobs", body, content_type="application/json")

    return post


def named(spans: InMemorySpanExporter, name: str) -> list[ReadableSpan]:
    return [span for span in spans.get_finished_spans() if span.name == name]


@pytest.mark.django_db
def test_one_trace_leads_from_the_request_to_the_proof(
    line: Line, submit: Any, spans: InMemorySpanExporter
) -> None:
    job = submit([{"a": INPUT, "b": 2}, {"a": 3, "b": 11}]).json()["id"]
    line.run()
    assert Job.objects.get().state == "done"
    found = spans.get_finished_spans()
    assert {format(span.context.trace_id, "032x") for span in found} == {TRACE}
    (request,) = named(spans, "POST /api/v1/jobs")
    assert request.parent is not None
    assert format(request.parent.span_id, "016x") == CALLER
    assert request.attributes == {"http.response.status_code": 202}
    for name in ("queued", "synthesize", "wait for a device", "prove", "wait for a finalizer", "finalize"):
        stages = named(spans, name)
        assert {span.attributes["cuzkweb.partition"] for span in stages} == {0, 1}, name
        for span in stages:
            assert span.parent.span_id == request.context.span_id
            assert span.attributes["cuzkweb.job"] == job
            assert span.start_time <= span.end_time
    proving = {span.context.span_id for span in named(spans, "prove")}
    on_device = [span for span in found if span.name.startswith("device ")]
    assert {span.parent.span_id for span in on_device} == proving
    assert {"device h", "device c"} <= {span.name.lower() for span in on_device}
    (assembly,) = named(spans, "assemble")
    assert assembly.parent.span_id == request.context.span_id
    assert str(INPUT) not in " ".join(span.to_json() for span in found)


@pytest.mark.django_db
def test_what_went_wrong_is_told(line: Line, submit: Any, spans: InMemorySpanExporter) -> None:
    submit([{"a": INPUT, "b": 2}])
    spool.store_input(Job.objects.get().pk, 0, b'{"a": "1"}')
    line.run()
    (span,) = named(spans, "synthesize")
    assert (span.status.status_code.name, span.status.description) == ("ERROR", "bad_input")
    assert str(INPUT) not in span.to_json()


@pytest.mark.django_db
def test_off_a_job_keeps_no_trace(line: Line, submit: Any, settings: Settings) -> None:
    assert settings.CUZKWEB_TRACES is False
    submit([{"a": 3, "b": 11}])
    line.run()
    job = Job.objects.get()
    assert (job.state, job.trace_parent) == ("done", "")


def test_off_it_need_not_even_be_installed() -> None:
    """redis-py imports it for itself where it finds it: what we do is seen where nobody can."""
    script = (
        "import sys; sys.modules['opentelemetry'] = None\n"
        "import django; django.setup()\n"
        "import proving.tasks, cuzkweb.urls, cuzkweb.asgi, cuzkweb.worker\n"
        "from proving.services import tracing\n"
        "with tracing.job_span('assemble', 'job'): tracing.device_stage('h', 1.0)\n"
        "tracing.outcome('x'); tracing.flush()\n"
        "assert tracing.parent_here() == ''"
    )
    done = subprocess.run([sys.executable, "-c", script], cwd=REPOSITORY, check=False, timeout=120)
    assert done.returncode == 0
