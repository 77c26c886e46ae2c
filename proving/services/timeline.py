"""What befell each partition of a job, from durable rows alone: each attempt, when, by whom, how it ended."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from proving.models import Job, Partition, PartitionAttempt


@dataclass(frozen=True, slots=True)
class Attempt:
    """One attempt at a partition; `outcome` and `ended_at` are None while it lasts or waits."""

    attempt: int
    worker: str
    device: str
    outcome: str | None
    error: dict[str, str] | None
    queued_at: datetime | None
    synthesis_started_at: datetime | None
    synthesis_ended_at: datetime | None
    device_started_at: datetime | None
    device_ended_at: datetime | None
    finalize_started_at: datetime | None
    finalize_ended_at: datetime | None
    ended_at: datetime | None


@dataclass(frozen=True, slots=True)
class PartitionTimeline:
    """A partition where it stands now, with all its attempts, the first first."""

    index: int
    state: str
    max_attempts: int
    attempts: list[Attempt]


def timeline_of(job: Job) -> list[PartitionTimeline]:
    """The partitions of a job in order."""
    rows = job.partitions.order_by("index").prefetch_related("attempts")
    return [PartitionTimeline(row.index, row.state, row.max_attempts, list(_attempts(row))) for row in rows]


def _attempts(row: Partition) -> list[Attempt]:
    ended = sorted(row.attempts.all(), key=lambda past: past.attempt)
    found = [_attempt(past, past.outcome, past.ended_at) for past in ended]
    if all(past.attempt != row.attempt for past in ended):
        found.append(_attempt(row, row.state if row.terminal else None, None))
    return found


def _attempt(told: Partition | PartitionAttempt, outcome: str | None, ended_at: datetime | None) -> Attempt:
    code, detail = told.error_code, told.error_detail
    return Attempt(
        attempt=told.attempt,
        worker=told.worker,
        device=told.device,
        outcome=outcome,
        error={"code": code, "detail": detail} if code or detail else None,
        queued_at=told.queued_at,
        synthesis_started_at=told.synthesis_started_at,
        synthesis_ended_at=told.synthesis_ended_at,
        device_started_at=told.device_started_at,
        device_ended_at=told.device_ended_at,
        finalize_started_at=told.finalize_started_at,
        finalize_ended_at=told.finalize_ended_at,
        ended_at=ended_at,
    )
