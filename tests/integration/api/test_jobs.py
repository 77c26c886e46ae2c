"""Jobs over HTTP, up to the seam with the live side."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries, Settings

from proving import spool
from proving.choices import JobState, PartitionState
from proving.models import Circuit, Job, Partition, Proof
from tests.integration.conftest import Caller, CircuitFolder, Dispatched, as_upload

pytestmark = pytest.mark.django_db

JOBS = "/api/v1/jobs"
GOOD = {"a": "3", "b": 11}


@pytest.fixture
def submit(caller: Caller, circuit: Circuit, dispatched: Dispatched) -> Callable[..., Any]:
    def post(*inputs: Any, **options: Any) -> Any:
        return caller.post(JOBS, {"circuit": circuit.pk, "inputs": list(inputs) or [GOOD], **options})

    return post


def finish(job_id: str, *indexes: int) -> None:
    """What the finalizers would have stored."""
    for partition in Partition.objects.filter(job_id=job_id, index__in=indexes):
        partition.state = PartitionState.DONE
        partition.save()
        Proof.objects.create(
            job_id=job_id,
            partition=partition,
            index=partition.index,
            proof={"pi_a": [str(partition.index)]},
            public=["33"],
            device="host",
            verified_at=timezone.now(),
        )


def test_a_submission_is_accepted_at_once(submit: Callable[..., Any], dispatched: Dispatched) -> None:
    answer = submit(GOOD, GOOD, label="two of them", priority="high")
    document = answer.json()
    assert answer.status_code == 202
    assert answer["Location"] == document["links"]["self"] == f"{JOBS}/{document['id']}"
    assert answer["Retry-After"] == "1"
    assert dispatched.enqueued == [document["id"]]
    assert (document["state"], document["terminal"]) == ("queued", False)
    assert (document["priority"], document["label"]) == ("high", "two of them")
    assert document["progress"] == {"done": 0, "total": 2}
    assert [partition["state"] for partition in document["partitions"]] == ["pending", "pending"]
    assert document["error"] is None


def test_a_circuit_may_be_named(caller: Caller, circuit: Circuit, dispatched: Dispatched) -> None:
    answer = caller.post(JOBS, {"circuit": "multiplier", "inputs": [GOOD]})
    assert (answer.status_code, answer.json()["circuit"]) == (202, circuit.pk)


def test_integers_arrive_exactly(submit: Callable[..., Any]) -> None:
    name = submit({"a": 500000000000007004, "b": 2**253 + 1}).json()["id"]
    assert json.loads(spool.read_input(name, 0)) == {"a": 500000000000007004, "b": 2**253 + 1}


def test_witness_files_are_accepted(
    caller: Caller, circuit: Circuit, multiplier: CircuitFolder, dispatched: Dispatched
) -> None:
    fields = {
        "circuit": circuit.pk,
        "request_id": "w",
        "priority": "low",
        "witness": [as_upload(multiplier.wtns), as_upload(multiplier.wtns)],
    }
    answer = caller.upload(JOBS, fields)
    assert answer.status_code == 202
    assert (answer.json()["id"], answer.json()["progress"]["total"]) == ("w", 2)
    assert dispatched.enqueued == ["w"]


def test_a_bad_witness_file_is_pointed_at(
    caller: Caller, circuit: Circuit, multiplier: CircuitFolder
) -> None:
    fields = {"circuit": circuit.pk, "witness": [as_upload(multiplier.wtns), as_upload(multiplier.r1cs)]}
    answer = caller.upload(JOBS, fields)
    assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (422, "#/witness/1")


def test_a_bad_input_is_pointed_at(submit: Callable[..., Any]) -> None:
    answer = submit(GOOD, {"a": 1.5, "b": [1, 2]})
    assert answer.status_code == 422
    assert [error["pointer"] for error in answer.json()["errors"]] == ["#/inputs/1/a"]
    assert not Job.objects.exists()


@pytest.mark.parametrize(
    ("body", "pointer", "code"),
    [
        ({"circuit": None}, "#/circuit", "null"),
        ({"circuit": 1.5}, "#/circuit", "invalid"),
        ({"inputs": {"a": 1}}, "#/inputs", "not_a_list"),
        ({"inputs": None}, "#/inputs", "null"),
        ({"priority": "urgent"}, "#/priority", "invalid_choice"),
        ({"priority": 4}, "#/priority", "invalid_choice"),
        ({"label": ["x"]}, "#/label", "invalid"),
        ({"label": "x" * 201}, "#/label", "max_length"),
        ({"deadline": "soon"}, "#/deadline", "invalid"),
        ({"requestid": "x"}, "#/requestid", "unknown_field"),
    ],
)
def test_a_bad_field_is_pointed_at(
    submit: Callable[..., Any], body: dict[str, Any], pointer: str, code: str
) -> None:
    answer = submit(**body)
    assert answer.status_code == 400
    assert [(error["pointer"], error["code"]) for error in answer.json()["errors"]] == [(pointer, code)]


@pytest.mark.parametrize(
    "body", [b"", b"{", b'{"a": 1, "a": 2}', b"[]", b"null", b'"text"', b"\xff", b"[" * 10**5]
)
def test_a_body_that_is_no_object_is_a_problem(caller: Caller, body: bytes) -> None:
    answer = caller.client.post(JOBS, body, content_type="application/json")
    assert answer.status_code == 400
    assert answer["Content-Type"] == "application/problem+json"


def test_a_large_body_is_taken_and_a_too_large_one_is_413(
    submit: Callable[..., Any], settings: Settings
) -> None:
    assert submit(*[GOOD] * 20, label="x").status_code == 202
    many = [{"a": "1" * 60, "b": "2"}] * 40_000
    assert submit(*many).json()["code"] == "too_many_partitions"
    settings.CUZKWEB_MAX_JSON_BYTES = 1000
    answer = submit(*many)
    assert (answer.status_code, answer.json()["code"]) == (413, "too_large")


def test_a_request_id_is_the_id_and_unique(submit: Callable[..., Any]) -> None:
    first = submit(request_id="ps-snap-1000-1-4711")
    assert (first.status_code, first.json()["id"]) == (202, "ps-snap-1000-1-4711")
    again = submit(request_id="ps-snap-1000-1-4711")
    assert (again.status_code, again["Location"]) == (200, first["Location"])
    other = submit(GOOD, GOOD, request_id="ps-snap-1000-1-4711")
    assert (other.status_code, other.json()["code"]) == (409, "request_id_taken")
    assert other.json()["errors"][0]["pointer"] == "#/request_id"


def test_two_owners_use_one_request_id(
    submit: Callable[..., Any],
    calling: Callable[[User], Caller],
    bob: User,
    circuit: Circuit,
    multiplier: CircuitFolder,
) -> None:
    submit(request_id="same", label="alice's")
    stranger = calling(bob)
    stranger.upload("/api/v1/circuits", multiplier.upload())
    answer = stranger.post(
        JOBS, {"circuit": "multiplier", "inputs": [GOOD], "request_id": "same", "label": "bob's"}
    )
    assert (answer.status_code, answer.json()["id"]) == (202, "same")
    assert stranger.get(answer["Location"]).json()["label"] == "bob's"
    assert [job["id"] for job in stranger.get(JOBS).json()["results"]] == ["same"]


def test_another_owners_things_are_not_there(
    submit: Callable[..., Any],
    calling: Callable[[User], Caller],
    bob: User,
    circuit: Circuit,
) -> None:
    submit(request_id="hers")
    stranger = calling(bob)
    for answer in (
        stranger.get(f"{JOBS}/hers"),
        stranger.get(f"{JOBS}/hers/proof"),
        stranger.post(f"{JOBS}/hers/cancel"),
        stranger.post(JOBS, {"circuit": circuit.pk, "inputs": [GOOD]}),
    ):
        assert (answer.status_code, answer.json()["code"]) == (404, "not_found")
    assert stranger.get(JOBS).json()["results"] == []
    assert Job.objects.get().state == JobState.QUEUED


def test_staff_see_every_job(
    submit: Callable[..., Any], calling: Callable[[User], Caller], staff: User
) -> None:
    submit(request_id="hers")
    operator = calling(staff)
    assert operator.get(f"{JOBS}/hers").status_code == 200
    assert operator.post(f"{JOBS}/hers/cancel").status_code == 202


def test_a_cancel_is_accepted(submit: Callable[..., Any], caller: Caller, dispatched: Dispatched) -> None:
    links = submit().json()["links"]
    answer = caller.post(links["cancel"])
    assert (answer.status_code, answer.json()["state"]) == (202, "cancelling")
    assert len(dispatched.cancelled) == 1
    Job.objects.update(state=JobState.DONE)
    late = caller.post(links["cancel"])
    assert (late.status_code, late.json()["code"]) == (409, "already_ended")


def test_proofs_come_in_order_once_the_job_is_done(submit: Callable[..., Any], caller: Caller) -> None:
    document = submit(GOOD, GOOD, GOOD).json()
    path = document["links"]["proof"]
    early = caller.get(path)
    assert (early.status_code, early.json()["code"]) == (409, "job_queued")
    finish(document["id"], 2, 0)
    Job.objects.update(state=JobState.RUNNING)
    assert caller.get(path).json()["code"] == "job_running"
    finish(document["id"], 1)
    Job.objects.update(state=JobState.DONE)
    found = caller.get(path).json()
    assert (found["job"], found["circuit"]) == (document["id"], document["circuit"])
    assert [(proof["index"], proof["proof"]) for proof in found["proofs"]] == [
        (index, {"pi_a": [str(index)]}) for index in range(3)
    ]
    assert [proof["index"] for proof in caller.get(path, partition=1).json()["proofs"]] == [1]
    assert caller.get(path, partition=3).status_code == 404
    assert caller.get(path, partition="x").status_code == 400


@pytest.mark.parametrize("state", [JobState.FAILED, JobState.CANCELLED, JobState.CANCELLING])
def test_a_job_that_is_not_done_gives_no_proof(
    submit: Callable[..., Any], caller: Caller, state: JobState
) -> None:
    document = submit(GOOD, GOOD).json()
    finish(document["id"], 0)
    Job.objects.update(state=state)
    answer = caller.get(document["links"]["proof"])
    assert (answer.status_code, answer.json()["code"]) == (409, f"job_{state}")


def test_a_failure_is_told(submit: Callable[..., Any], caller: Caller) -> None:
    path = submit(GOOD, GOOD).json()["links"]["self"]
    detail = "assertion failed: line 11"
    Partition.objects.filter(index=1).update(
        state=PartitionState.FAILED, error_code="assertion_failed", error_detail=detail
    )
    Job.objects.update(
        state=JobState.FAILED, error_code="assertion_failed", error_detail=detail, error_partition=1
    )
    document = caller.get(path).json()
    assert document["terminal"] is True
    assert document["error"] == {"code": "assertion_failed", "detail": detail, "partition": 1}
    assert document["partitions"][1]["error"] == {"code": "assertion_failed", "detail": detail}
    assert document["partitions"][0]["error"] is None


def test_a_wait_ends_with_the_job(submit: Callable[..., Any], caller: Caller) -> None:
    path = submit().json()["links"]["self"]
    assert caller.get(path, wait="0.05")["Retry-After"] == "1"
    Job.objects.update(state=JobState.DONE)
    ended = caller.get(path, wait=60)
    assert ended.json()["terminal"] is True
    assert "Retry-After" not in ended


@pytest.mark.parametrize("wait", ["-1", "61", "nan", "inf", "x", "1e400"])
def test_a_wait_has_bounds(submit: Callable[..., Any], caller: Caller, wait: str) -> None:
    answer = caller.get(submit().json()["links"]["self"], wait=wait)
    assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (400, "#/wait")


def test_a_list_is_narrowed_and_costs_the_same_whatever_its_length(
    submit: Callable[..., Any],
    caller: Caller,
    django_assert_max_num_queries: DjangoAssertNumQueries,
) -> None:
    names = [submit(GOOD, GOOD).json()["id"] for _ in range(5)]
    finish(names[0], 0, 1)
    Job.objects.filter(pk=names[0]).update(state=JobState.DONE)
    with django_assert_max_num_queries(4):
        page = caller.get(JOBS, limit=3).json()
    assert [job["id"] for job in page["results"]] == names[:1:-1]
    rest = caller.client.get(page["next"]).json()
    assert [job["id"] for job in rest["results"]] == names[1::-1]
    done = caller.get(JOBS, state="done").json()["results"]
    assert [(job["id"], job["progress"]) for job in done] == [(names[0], {"done": 2, "total": 2})]
    assert caller.get(JOBS, circuit="multiplier", state="failed").json()["results"] == []
    assert caller.get(JOBS, state="finished").status_code == 400
    assert caller.get(JOBS, circuit="none").status_code == 404
    assert caller.get(JOBS, cursor="nonsense").status_code == 404


def test_the_states_of_the_document_are_a_closed_set(submit: Callable[..., Any], caller: Caller) -> None:
    path = submit().json()["links"]["self"]
    for state in JobState:
        Job.objects.update(state=state)
        document = caller.get(path).json()
        assert document["terminal"] is (state in {JobState.DONE, JobState.FAILED, JobState.CANCELLED})
