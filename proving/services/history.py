"""What has ended lately: finished jobs, and attempts that failed or were lost, each with its reason."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.contrib.auth.models import User
from django.db.models import Count, Q

from proving.choices import AttemptOutcome, PartitionState
from proving.models import Job, Partition, PartitionAttempt

BAD_ENDS = (AttemptOutcome.FAILED, AttemptOutcome.LOST)


@dataclass(frozen=True, slots=True)
class FinishedJob:
    """A job that has ended; `error` is None where all went well, `started_at` where nobody worked on it."""

    job_id: str
    label: str
    circuit_id: str
    circuit_name: str
    proof_kind: str
    priority: int
    state: str
    total_partitions: int
    partitions_done: int
    submitted_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    error: dict[str, Any] | None


@dataclass(frozen=True, slots=True)
class BadAttempt:
    """An attempt at a partition that failed or was lost, whatever became of the partition afterwards."""

    job_id: str
    label: str
    circuit_id: str
    circuit_name: str
    partition: int
    attempt: int
    outcome: str
    worker: str
    device: str
    code: str
    detail: str
    ended_at: datetime


def finished_jobs(
    owner: User | None, limit: int, states: Collection[str] = (), text: str = ""
) -> list[FinishedJob]:
    """The last jobs to end, the newest end first; of one owner, or (None) of all.

    `states` (none: any) and `text`, somewhere in the id, the label or the circuit's name, narrow them.
    """
    rows = Job.objects.filter(finished_at__isnull=False, **_of(owner, "owner"))
    if states:
        rows = rows.filter(state__in=states)
    if text:
        named = Q(id__icontains=text) | Q(label__icontains=text) | Q(circuit__name__icontains=text)
        rows = rows.filter(named)
    found = list(rows.select_related("circuit").order_by("-finished_at", "-id")[:limit])
    done = _partitions_done([job.pk for job in found])
    return [_finished(job, done.get(job.pk, 0)) for job in found]


def bad_attempts(owner: User | None, limit: int) -> list[BadAttempt]:
    """The last attempts to fail or to be lost, the newest first; of one owner, or (None) of all."""
    rows = PartitionAttempt.objects.filter(outcome__in=BAD_ENDS, **_of(owner, "partition__job__owner"))
    found = rows.select_related("partition__job__circuit").order_by("-ended_at", "-id")
    return [_bad(row) for row in found[:limit]]


def _of(owner: User | None, path: str) -> dict[str, Any]:
    return {} if owner is None else {path: owner}


def _partitions_done(jobs: list[str]) -> dict[str, int]:
    rows = Partition.objects.filter(job__in=jobs, state=PartitionState.DONE)
    return dict(rows.order_by().values_list("job").annotate(Count("pk")))


def _finished(job: Job, done: int) -> FinishedJob:
    error = {"code": job.error_code, "detail": job.error_detail, "partition": job.error_partition}
    return FinishedJob(
        job_id=job.pk,
        label=job.label,
        circuit_id=job.circuit_id,
        circuit_name=job.circuit.name,
        proof_kind=job.proof_kind,
        priority=job.priority,
        state=job.state,
        total_partitions=job.partition_count,
        partitions_done=done,
        submitted_at=job.submitted_at,
        started_at=job.started_at,
        finished_at=job.finished_at,
        error=error if job.error_code else None,
    )


def _bad(row: PartitionAttempt) -> BadAttempt:
    partition = row.partition
    return BadAttempt(
        job_id=partition.job_id,
        label=partition.job.label,
        circuit_id=partition.job.circuit_id,
        circuit_name=partition.job.circuit.name,
        partition=partition.index,
        attempt=row.attempt,
        outcome=row.outcome,
        worker=row.worker,
        device=row.device,
        code=row.error_code,
        detail=row.error_detail,
        ended_at=row.ended_at,
    )
