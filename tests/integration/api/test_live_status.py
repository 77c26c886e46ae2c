"""The status over HTTP, read from a real server: what was submitted is there, and its version is the tag."""

from collections.abc import Iterator
from pathlib import Path

import pytest
import redis
from pytest_django import Settings

from proving.models import Circuit
from proving.services import dispatch, live
from tests.integration.conftest import Caller

pytestmark = pytest.mark.django_db

JOBS = "/api/v1/jobs"
INPUTS = [{"a": "3", "b": 11}] * 2


@pytest.fixture(autouse=True)
def live_state(
    valkey: redis.Redis, valkey_socket: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> Iterator[None]:
    """The services of this process on the server of the session; no message is sent to anybody."""
    settings.REDIS_URL = f"unix://{valkey_socket}"
    monkeypatch.setattr(dispatch, "send_all", lambda *_: None)
    live.redis.cache_clear()
    live.store.cache_clear()
    yield
    live.redis().close()
    live.redis.cache_clear()
    live.store.cache_clear()


def test_a_submitted_job_waits_in_the_status(caller: Caller, circuit: Circuit) -> None:
    before = caller.get("/status")
    assert before.json()["pipelines"] == []
    body = {"circuit": circuit.pk, "inputs": INPUTS, "request_id": "ps-snap-1000-1-4711", "label": "x"}
    caller.post(JOBS, body)
    changed = caller.client.get("/status", headers={"if-none-match": before["ETag"]})
    assert changed.status_code == 200
    (pipeline,) = changed.json()["pipelines"]
    assert (pipeline["job_id"], pipeline["total_partitions"]) == ("ps-snap-1000-1-4711", 2)
    assert [partition["state"] for partition in pipeline["partitions"]] == ["pending", "pending"]
    same = caller.client.get("/status", headers={"if-none-match": changed["ETag"]})
    assert same.status_code == 304


def test_a_cancelled_job_that_only_waited_has_ended(caller: Caller, circuit: Circuit) -> None:
    links = caller.post(JOBS, {"circuit": circuit.pk, "inputs": INPUTS}).json()["links"]
    assert caller.post(links["cancel"]).status_code == 202
    document = caller.get(links["self"], wait=5).json()
    assert (document["state"], document["terminal"]) == ("cancelled", True)
    assert document["error"]["code"] == "cancelled"
    assert {partition["state"] for partition in document["partitions"]} == {"cancelled"}


def test_metrics_and_readiness_read_the_real_server(caller: Caller, circuit: Circuit) -> None:
    caller.post(JOBS, {"circuit": circuit.pk, "inputs": INPUTS})
    assert 'cuzkweb_partitions{state="pending"} 2\n' in caller.get("/metrics").text
    assert caller.get("/readyz").json()["checks"] == dict.fromkeys(
        ("database", "migrations", "redis", "eviction", "spool"), True
    )
