"""The durable record of what the tracker decided: guarded updates, so that a late writer changes no row.

A row is only ever changed by the attempt that it tells of, and never once it is terminal.
"""

from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import F, QuerySet
from django.utils import timezone

from proving.choices import (
    TERMINAL_JOB_STATES,
    TERMINAL_PARTITION_STATES,
    AttemptOutcome,
    JobState,
    PartitionState,
)
from proving.models import Job, Partition, PartitionAttempt, Proof
from proving.services.tallies import count_attempt
from proving.services.webhooks import announce_end
from proving.tracker.records import Assignment

TIMES = (
    "queued_at",
    "synthesis_started_at",
    "synthesis_ended_at",
    "device_started_at",
    "device_ended_at",
    "finalize_started_at",
    "finalize_ended_at",
)
DEVICE_TIMES = TIMES[3:]
COPIED = ("worker", "device", "error_code", "error_detail", *TIMES)


def synthesis_started(assignment: Assignment) -> None:
    """pending -> synthesizing; the job runs from its first partition on."""
    now = timezone.now()
    queued = Job.objects.filter(pk=assignment.job, state=JobState.QUEUED)
    queued.update(state=JobState.RUNNING, started_at=now)
    _begin(assignment, state=PartitionState.SYNTHESIZING, worker=assignment.worker, synthesis_started_at=now)


def synthesis_ended(assignment: Assignment) -> None:
    """synthesizing -> synth_done."""
    _live(assignment, PartitionState.SYNTHESIZING).update(
        state=PartitionState.SYNTH_DONE, synthesis_ended_at=timezone.now()
    )


def device_started(assignment: Assignment, device: str) -> None:
    """synth_done -> gpu."""
    now = timezone.now()
    _begin(
        assignment, state=PartitionState.GPU, worker=assignment.worker, device=device, device_started_at=now
    )


def device_ended(assignment: Assignment) -> None:
    """gpu -> finalizing."""
    _live(assignment, PartitionState.GPU).update(
        state=PartitionState.FINALIZING, device_ended_at=timezone.now()
    )


def finalize_started(assignment: Assignment) -> None:
    """A finalizer has taken the partition."""
    _begin(assignment, state=PartitionState.FINALIZING, finalize_started_at=timezone.now())


def proved(assignment: Assignment, proof: Any, public: list[str], *, fault: str = "") -> bool:
    """finalizing -> done, with its proof, in one transaction. False where something else came first.

    `fault` tells of a device whose sums failed the proof's check before the host made good ones.
    """
    now = timezone.now()
    with transaction.atomic():
        rows = _live(assignment, PartitionState.FINALIZING)
        if not rows.update(state=PartitionState.DONE, finalize_ended_at=now):
            return False
        partition = _row(assignment.job, assignment.partition).get()
        _keep_attempt(partition, AttemptOutcome.DONE, now, "device_fault" if fault else "", fault)
        Proof.objects.create(
            job_id=partition.job_id,
            partition=partition,
            index=partition.index,
            proof=proof,
            public=public,
            device="host" if fault else partition.device,
            verified_at=now,
        )
    return True


def is_proved(job_id: str, index: int) -> bool:
    """Whether the partition's proof is stored."""
    return Proof.objects.filter(job_id=job_id, index=index).exists()


def partition_failed(job_id: str, index: int, code: str, detail: str) -> None:
    """A partition has failed for good. What failed first is the job's error too."""
    now = timezone.now()
    with transaction.atomic():
        rows = _row(job_id, index).exclude(state__in=TERMINAL_PARTITION_STATES)
        if not rows.update(state=PartitionState.FAILED, error_code=code, error_detail=detail):
            return
        _keep_attempt(_row(job_id, index).get(), AttemptOutcome.FAILED, now, code, detail)
        _open_job(job_id).filter(error_code="").update(
            error_code=code, error_detail=f"partition {index}: {detail}", error_partition=index
        )


def attempt_ended(
    job_id: str,
    index: int,
    next_attempt: int,
    *,
    state: PartitionState,
    outcome: AttemptOutcome,
    error: str = "",
) -> None:
    """An attempt is over and the partition waits in `state` under the next one."""
    now = timezone.now()
    with transaction.atomic():
        partition = _row(job_id, index).filter(attempt__lt=next_attempt).first()
        if partition is None or partition.terminal:
            return
        _keep_attempt(partition, outcome, now, "", error)
        emptied = DEVICE_TIMES if state == PartitionState.SYNTH_DONE else TIMES[1:]
        fresh: dict[str, datetime | None] = dict.fromkeys(emptied)
        _row(job_id, index).filter(attempt=partition.attempt).update(
            state=state,
            attempt=next_attempt,
            max_attempts=F("max_attempts") + int(outcome == AttemptOutcome.RELEASED),
            worker="",
            device="",
            **fresh,
        )


def job_ended(job_id: str, state: JobState) -> bool:
    """A job has ended: what of it had not is cancelled. False where it had ended before."""
    with transaction.atomic():
        if not _open_job(job_id).update(state=state, finished_at=timezone.now()):
            return False
        Partition.objects.filter(job_id=job_id).exclude(state__in=TERMINAL_PARTITION_STATES).update(
            state=PartitionState.CANCELLED
        )
        announce_end(job_id)
    return True


def job_failing(job_id: str, code: str = "", detail: str = "") -> None:
    """A job is being stopped: partitions that wait are cancelled now, those that run when they let go.

    The reason given counts where none was recorded before.
    """
    if code:
        _open_job(job_id).filter(error_code="").update(error_code=code, error_detail=detail)
    waiting = (PartitionState.PENDING, PartitionState.SYNTH_DONE)
    Partition.objects.filter(job_id=job_id, state__in=waiting).update(state=PartitionState.CANCELLED)
    stoppable = (JobState.QUEUED, JobState.RUNNING)
    Job.objects.filter(pk=job_id, state__in=stoppable).update(state=JobState.CANCELLING)


def _open_job(job_id: str) -> QuerySet[Job]:
    return Job.objects.filter(pk=job_id).exclude(state__in=TERMINAL_JOB_STATES)


def _row(job_id: str, index: int) -> QuerySet[Partition]:
    return Partition.objects.filter(job_id=job_id, index=index)


def _begin(assignment: Assignment, *, state: PartitionState, **columns: Any) -> None:
    """Note that this attempt has begun a phase. A row that still tells of an earlier attempt catches up."""
    if _live(assignment).update(state=state, **columns):
        return
    attempt_ended(
        assignment.job,
        assignment.partition,
        assignment.attempt,
        state=PartitionState.SYNTH_DONE,
        outcome=AttemptOutcome.LOST,
    )
    _live(assignment).update(state=state, **columns)


def _live(assignment: Assignment, state: PartitionState | None = None) -> QuerySet[Partition]:
    """The partition's row while it tells of this attempt (and this state) and is not terminal."""
    rows = _row(assignment.job, assignment.partition).filter(attempt=assignment.attempt)
    return rows.filter(state=state) if state else rows.exclude(state__in=TERMINAL_PARTITION_STATES)


def _keep_attempt(
    partition: Partition, outcome: AttemptOutcome, now: datetime, code: str, detail: str
) -> None:
    told = {name: getattr(partition, name) for name in COPIED}
    told |= {"error_code": code, "error_detail": detail, "outcome": outcome, "ended_at": now}
    _, made = PartitionAttempt.objects.get_or_create(
        partition=partition, attempt=partition.attempt, defaults=told
    )
    if made:
        times = {name: told[name] for name in TIMES}
        transaction.on_commit(lambda: count_attempt(outcome, times), robust=True)
