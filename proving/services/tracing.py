"""OpenTelemetry traces from a request to its proof, where CUZKWEB_TRACES switches them on.

Off, nothing of OpenTelemetry is imported here and nothing is measured. On, the request's span becomes the
parent of all that is done for its job, in whatever process: its name is kept with the job, and messages carry
none of it. Spans tell ids, times and outcomes, never an input. Exporter and sampler are set by the OTEL_*
variables that OpenTelemetry defines.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Any

from django.conf import settings

from proving.models import Job
from proving.services import live
from proving.tracker.records import Assignment

if TYPE_CHECKING:
    from opentelemetry.context import Context
    from opentelemetry.trace import Span, Tracer

Attributes = Mapping[str, str | int]
HEADER = "traceparent"


def is_on() -> bool:
    """Whether traces are made."""
    return bool(settings.CUZKWEB_TRACES)


@cache
def tracer() -> Tracer:
    """This process's tracer: spans go to where the OTEL_* variables say, in batches, in the background."""
    from opentelemetry import trace  # noqa: PLC0415 - only where traces are on
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter  # noqa: PLC0415
    from opentelemetry.sdk.resources import Resource  # noqa: PLC0415
    from opentelemetry.sdk.trace import TracerProvider  # noqa: PLC0415
    from opentelemetry.sdk.trace.export import BatchSpanProcessor  # noqa: PLC0415

    provider = TracerProvider(resource=Resource.create({"service.name": "cuzkweb"}))
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    trace.set_tracer_provider(provider)
    return provider.get_tracer("cuzkweb")


def flush() -> None:
    """Send what waits to be sent: the process is about to end."""
    if is_on() and tracer.cache_info().currsize:
        from opentelemetry import trace  # noqa: PLC0415

        sender: Any = trace.get_tracer_provider()
        sender.force_flush(2000)


@contextmanager
def request_span(name: str, headers: Mapping[str, str]) -> Iterator[Callable[[str, int], None]]:
    """The span of a request, below the caller's own where its headers name one.

    The answer sets its name, once the route is known, and the status.
    """
    from opentelemetry.trace import SpanKind, StatusCode  # noqa: PLC0415

    with tracer().start_as_current_span(name, _extracted(headers), SpanKind.SERVER) as span:

        def answered(route: str, status: int) -> None:
            span.update_name(route)
            span.set_attribute("http.response.status_code", status)
            if status >= 500:
                span.set_status(StatusCode.ERROR)

        yield answered


def parent_here() -> str:
    """The present span in the form in which a job keeps it; nothing where there is none."""
    if not is_on():
        return ""
    from opentelemetry.propagate import inject  # noqa: PLC0415

    carrier: dict[str, str] = {}
    inject(carrier)
    return carrier.get(HEADER, "")


@contextmanager
def stage_span(stage: str, assignment: Assignment, waited: str | None = None) -> Iterator[None]:
    """The span of a worker's stage at a partition, and before it that of the wait called `waited`."""
    if not is_on():
        yield
        return
    parent, told = _parent_of(assignment.job), _told(assignment)
    if waited is not None:
        _past_wait(waited, assignment, parent, told)
    with tracer().start_as_current_span(stage, parent, attributes=told):
        yield


@contextmanager
def job_span(stage: str, job_id: str) -> Iterator[None]:
    """The span of what is done for a job as a whole."""
    if not is_on():
        yield
        return
    with tracer().start_as_current_span(stage, _parent_of(job_id), attributes={"cuzkweb.job": job_id}):
        yield


def device_stage(name: str, seconds: float) -> None:
    """A stage of the device's has just ended, after so many seconds."""
    if is_on():
        ended = time.time_ns()
        span = tracer().start_span(f"device {name}", start_time=ended - round(seconds * 1e9))
        span.end(ended)


def outcome(text: str) -> None:
    """How the present span's work ended, where it did not end well."""
    if not is_on():
        return
    from opentelemetry import trace  # noqa: PLC0415

    span: Span = trace.get_current_span()
    span.set_status(trace.StatusCode.ERROR, text)


def _extracted(headers: Mapping[str, str]) -> Context:
    from opentelemetry.propagate import extract  # noqa: PLC0415

    return extract(headers)


def _parent_of(job_id: str) -> Context:
    kept = Job.objects.filter(pk=job_id).values_list("trace_parent", flat=True).first()
    return _extracted({HEADER: kept} if kept else {})


def _told(assignment: Assignment) -> Attributes:
    return {
        "cuzkweb.job": assignment.job,
        "cuzkweb.partition": assignment.partition,
        "cuzkweb.attempt": assignment.attempt,
        "cuzkweb.worker": assignment.worker,
    }


def _past_wait(name: str, assignment: Assignment, parent: Context, told: Attributes) -> None:
    """What the tracker knows of the time between two stages."""
    record = live.store().partition(assignment.job, assignment.partition)
    if record is None:
        return
    line = record.timeline
    began, ended = {
        "queued": (line.queued_at, line.synth_started_at),
        "wait for a device": (line.wait_started_at, line.gpu_started_at),
        "wait for a finalizer": (line.gpu_ended_at, line.finalize_started_at),
    }[name]
    if began is not None and ended is not None:
        span = tracer().start_span(name, parent, attributes=told, start_time=round(began * 1e9))
        span.end(max(round(began * 1e9), round(ended * 1e9)))
