"""The whole API as its own description has it: whatever that allows or forbids is asked, with schemathesis.

Nothing may be a 5xx, an answer that the description does not describe, or a refusal of what it allows. Real
database, real Redis; only messages to workers go nowhere. Streams do not end: test_streams asks them.
`make api-test` asks many more questions.
"""

import gc
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import redis
import schemathesis
import yaml
from django.contrib.auth.models import User
from django.core.wsgi import get_wsgi_application
from hypothesis import HealthCheck, Phase, given
from hypothesis import settings as effort
from pytest_django import Settings
from schemathesis import GenerationMode
from schemathesis.config import SchemathesisConfig
from schemathesis.specs.openapi.checks import positive_data_acceptance

from proving.choices import JobState, Scope
from proving.models import Circuit
from proving.services import dispatch, keys, live, record, webhooks
from proving.services.submit import JobRequest, submit_inputs
from tests.conftest import REPOSITORY

pytestmark = [
    pytest.mark.django_db,
    # werkzeug's client leaves answers, and with them Django the files of a form, to the garbage collector
    pytest.mark.filterwarnings("ignore:.*unclosed file:pytest.PytestUnraisableExceptionWarning"),
    pytest.mark.filterwarnings("ignore:unclosed file:ResourceWarning"),
]

schemathesis.serializer.alias("application/offset+octet-stream", "application/octet-stream")
PAGE = REPOSITORY / "docs" / "openapi.yaml"
EXAMPLES = int(os.environ.get("CUZKWEB_API_EXAMPLES", "5"))
LONG = EXAMPLES > 100

CONFIG = {
    "checks": {
        # what a service finds wrong with a request that looks right: 422, 409; a queue or a host that is full
        "positive_data_acceptance": {
            "expected-statuses": ["2xx", "304", "401", "403", "404", "409", "412", "413", "422", "503"]
        },
        # a text where a number is wanted and the like; query parameters that nobody knows are ignored
        "negative_data_rejection": {"expected-statuses": ["400", "4xx"]},
    }
}


@pytest.fixture
def told(  # noqa: PLR0917 - all of a service
    valkey: redis.Redis,
    valkey_socket: Path,
    settings: Settings,
    monkeypatch: pytest.MonkeyPatch,
    circuit: Circuit,
    alice: User,
) -> Iterator[dict[str, str]]:
    """What there is to ask about: its names by those of the parameters. And the caller's key."""
    settings.REDIS_URL = f"unix://{valkey_socket}"
    settings.CUZKWEB_READS_PER_MINUTE = settings.CUZKWEB_SUBMITS_PER_MINUTE = 10**9
    settings.CUZKWEB_UPLOAD_QUOTA_BYTES = 0
    monkeypatch.setattr(dispatch, "send_all", lambda *_: None)
    live.redis.cache_clear()
    live.store.cache_clear()
    job = submit_inputs(alice, JobRequest(circuit, request_id="one"), [{"a": 1, "b": 2}] * 2).job
    dispatch.enqueue_job(job)
    submit_inputs(alice, JobRequest(circuit, request_id="over"), [{"a": 1, "b": 2}])
    record.job_ended("over", JobState.CANCELLED)
    _, plain = keys.create_key(alice, "all", [Scope.READ, Scope.SUBMIT, Scope.ADMIN])
    other, _ = keys.create_key(alice, "other")
    hook = webhooks.create_webhook(alice, "https://example.org/hook")
    yield {
        "key": plain,
        "job": job.pk,
        "circuit": circuit.pk,
        "prefix": other.prefix,
        "webhook": hook.pk,
    }
    live.redis().close()
    live.redis.cache_clear()
    live.store.cache_clear()
    gc.collect()  # what this test has left open is told here, and not to the next one


@pytest.fixture(scope="module")
def described() -> Any:
    config = SchemathesisConfig.from_dict(CONFIG)
    found = schemathesis.openapi.from_dict(without_tuples(yaml.safe_load(PAGE.read_text())), config=config)
    found.app = get_wsgi_application()
    return found


def without_tuples(told: Any) -> Any:
    """The same without `prefixItems`, of which schemathesis makes what it refuses; test_every_field checks
    them."""
    if isinstance(told, dict):
        return {name: without_tuples(inner) for name, inner in told.items() if name != "prefixItems"}
    return [without_tuples(inner) for inner in told] if isinstance(told, list) else told


def operations() -> list[tuple[str, str]]:
    """Every path and method of the committed description that answers and is done."""
    told = yaml.safe_load(PAGE.read_text())["paths"]
    return [
        (path, method) for path, methods in told.items() for method in methods if not path.endswith("/stream")
    ]


@pytest.mark.parametrize(("path", "method"), operations(), ids=lambda text: text.removeprefix("/api/v1/"))
def test_the_api_is_as_described(described: Any, told: dict[str, str], path: str, method: str) -> None:
    @effort(
        max_examples=EXAMPLES,
        deadline=None,
        derandomize=not LONG,
        database=None,
        suppress_health_check=list(HealthCheck),
        phases=[Phase.explicit, Phase.generate, *([Phase.shrink] if LONG else [])],
    )
    @given(case=described[path][method].as_strategy(generation_mode=GenerationMode.POSITIVE))
    def right(case: Any) -> None:
        ask(case, told)

    @effort(
        max_examples=EXAMPLES,
        deadline=None,
        derandomize=not LONG,
        database=None,
        suppress_health_check=list(HealthCheck),
        phases=[Phase.explicit, Phase.generate, *([Phase.shrink] if LONG else [])],
    )
    @given(case=described[path][method].as_strategy(generation_mode=GenerationMode.NEGATIVE))
    def wrong(case: Any) -> None:
        ask(case, told)

    right()
    wrong()


def ask(case: Any, told: dict[str, str]) -> None:
    """Ask, half of the time about what there is, and hold the answer against the description."""
    for name, value in (case.path_parameters or {}).items():
        if name in told and len(str(value)) % 2:
            case.path_parameters[name] = told[name]
    if "wait" in (case.query or {}):
        case.query["wait"] = 0
    # schemathesis sends a file now as a file, now as a text
    lenient = [positive_data_acceptance] if case.media_type == "multipart/form-data" else []
    case.call_and_validate(headers={"Authorization": f"Bearer {told['key']}"}, excluded_checks=lenient)
