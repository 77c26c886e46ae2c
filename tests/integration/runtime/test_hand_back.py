"""A worker that is told to stop hands its work back: another takes it up, and no attempt is spent."""

import threading
from collections.abc import Callable

import pytest

from proving.choices import AttemptOutcome, JobState
from proving.models import Job, Partition, PartitionAttempt
from proving.services import fleet, live, pulse, station
from proving.services.stage import Report
from proving.tracker.outcomes import Claimed
from tests.integration.runtime.conftest import DEVICE, Line

Submit = Callable[..., Job]


@pytest.fixture
def leaving(monkeypatch: pytest.MonkeyPatch) -> threading.Event:
    """Set while the process is on its way out."""
    event = threading.Event()
    monkeypatch.setattr(pulse, "_leaving", event)
    return event


def test_restarts_without_end_fail_no_job(line: Line, submit: Submit, leaving: threading.Event) -> None:
    job = submit((3, 11))
    line.run_until("prove")
    pulse.hand_back()
    for _ in range(5):
        assert line.deliver() == Report.LET_GO
    leaving.clear()

    line.run()

    job.refresh_from_db()
    assert job.state == JobState.DONE
    partition = Partition.objects.get()
    assert (partition.attempt, partition.max_attempts) == (6, 8)
    outcomes = PartitionAttempt.objects.order_by("attempt").values_list("outcome", flat=True)
    assert list(outcomes) == [AttemptOutcome.RELEASED] * 5 + [AttemptOutcome.DONE]


def test_a_worker_that_leaves_gives_back_what_it_still_holds(line: Line, submit: Submit) -> None:
    job = submit((3, 11))
    line.run_until("prove")
    assert isinstance(live.store().take_device("gpu0@here"), Claimed)

    station.occupy(DEVICE)
    fleet.leave()
    fleet.join()
    line.run()

    job.refresh_from_db()
    assert job.state == JobState.DONE
    assert PartitionAttempt.objects.get(attempt=1).outcome == AttemptOutcome.RELEASED
    assert live.store().partition(job.pk, 0).max_attempts == 4
