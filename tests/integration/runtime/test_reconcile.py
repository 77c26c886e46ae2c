"""Database and live state come together again: after a loss of Redis, of a step, of an index."""

from collections.abc import Callable
from io import StringIO

import pytest
from django.core.management import call_command
from pytest_django import Settings

from proving.choices import AttemptOutcome, JobState, PartitionState
from proving.models import Job, Partition, PartitionAttempt, Proof
from proving.services import fleet, live, reconcile, record, station, upkeep
from proving.tracker.keys import member
from proving.tracker.outcomes import Claimed, Refused
from proving.tracker.records import Phase
from tests.integration.runtime.conftest import DEVICE, FINALIZE, SYNTHESIS, Line
from tests.support.tracker import job_spec

Submit = Callable[..., Job]


def lose_everything(line: Line) -> None:
    """Redis comes back empty: no live state, no messages. Workers notice at their next sign of life."""
    live.redis().flushall()
    line.waiting.clear()
    for place in (SYNTHESIS, FINALIZE, DEVICE):
        station.occupy(place)
        fleet._show_once()


def told(*arguments: str) -> list[str]:
    out = StringIO()
    call_command("reconcile", *arguments, stdout=out)
    return out.getvalue().splitlines()


def test_a_sound_system_has_nothing_to_do(line: Line, submit: Submit) -> None:
    assert told() == ["nothing to do"]
    submit((3, 11), (5, 7))
    line.run_until("finalize")
    assert told() == ["nothing to do"]
    line.run()
    assert told() == ["nothing to do"]


def test_a_job_is_rebuilt_from_an_empty_redis_and_ends_well(line: Line, submit: Submit) -> None:
    job = submit((3, 11), (5, 7), (2, 9))
    line.run_until("prove")
    line.deliver()
    line.waiting.insert(0, line.waiting.pop())
    line.deliver()
    station.occupy(DEVICE)
    on_device = live.store().take_device("gpu0@here")
    assert isinstance(on_device, Claimed)
    record.device_started(on_device.assignment, "host")
    proved = Partition.objects.get(state=PartitionState.DONE)
    lose_everything(line)

    assert upkeep.mend_jobs() == 1
    assert upkeep.mend_jobs() == 0, "once"

    late = live.store().hand_off(on_device.assignment)
    assert isinstance(late, Refused)
    assert len(line.waiting) == 2, "what is proved stays proved"
    line.run()
    job.refresh_from_db()
    assert job.state == JobState.DONE
    assert Proof.objects.filter(job=job).count() == 3
    assert PartitionAttempt.objects.filter(partition=proved).count() == 1
    again = Partition.objects.get(index=on_device.assignment.partition)
    assert (again.attempt, again.max_attempts) == (2, 4), "a loss of Redis takes no attempt from anybody"
    lost = PartitionAttempt.objects.get(partition=again, attempt=1)
    assert (lost.outcome, lost.error_detail) == (AttemptOutcome.RELEASED, reconcile.LOST)
    assert live.store().snapshot().consistent


def test_a_job_that_was_proved_is_only_assembled(line: Line, submit: Submit) -> None:
    job = submit((3, 11))
    line.run_until("assemble")
    lose_everything(line)

    assert told() == [f"mended: job {job.pk} is unknown to the live state"]

    assert [task for task, _ in line.waiting] == ["assemble"]
    line.run()
    job.refresh_from_db()
    assert job.state == JobState.DONE


@pytest.mark.parametrize(
    ("code", "ends"), [("cancelled", JobState.CANCELLED), ("assertion_failed", JobState.FAILED)]
)
def test_a_job_that_was_being_stopped_ends_as_it_would_have(
    line: Line, submit: Submit, code: str, ends: JobState
) -> None:
    job = submit((3, 11), (5, 7))
    record.job_failing(job.pk, code, "why")
    lose_everything(line)

    assert upkeep.mend_jobs() == 1

    job.refresh_from_db()
    assert (job.state, job.error_code) == (ends, code)


def test_a_dry_run_changes_nothing(line: Line, submit: Submit, settings: Settings) -> None:
    job = submit((3, 11))
    settings.CUZKWEB_LEASE_SECONDS = 0.0
    lose_everything(line)
    wrong = f"job {job.pk} is unknown to the live state"

    assert told("--dry-run") == [wrong]
    assert live.store().job(job.pk) is None
    assert told() == [f"mended: {wrong}"]
    assert live.store().job(job.pk) is not None


def test_a_job_that_the_database_does_not_know_is_dropped(line: Line, db: None) -> None:
    live.store().open_job(job_spec("stranger"))

    assert told() == ["mended: job stranger is running, and in the database it is unknown"]

    assert live.store().job("stranger").state == "cancelled"
    assert told() == ["nothing to do"]


def test_indexes_that_do_not_follow_the_records_are_made_anew(line: Line, submit: Submit) -> None:
    job = submit((3, 11), (5, 7), (2, 9))
    line.run_until("prove")
    line.deliver()
    keys, server = live.store().ledger.keys, live.redis()
    server.zrem(keys.waiting(Phase.SYNTH_DONE), *server.zrange(keys.waiting(Phase.SYNTH_DONE), 0, -1))
    server.zadd(keys.waiting(Phase.PENDING), {member(job.pk, 0): 1.0})
    server.hset(keys.tally(job.pk), "gpu", 7)
    server.hset(keys.held, "elsewhere", 5)
    assert not live.store().snapshot().consistent

    assert told() == [
        f"mended: the indexes of job {job.pk} did not follow its records",
        "mended: the sums of held bytes did not follow the records",
    ]

    assert live.store().snapshot().consistent
    assert told() == ["nothing to do"]
    line.run()
    job.refresh_from_db()
    assert job.state == JobState.DONE


def test_a_worker_and_a_partition_that_do_not_name_each_other_are_parted(line: Line, submit: Submit) -> None:
    job = submit((3, 11), (5, 7))
    line.run_until("prove")
    claim = live.store().take_device("gpu0@here")
    assert isinstance(claim, Claimed)
    keys, server = live.store().ledger.keys, live.redis()
    worker = server.get(keys.worker("gpu0@here"))
    server.set(keys.worker("gpu0@here"), worker.replace(b'"epoch":', b'"epoch":1', 1))
    assert not live.store().snapshot().consistent

    assert len(told()) == 2

    assert live.store().snapshot().consistent
    line.run()
    job.refresh_from_db()
    assert job.state == JobState.DONE
