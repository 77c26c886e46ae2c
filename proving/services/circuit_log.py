"""What circuits log while their witnesses are computed: kept with the job, for its owner's eyes alone.

A circuit's log may tell of its inputs. It never goes to a log file, an error text or the admin.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from django.contrib.auth.models import User

from proving.models import CircuitLog, Job, Partition

MAX_LINES = 200
MAX_LINE = 500


@contextmanager
def kept(job_id: str, index: int, attempt: int) -> Iterator[Callable[[str], None]]:
    """Takes lines; what was taken is stored at the end, whatever the end is."""
    lines: list[str] = []

    def take(line: str) -> None:
        if len(lines) < MAX_LINES:
            lines.append(line[:MAX_LINE])

    try:
        yield take
    finally:
        if lines:
            store(job_id, index, attempt, lines)


def store(job_id: str, index: int, attempt: int, lines: list[str]) -> None:
    """Keep the lines of an attempt in place of an earlier one's."""
    partition = Partition.objects.filter(job_id=job_id, index=index).first()
    if partition is not None:
        told = {"attempt": attempt, "lines": lines}
        CircuitLog.objects.update_or_create(partition=partition, defaults=told)


def logs_of(job: Job, viewer: User) -> list[CircuitLog]:
    """The logs of a job's partitions; none for anybody but its owner."""
    if job.owner_id != viewer.pk:
        return []
    logs = CircuitLog.objects.filter(partition__job=job).select_related("partition")
    return list(logs.order_by("partition__index"))
