"""Submission: refused at the door, or rows, files and a message; the same request is the same job."""

import json
import re
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.utils import timezone
from pytest_django import DjangoCaptureOnCommitCallbacks, Settings
from redis.exceptions import ConnectionError as RedisConnectionError

from proving import spool
from proving.choices import CircuitState, InputForm, JobState, PartitionState, Priority
from proving.models import Circuit, Job, Partition
from proving.services import dispatch, submit
from proving.services.errors import ServiceError
from proving.services.submit import JobRequest, Submitted, submit_inputs, submit_witnesses
from tests.integration.conftest import CircuitFolder, Dispatched, as_upload

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("home")]

GOOD = {"a": "3", "b": 11}


@pytest.fixture
def committed(django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks) -> Callable[..., Submitted]:
    """Calls a service and runs what its commit triggers."""

    def call(service: Callable[..., Submitted], *arguments: Any) -> Submitted:
        with django_capture_on_commit_callbacks(execute=True):
            return service(*arguments)

    return call


def refusal(service: Callable[..., Any], *arguments: Any) -> ServiceError:
    with pytest.raises(ServiceError) as caught:
        service(*arguments)
    assert not Job.objects.exists()
    assert not spool.root().exists() or not list(spool.root().iterdir())
    return caught.value


def test_a_job_has_a_partition_an_input(
    alice: User, circuit: Circuit, committed: Callable[..., Submitted], dispatched: Dispatched
) -> None:
    big = 2**253 + 1
    done = committed(submit_inputs, alice, JobRequest(circuit), [GOOD, {"a": big, "b": "0x10"}])
    job = Job.objects.get()
    assert done.created
    assert dispatched.enqueued == [job.pk]
    assert re.fullmatch(r"groth16-[0-9A-HJKMNP-TV-Z]{26}", job.pk)
    assert (job.name, job.state, job.terminal, job.partition_count) == (job.pk, JobState.QUEUED, False, 2)
    assert (job.priority, job.input_form) == (Priority.NORMAL, InputForm.INPUT)
    states = Partition.objects.values_list("index", "state", "attempt")
    assert list(states) == [(0, PartitionState.PENDING, 1), (1, PartitionState.PENDING, 1)]
    assert json.loads(spool.read_input(job.pk, 1)) == {"a": big, "b": "0x10"}


def test_a_witness_file_is_a_partition(
    alice: User,
    circuit: Circuit,
    multiplier: CircuitFolder,
    committed: Callable[..., Submitted],
    dispatched: Dispatched,
) -> None:
    uploads = [as_upload(multiplier.wtns), as_upload(multiplier.wtns)]
    job = committed(submit_witnesses, alice, JobRequest(circuit), uploads).job
    assert (job.partition_count, job.input_form) == (2, InputForm.WITNESS)
    with spool.witness_upload(job.pk, 1) as kept:
        assert kept is not None
        assert kept.read_bytes() == multiplier.wtns.read_bytes()


@pytest.mark.parametrize(
    ("given", "place", "reason"),
    [
        ({"a": "3"}, "", "not all inputs"),
        ({}, "", "not all inputs"),
        ({"a": "3", "c": "4"}, "/c", "no input signal"),
        ({"a": ["1", "2"], "b": 1}, "/a", "2 values"),
        ({"a": None, "b": 1}, "/a", "null"),
        ({"a": True, "b": 1}, "/a", "boolean"),
        ({"a": "", "b": 1}, "/a", "empty"),
        ({"a": "three", "b": 1}, "/a", "decimal"),
        ({"a": "1" * 100, "b": 1}, "/a", "modulus"),
        ({"a[0]": "1", "b": 1}, "/a/0", "whole arrays"),
        ([], "", "object"),
        ("a", "", "object"),
    ],
)
def test_a_bad_input_is_refused_by_its_place(
    alice: User, circuit: Circuit, given: Any, place: str, reason: str
) -> None:
    error = refusal(submit_inputs, alice, JobRequest(circuit), [GOOD, given])
    assert error.code == "bad_input"
    assert error.faults[0].pointer == f"/inputs/1{place}"
    assert reason in error.faults[0].detail


def test_every_bad_signal_is_named(alice: User, circuit: Circuit) -> None:
    error = refusal(submit_inputs, alice, JobRequest(circuit), [{"a": "x", "b": None}])
    assert [fault.pointer for fault in error.faults] == ["/inputs/0/a", "/inputs/0/b"]


def test_a_secret_is_not_repeated(alice: User, circuit: Circuit) -> None:
    error = refusal(submit_inputs, alice, JobRequest(circuit), [{"a": "hunter2", "b": "1"}])
    assert "hunter2" not in str(error) + str(error.faults)


def test_inputs_need_a_generator(alice: User, circuit: Circuit) -> None:
    circuit.witness_generator = None
    assert refusal(submit_inputs, alice, JobRequest(circuit), [GOOD]).code == "no_witness_generator"


@pytest.mark.parametrize("content", [b"", b"wtns", b"\1" + bytes(31)])
def test_a_file_that_is_no_witness_is_refused(
    alice: User, circuit: Circuit, home: Path, content: bytes
) -> None:
    (home / "bad.wtns").write_bytes(content)
    error = refusal(submit_witnesses, alice, JobRequest(circuit), [as_upload(home / "bad.wtns")])
    assert (error.code, error.faults[0].pointer) == ("bad_witness", "/witness/0")


@pytest.mark.parametrize(("other", "reason"), [("arrays", "values"), ("multiplier_bls12381", "curve")])
def test_a_witness_of_another_circuit_is_refused(
    alice: User, circuit: Circuit, circuit_folder: Callable[[str], CircuitFolder], other: str, reason: str
) -> None:
    upload = as_upload(circuit_folder(other).wtns)
    error = refusal(submit_witnesses, alice, JobRequest(circuit), [upload])
    assert error.code == "bad_witness"
    assert reason in error.detail


@pytest.mark.parametrize("request_id", ["", ".", "..", ".hidden", "a b", "a/b", "ü", "x" * 129, "a~b", "a\n"])
def test_a_request_id_is_plain(alice: User, circuit: Circuit, request_id: str) -> None:
    error = refusal(submit_inputs, alice, JobRequest(circuit, request_id=request_id), [GOOD])
    assert error.code == "bad_request_id"


def test_a_job_has_between_one_and_the_limit_of_partitions(
    alice: User, circuit: Circuit, settings: Settings
) -> None:
    settings.CUZKWEB_MAX_PARTITIONS = 2
    assert refusal(submit_inputs, alice, JobRequest(circuit), []).code == "no_partitions"
    assert refusal(submit_inputs, alice, JobRequest(circuit), [GOOD] * 3).code == "too_many_partitions"


def test_a_deadline_lies_ahead(alice: User, circuit: Circuit) -> None:
    past = timezone.now() - timedelta(seconds=1)
    error = refusal(submit_inputs, alice, JobRequest(circuit, deadline=past), [GOOD])
    assert error.code == "deadline_passed"


def test_a_quarantined_circuit_takes_no_jobs(alice: User, circuit: Circuit) -> None:
    circuit.state = CircuitState.QUARANTINED
    assert refusal(submit_inputs, alice, JobRequest(circuit), [GOOD]).code == "circuit_quarantined"


def test_a_request_id_becomes_the_id(
    alice: User, circuit: Circuit, committed: Callable[..., Submitted], dispatched: Dispatched
) -> None:
    request = JobRequest(circuit, request_id="ps-snap-1000-1-4711")
    assert committed(submit_inputs, alice, request, [GOOD]).job.pk == "ps-snap-1000-1-4711"


def test_the_same_request_again_is_the_same_job(
    alice: User, circuit: Circuit, committed: Callable[..., Submitted], dispatched: Dispatched
) -> None:
    request = JobRequest(circuit, request_id="mine", label="x")
    first = committed(submit_inputs, alice, request, [GOOD])
    again = committed(submit_inputs, alice, request, [GOOD])
    assert (again.created, again.job.pk) == (False, first.job.pk)
    assert Job.objects.count() == 1
    assert dispatched.enqueued == ["mine"]


@pytest.mark.parametrize(
    "other",
    [
        ({}, [GOOD, GOOD]),
        ({}, [{"a": "4", "b": 11}]),
        ({"label": "y"}, [GOOD]),
        ({"priority": Priority.LOW}, [GOOD]),
    ],
)
def test_another_request_under_the_same_id_is_a_conflict(
    alice: User,
    circuit: Circuit,
    committed: Callable[..., Submitted],
    dispatched: Dispatched,
    other: tuple[dict[str, Any], list[Any]],
) -> None:
    options, inputs = other
    committed(submit_inputs, alice, JobRequest(circuit, request_id="mine"), [GOOD])
    with pytest.raises(ServiceError) as caught:
        committed(submit_inputs, alice, JobRequest(circuit, request_id="mine", **options), inputs)
    assert (caught.value.code, caught.value.refusal) == ("request_id_taken", "conflict")
    assert json.loads(spool.read_input("mine", 0)) == GOOD
    assert dispatched.enqueued == ["mine"]


def test_two_owners_may_use_the_same_name(
    alice: User, bob: User, circuit: Circuit, committed: Callable[..., Submitted], dispatched: Dispatched
) -> None:
    request = JobRequest(circuit, request_id="mine")
    first = committed(submit_inputs, alice, request, [GOOD]).job
    second = committed(submit_inputs, bob, request, [{"a": "4", "b": 11}]).job
    assert (first.name, second.name) == ("mine", "mine")
    assert first.pk == "mine"
    assert second.pk.startswith("mine~")
    assert json.loads(spool.read_input(first.pk, 0)) == GOOD
    assert json.loads(spool.read_input(second.pk, 0)) == {"a": "4", "b": 11}


def test_when_the_spool_is_full_nothing_stays(
    alice: User, circuit: Circuit, monkeypatch: pytest.MonkeyPatch, dispatched: Dispatched
) -> None:
    def store(job_id: str, index: int, content: bytes) -> None:
        if index == 1:
            raise OSError(28, "No space left on device")
        real(job_id, index, content)

    real = spool.store_input
    monkeypatch.setattr(submit.spool, "store_input", store)
    with pytest.raises(OSError, match="No space"):
        submit_inputs(alice, JobRequest(circuit), [GOOD, GOOD])
    assert not Job.objects.exists()
    assert not Partition.objects.exists()
    assert list(spool.root().iterdir()) == []
    assert dispatched.enqueued == []


def test_a_job_stays_when_the_live_side_is_away(
    alice: User,
    circuit: Circuit,
    committed: Callable[..., Submitted],
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    def away(job: Job) -> None:
        raise RedisConnectionError("no server")

    monkeypatch.setattr(dispatch, "enqueue_job", away)
    job = committed(submit_inputs, alice, JobRequest(circuit), [GOOD]).job
    assert Job.objects.get(pk=job.pk).state == JobState.QUEUED
    assert "will be told later (no server)" in caplog.text


def test_what_is_kept_of_a_request_tells_nothing_of_its_inputs(
    alice: User,
    circuit: Circuit,
    committed: Callable[..., Submitted],
    dispatched: Dispatched,
    settings: Settings,
) -> None:
    first = committed(submit_inputs, alice, JobRequest(circuit), [GOOD]).job.request_digest
    settings.SECRET_KEY = "another"
    second = committed(submit_inputs, alice, JobRequest(circuit), [GOOD]).job.request_digest
    assert first != second
