"""Cancelling and trying again."""

from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from pytest_django import DjangoCaptureOnCommitCallbacks

from proving import spool
from proving.choices import JobState
from proving.models import Circuit, Job
from proving.services.cancel import cancel_job
from proving.services.errors import ServiceError
from proving.services.retry import retry_job
from proving.services.submit import JobRequest, submit_inputs, submit_witnesses
from tests.integration.conftest import CircuitFolder, Dispatched, as_upload

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("home")]

GOOD = {"a": "3", "b": "11"}


@pytest.fixture
def job(alice: User, circuit: Circuit, dispatched: Dispatched) -> Job:
    return submit_inputs(alice, JobRequest(circuit, request_id="one", label="x"), [GOOD, GOOD]).job


@pytest.fixture
def cancelled(django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks) -> Callable[[Job], Job]:
    def cancel(job: Job) -> Job:
        with django_capture_on_commit_callbacks(execute=True):
            return cancel_job(job, "no longer wanted")

    return cancel


def put(job: Job, state: JobState) -> Job:
    Job.objects.filter(pk=job.pk).update(state=state)
    job.refresh_from_db()
    return job


@pytest.mark.parametrize("state", [JobState.QUEUED, JobState.RUNNING])
def test_a_live_job_is_asked_to_end(
    job: Job, cancelled: Callable[[Job], Job], dispatched: Dispatched, state: JobState
) -> None:
    found = cancelled(put(job, state))
    assert (found.state, found.error_code) == (JobState.CANCELLING, "cancelled")
    assert dispatched.cancelled == [("one", "no longer wanted")]


def test_asking_twice_changes_nothing(
    job: Job, cancelled: Callable[[Job], Job], dispatched: Dispatched
) -> None:
    cancelled(job)
    assert cancelled(job).state == JobState.CANCELLING
    assert cancelled(put(job, JobState.CANCELLED)).state == JobState.CANCELLED
    assert len(dispatched.cancelled) == 1


@pytest.mark.parametrize("state", [JobState.DONE, JobState.FAILED])
def test_what_has_ended_stays_as_it_ended(
    job: Job, cancelled: Callable[[Job], Job], dispatched: Dispatched, state: JobState
) -> None:
    put(job, state)
    with pytest.raises(ServiceError) as caught:
        cancelled(job)
    assert caught.value.code == "already_ended"
    assert Job.objects.get().state == state
    assert dispatched.cancelled == []


def test_a_stale_reader_does_not_undo_an_end(job: Job, cancelled: Callable[[Job], Job]) -> None:
    Job.objects.filter(pk=job.pk).update(state=JobState.DONE)
    assert job.state == JobState.QUEUED
    with pytest.raises(ServiceError):
        cancelled(job)
    assert Job.objects.get().state == JobState.DONE


@pytest.mark.parametrize("state", [JobState.FAILED, JobState.CANCELLED])
def test_trying_again_is_another_job(job: Job, state: JobState) -> None:
    again = retry_job(put(job, state)).job
    assert again.pk != job.pk
    assert (again.owner, again.label, again.partition_count, again.state) == (
        job.owner,
        "x",
        2,
        JobState.QUEUED,
    )
    assert spool.read_input(again.pk, 1) == spool.read_input(job.pk, 1)
    assert Job.objects.get(pk=job.pk).state == state


def test_witnesses_are_tried_again(
    alice: User, circuit: Circuit, multiplier: CircuitFolder, dispatched: Dispatched
) -> None:
    job = submit_witnesses(alice, JobRequest(circuit), [as_upload(multiplier.wtns)]).job
    again = retry_job(put(job, JobState.FAILED)).job
    with spool.witness_upload(again.pk, 0) as kept:
        assert kept is not None
        assert kept.read_bytes() == multiplier.wtns.read_bytes()


@pytest.mark.parametrize("state", [JobState.QUEUED, JobState.RUNNING, JobState.CANCELLING, JobState.DONE])
def test_only_what_did_not_work_is_tried_again(job: Job, state: JobState) -> None:
    with pytest.raises(ServiceError) as caught:
        retry_job(put(job, state))
    assert caught.value.code == "not_retriable"


def test_without_its_inputs_a_job_is_not_tried_again(job: Job) -> None:
    spool.clear_job(job.pk)
    with pytest.raises(ServiceError) as caught:
        retry_job(put(job, JobState.FAILED))
    assert caught.value.code == "inputs_deleted"
