"""Who sees how much of the status, live and past: operators all, owners their own."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import redis
from asgiref.sync import async_to_sync
from django.contrib.auth.models import User
from django.test import Client
from pytest_django import Settings

from proving.api import streams
from proving.choices import AttemptOutcome, JobState, PartitionState, Scope
from proving.models import Circuit, Job
from proving.services import dispatch, keys, live, record
from tests.integration.conftest import Caller

pytestmark = pytest.mark.django_db

JOBS, STATUS, HISTORY = "/api/v1/jobs", "/api/v1/status", "/api/v1/status/history"
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


def key_holder(user: User, *scopes: Scope) -> Client:
    _, plain = keys.create_key(user, "test", scopes)
    return Client(headers={"authorization": f"Bearer {plain}"})


@pytest.fixture
def job(caller: Caller, circuit: Circuit) -> str:
    """Alice's job, waiting."""
    body = {"circuit": circuit.pk, "inputs": INPUTS, "request_id": "alices-job", "label": "alices-label"}
    return caller.post(JOBS, body).json()["id"]


def shown(client: Client, path: str = STATUS) -> list[str]:
    return [pipeline["job_id"] for pipeline in client.get(path).json()["pipelines"]]


@pytest.mark.parametrize("path", ["/status", STATUS])
def test_owners_see_their_own(caller: Caller, bob: User, job: str, path: str) -> None:
    assert shown(caller.client, path) == [job]
    bobs = key_holder(bob, Scope.READ)
    answer = bobs.get(path)
    assert answer.json()["pipelines"] == []
    assert answer.json()["others"] == {"jobs": 1, "counts": {"pending": 2}}
    assert answer.json()["counters"]["queue_depth"] == 2
    assert "alices" not in answer.text
    assert bobs.get(path, {"jobs": job}).json()["pipelines"] == []


def test_jobs_are_picked_by_name_from_a_list_of_bounded_length(caller: Caller, job: str) -> None:
    assert len(caller.client.get(STATUS, {"jobs": f"another,{job},"}).json()["pipelines"]) == 1
    assert caller.client.get(STATUS, {"jobs": "another"}).json()["pipelines"] == []
    assert caller.client.get(STATUS, {"jobs": "j" * 16_385}).status_code == 400


def test_operators_see_everything(
    bob: User, staff: User, job: str, settings: Settings, circuit: Circuit
) -> None:
    session = Client()
    session.force_login(staff)
    assert shown(session) == [job]
    assert shown(key_holder(staff, Scope.READ)) == [job]
    assert shown(key_holder(bob, Scope.WATCH)) == [job]
    settings.CUZKWEB_STATUS_OPEN_ON_LOOPBACK = True
    (pipeline,) = Client().get(STATUS).json()["pipelines"]
    assert (pipeline["circuit_name"], pipeline["label"]) == ("multiplier", "alices-label")


def test_a_key_that_only_watches_reads_no_job(alice: User, job: str) -> None:
    watching = key_holder(alice, Scope.WATCH)
    assert watching.get("/metrics").status_code == 200
    assert watching.get(f"{JOBS}/{job}").status_code == 403
    assert watching.get(JOBS).status_code == 403


def test_a_key_that_only_submits_sees_no_status(alice: User) -> None:
    assert key_holder(alice, Scope.SUBMIT).get(STATUS).status_code == 403
    assert key_holder(alice, Scope.SUBMIT).get(HISTORY).status_code == 403


def test_only_staff_hand_out_keys_that_watch(alice: User, staff: User) -> None:
    body = {"name": "prometheus", "scopes": ["watch"]}

    def ask(user: User) -> Any:
        return key_holder(user, Scope.ADMIN).post("/api/v1/keys", body, content_type="application/json")

    refused = ask(alice)
    assert (refused.status_code, refused.json()["code"]) == (422, "staff_only")
    assert refused.json()["errors"][0]["pointer"] == "#/scopes"
    assert ask(staff).status_code == 201


@pytest.fixture
def ended(job: str) -> str:
    """Alice's job after its first partition was lost once and then failed."""
    lost = AttemptOutcome.LOST
    record.attempt_ended(
        job, 0, 2, state=PartitionState.PENDING, outcome=lost, error="the worker was lost in gpu"
    )
    record.partition_failed(job, 0, "unsatisfied", "constraint 3 does not hold")
    record.job_ended(job, JobState.FAILED)
    return job


def test_what_has_ended_is_told_with_its_reason(caller: Caller, ended: str, circuit: Circuit) -> None:
    found = caller.get(HISTORY).json()
    (job,) = found["finished"]
    assert (job["job_id"], job["state"], job["circuit_name"]) == (ended, "failed", "multiplier")
    assert (job["total_partitions"], job["partitions_done"], job["priority"]) == (2, 0, "normal")
    assert job["error"]["code"] == "unsatisfied"
    assert job["error"]["partition"] == 0
    assert [(bad["attempt"], bad["outcome"]) for bad in found["failures"]] == [(2, "failed"), (1, "lost")]
    assert found["failures"][0]["detail"] == "constraint 3 does not hold"
    assert found["failures"][1]["detail"] == "the worker was lost in gpu"


def test_the_past_is_its_owners_too(bob: User, staff: User, ended: str) -> None:
    bobs = key_holder(bob, Scope.READ).get(HISTORY)
    assert bobs.json() == {"finished": [], "failures": []}
    for client in (key_holder(bob, Scope.WATCH), key_holder(staff, Scope.READ)):
        assert [job["job_id"] for job in client.get(HISTORY).json()["finished"]] == [ended]


def test_the_newest_end_comes_first(caller: Caller, circuit: Circuit) -> None:
    for name in ("first", "second", "third"):
        body = {"circuit": circuit.pk, "inputs": INPUTS[:1], "request_id": name}
        caller.post(JOBS, body)
    for name in ("second", "third", "first"):
        record.job_ended(name, JobState.CANCELLED)
    found = caller.get(HISTORY, limit=2).json()["finished"]
    assert [job["job_id"] for job in found] == ["first", "third"]
    assert found[0]["error"] is None
    assert caller.get(HISTORY, limit=0).status_code == 400


def test_the_past_is_searched_by_state_and_by_name(caller: Caller, circuit: Circuit) -> None:
    for name, label in (("ps-4711", "sector A"), ("ps-4712", "")):
        body = {"circuit": circuit.pk, "inputs": INPUTS[:1], "request_id": name, "label": label}
        caller.post(JOBS, body)
    record.job_ended("ps-4711", JobState.CANCELLED)
    record.job_ended("ps-4712", JobState.FAILED)

    def found(**asked: str) -> list[str]:
        return sorted(job["job_id"] for job in caller.get(HISTORY, **asked).json()["finished"])

    assert found(state="failed,done") == ["ps-4712"]
    assert found(text="SECTOR a") == ["ps-4711"]
    assert found(text="4712") == ["ps-4712"]
    assert found(text=circuit.name[1:]) == ["ps-4711", "ps-4712"]
    assert found(text="4712", state="cancelled") == []
    assert caller.get(HISTORY, state="melted").status_code == 400


def test_the_past_costs_few_queries(
    caller: Caller, circuit: Circuit, ended: str, django_assert_max_num_queries: Callable[..., Any]
) -> None:
    assert Job.objects.count() == 1
    with django_assert_max_num_queries(6):
        caller.get(HISTORY)


def test_streams_that_share_a_reading_tell_each_reader_their_own(
    alice: User, bob: User, job: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(streams, "LOOK_SECONDS", 60)
    taken: list[int] = []
    read = streams.read_snapshot
    monkeypatch.setattr(streams, "read_snapshot", lambda: taken.append(1) or read())

    async def listen() -> dict[str, str]:
        shared = streams.SharedStatus()
        readers = {"alice": alice, "bob": bob, "operator": None}
        return {name: (await shared.latest(reader))[1] for name, reader in readers.items()}

    told = async_to_sync(listen)()
    assert len(taken) == 1
    assert {name: "alices-label" in text for name, text in told.items()} == {
        "alice": True,
        "bob": False,
        "operator": True,
    }
    assert json.loads(told["bob"])["others"]["jobs"] == 1
