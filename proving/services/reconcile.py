"""Bringing database and live state back together: after a loss of either's last steps, or of all live state.

The database is what counts. A job that is open there and unknown to the live state is opened anew, from what
its rows say: what is proved stays proved, the rest waits again, and its messages are sent once. Whatever else
disagrees for longer than a moment is brought on by the same services that would have done it in time.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from functools import partial

from django.conf import settings
from django.utils import timezone

from proving.choices import TERMINAL_JOB_STATES, AttemptOutcome, PartitionState
from proving.choices import JobState as Durable
from proving.models import Job, Partition
from proving.services import conclude, device_faults, dispatch, live, record
from proving.services.status import read_snapshot
from proving.tracker.outcomes import Opened
from proving.tracker.records import JobRecord, JobState, PartitionStart, Phase

logger = logging.getLogger(__name__)

LOST = "the live state was lost"
PATIENCE_LEASES = 3
"""How many leases something may disagree before it is no longer taken for a step that is just being made."""


@dataclass(frozen=True, slots=True)
class Drift:
    """Something that database and live state do not agree on, and what brings them together."""

    what: str
    mend: Callable[[], object]


def reconcile(*, mend: bool = True, thorough: bool = True) -> list[str]:
    """Find all drift and, if told so, mend it. Returns what was found, in words.

    A `thorough` pass reads every record of the live state; else only what the status shows is looked at.
    """
    found = []
    for drift in [*_unknown_to_live(), *_unknown_to_database()]:
        logger.warning("%s", drift.what)
        if mend:
            drift.mend()
        found.append(drift.what)
    suspicious = thorough or not read_snapshot().consistent
    if mend:
        if read_snapshot().started_at is None:
            found += device_faults.restore()
        found += _repaired() if suspicious else []
        live.store().mark_started(again=False)
    elif suspicious:
        found += live.store().snapshot().violations
    return found


def _repaired() -> list[str]:
    repaired = live.store().repair()
    for found in repaired:
        logger.error("repaired: %s", found.what)
        if found.lost is not None:
            conclude.follow_up(found.lost)
    return [found.what for found in repaired]


def _unknown_to_live() -> Iterator[Drift]:
    """Jobs that are open in the database and elsewhere, or nowhere, in the live state."""
    rows = list(Job.objects.exclude(state__in=TERMINAL_JOB_STATES).select_related("circuit__proving_key"))
    known = live.store().jobs([job.pk for job in rows])
    for job in rows:
        if drift := _drift_of(job, known.get(job.pk)):
            yield drift


def _drift_of(job: Job, found: JobRecord | None) -> Drift | None:
    old = job.submitted_at < timezone.now() - timedelta(seconds=_patience())
    match job.state, found.state if found else None:
        case Durable.CANCELLING, None:
            ended = JobState.CANCELLED if job.error_code == "cancelled" else JobState.FAILED
            what = f"job {job.pk} was being stopped when the live state lost it"
            return Drift(what, lambda: conclude.conclude_if_ended(job.pk, ended))
        case _, None:
            what = f"job {job.pk} is unknown to the live state"
            return Drift(what, lambda: rebuild(job)) if old or _has_begun(job) else None
        case _, JobState.DONE | JobState.FAILED | JobState.CANCELLED as ended:
            what = f"job {job.pk} has ended as {ended}, and the database does not know"
            return Drift(what, lambda: conclude.conclude_if_ended(job.pk, ended)) if _is_old(found) else None
        case Durable.CANCELLING, JobState.RUNNING:
            what = f"job {job.pk} is to be stopped, and the live state does not know"
            return Drift(what, lambda: dispatch.cancel_live(job.pk, job.error_detail)) if old else None
        case _, JobState.RUNNING if found:
            return _drift_of_running(job, found)
    return None


def _drift_of_running(job: Job, found: JobRecord) -> Drift | None:
    if found.remaining == 0 and _waits_long(job):
        what = f"job {job.pk} is proved, and nobody assembles it"
        return Drift(what, lambda: dispatch.send_assemble(job.pk))
    if found.remaining and found.spec.priority != job.priority:
        what = f"job {job.pk} stands in line by an earlier priority"
        return Drift(what, lambda: dispatch.reprioritize_live(job.pk))
    return None


def _unknown_to_database() -> Iterator[Drift]:
    """Jobs that live although the database says that they have ended, or never heard of them."""
    known = live.store().jobs(live.store().job_ids())
    states = dict(Job.objects.filter(pk__in=known).values_list("pk", "state"))
    for job_id, found in known.items():
        state = states.get(job_id, "unknown")
        if not found.state.terminal and (state == "unknown" or state in TERMINAL_JOB_STATES):
            what = f"job {job_id} is {found.state}, and in the database it is {state}"
            yield Drift(what, partial(live.store().cancel_job, job_id, "the database does not want it"))


def rebuild(job: Job) -> bool:
    """Open a job in the live state from its rows, and send what has to be sent. False where somebody else was
    faster, or the job has ended meanwhile."""
    job.refresh_from_db()
    if job.terminal:
        return False
    rows = list(job.partitions.order_by("index"))
    opened = live.store().open_job(dispatch.specification(job), [_start(row) for row in rows])
    if not isinstance(opened, Opened):
        return False
    for row in rows:
        if row.state not in {PartitionState.PENDING, *_ENDED}:
            record.attempt_ended(
                job.pk,
                row.index,
                row.attempt + 1,
                state=PartitionState.PENDING,
                outcome=AttemptOutcome.RELEASED,
                error=LOST,
            )
    waiting = [(start.index, start.attempt) for start in map(_start, rows) if start.phase is Phase.PENDING]
    places = [(job.pk, index, attempt) for index, attempt in waiting]
    dispatch.send_all("synthesize", places, job.priority)
    if not waiting:
        dispatch.send_assemble(job.pk)
    return True


_ENDED = {PartitionState.DONE, PartitionState.FAILED, PartitionState.CANCELLED}


def _start(row: Partition) -> PartitionStart:
    if row.state in _ENDED:
        error = row.error_detail or None
        return PartitionStart(row.index, Phase(row.state), row.attempt, row.max_attempts, error)
    begun = row.state != PartitionState.PENDING
    return PartitionStart(row.index, Phase.PENDING, row.attempt + begun, row.max_attempts + begun)


def _has_begun(job: Job) -> bool:
    """Whether the live state knew the job once: what it does not know is lost, not just on its way."""
    return job.state != Durable.QUEUED


def _patience() -> float:
    return PATIENCE_LEASES * float(settings.CUZKWEB_LEASE_SECONDS)


def _is_old(found: JobRecord | None) -> bool:
    return bool(found and found.ended_at and live.clock() - found.ended_at >= _patience())


def _waits_long(job: Job) -> bool:
    last = job.partitions.order_by("-finalize_ended_at").values_list("finalize_ended_at", flat=True).first()
    return last is None or (timezone.now() - last).total_seconds() >= _patience()
