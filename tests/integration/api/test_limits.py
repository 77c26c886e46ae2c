"""How often and how much a caller may ask, counted by a real server."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import redis
from django.contrib.auth.models import User
from django.test import Client
from pytest_django import Settings

from proving.models import Circuit, Job
from proving.services import rates
from tests.integration.conftest import Caller, Dispatched

pytestmark = pytest.mark.django_db

JOBS = "/api/v1/jobs"


@pytest.fixture
def counted(valkey: redis.Redis, valkey_socket: Path, settings: Settings) -> Iterator[Settings]:
    """Requests are counted by the server of the session."""
    settings.REDIS_URL = f"unix://{valkey_socket}"
    rates.Counter.away_until = 0.0
    yield settings
    rates._server(settings.REDIS_URL).close()
    rates._server.cache_clear()


def test_too_many_reads_are_told_to_wait(
    caller: Caller, calling: Callable[[User], Caller], bob: User, counted: Settings
) -> None:
    counted.CUZKWEB_READS_PER_MINUTE = 3
    answers = [caller.get(JOBS) for _ in range(4)]
    assert [answer.status_code for answer in answers] == [200, 200, 200, 429]
    refused = answers[-1]
    assert refused.json()["code"] == "throttled"
    assert refused["Content-Type"] == "application/problem+json"
    assert 1 <= int(refused["Retry-After"]) <= 60
    assert calling(bob).get(JOBS).status_code == 200


def test_reads_and_submissions_are_counted_apart(caller: Caller, counted: Settings) -> None:
    counted.CUZKWEB_SUBMITS_PER_MINUTE = 1
    assert caller.post(JOBS, {}).status_code == 400
    assert caller.post(JOBS, {}).status_code == 429
    assert caller.get(JOBS).status_code == 200


def test_health_is_never_refused(counted: Settings) -> None:
    counted.CUZKWEB_READS_PER_MINUTE = 1
    assert {Client().get("/healthz").status_code for _ in range(3)} == {200}


def test_the_count_of_the_minute_before_fades(counted: Settings) -> None:
    minute = 60.0 * 1000
    assert [rates.turn("x", 2, minute) for _ in range(3)] == [None, None, 60.0]
    assert rates.turn("x", 2, minute + 60) == 60.0
    assert rates.turn("x", 2, minute + 95) is None
    assert rates.turn("x", 2, minute + 180) is None


def test_without_its_server_nobody_is_refused(caller: Caller, settings: Settings, tmp_path: Path) -> None:
    settings.REDIS_URL = f"unix://{tmp_path}/nobody.sock"
    settings.CUZKWEB_READS_PER_MINUTE = 1
    rates.Counter.away_until = 0.0
    assert {caller.get(JOBS).status_code for _ in range(3)} == {200}


def test_a_full_queue_takes_no_more(
    caller: Caller, circuit: Circuit, dispatched: Dispatched, settings: Settings
) -> None:
    settings.CUZKWEB_MAX_UNFINISHED_PARTITIONS = 3
    body = {"circuit": circuit.pk, "inputs": [{"a": 1, "b": 2}] * 2, "request_id": "first"}
    assert caller.post(JOBS, body).status_code == 202
    refused = caller.post(JOBS, {**body, "request_id": "second"})
    assert (refused.status_code, refused.json()["code"]) == (503, "queue_full")
    assert int(refused["Retry-After"]) > 0
    assert caller.post(JOBS, body).status_code == 200, "a repetition takes no room"
    assert Job.objects.count() == 1


def test_one_owner_does_not_fill_the_queue_of_all(
    caller: Caller, circuit: Circuit, dispatched: Dispatched, settings: Settings
) -> None:
    settings.CUZKWEB_MAX_UNFINISHED_PER_OWNER = 1
    body = {"circuit": circuit.pk, "inputs": [{"a": 1, "b": 2}] * 2}
    assert "one owner" in caller.post(JOBS, body).json()["detail"]


def test_one_owner_does_not_fill_the_spool(
    caller: Caller, circuit: Circuit, dispatched: Dispatched, settings: Settings
) -> None:
    each = 64 * (circuit.variable_count + circuit.domain_size)
    settings.CUZKWEB_MAX_SPOOL_BYTES_PER_OWNER = 3 * each
    body = {"circuit": circuit.pk, "inputs": [{"a": 1, "b": 2}] * 2}
    assert caller.post(JOBS, body).status_code == 202
    refused = caller.post(JOBS, body)
    assert (refused.status_code, refused.json()["code"]) == (503, "spool_quota")
    assert int(refused["Retry-After"]) > 0
    assert caller.post(JOBS, {**body, "inputs": body["inputs"][:1]}).status_code == 202
