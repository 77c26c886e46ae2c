"""Waiting ends with the job or with the time, and asks gently."""

import pytest
from django.contrib.auth.models import User

from proving.choices import JobState
from proving.models import Circuit, Job
from proving.services.submit import JobRequest, submit_inputs
from proving.services.wait import wait_for_end
from tests.integration.conftest import Dispatched

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("home")]


@pytest.fixture
def job(alice: User, circuit: Circuit, dispatched: Dispatched) -> Job:
    return submit_inputs(alice, JobRequest(circuit), [{"a": 1, "b": 2}]).job


class Clock:
    """Time that passes only in sleep; something may happen at a moment of it."""

    def __init__(self) -> None:
        self.now = 0.0
        self.sleeps: list[float] = []
        self.event: tuple[float, JobState] | None = None

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds
        self.sleeps.append(seconds)
        if self.event and self.now >= self.event[0]:
            Job.objects.update(state=self.event[1])


def test_time_runs_out(job: Job) -> None:
    clock = Clock()
    found = wait_for_end(job, 10, clock=clock, sleep=clock.sleep)
    assert found.state == JobState.QUEUED
    assert clock.now == pytest.approx(10)
    assert len(clock.sleeps) < 30
    assert max(clock.sleeps) <= 0.5


@pytest.mark.parametrize("state", [JobState.DONE, JobState.FAILED, JobState.CANCELLED])
def test_an_end_is_seen_at_once(job: Job, state: JobState) -> None:
    clock = Clock()
    clock.event = (3.0, state)
    found = wait_for_end(job, 60, clock=clock, sleep=clock.sleep)
    assert found.state == state
    assert clock.now < 3.6


def test_no_wait_asks_nothing(job: Job) -> None:
    clock = Clock()
    wait_for_end(job, 0, clock=clock, sleep=clock.sleep)
    Job.objects.update(state=JobState.DONE)
    job.refresh_from_db()
    wait_for_end(job, 60, clock=clock, sleep=clock.sleep)
    assert clock.sleeps == []
