"""Messages: what a worker is told to look at. They carry ids only; whether there is work, the tracker says."""

import logging
from collections.abc import Iterable

from celery import current_app

from proving.models import Job
from proving.services import live
from proving.tracker.store import JobSpec

logger = logging.getLogger(__name__)

MESSAGE_PRIORITIES = {1: 9, 2: 6, 3: 3, 4: 0}
"""low, normal, high, critical as the transport counts: 0 is served first."""


def enqueue_job(job: Job) -> None:
    """Open a stored job in the tracker and tell the synthesis workers. Doing it twice changes nothing."""
    live.store().open_job(specification(job))
    for index in range(job.partition_count):
        send("synthesize", job.id, index, 1, priority=job.priority)


def cancel_live(job_id: str, reason: str) -> None:
    """End a job's live partitions: waiting ones now, running ones when their worker hears of it."""
    live.store().cancel_job(job_id, reason)


def specification(job: Job) -> JobSpec:
    """A stored job as the tracker knows it."""
    raise NotImplementedError


def send(task: str, job_id: str, *place: int, priority: int) -> None:
    """Send one message; `place` is (index, attempt), or nothing for a message about the whole job."""
    current_app.send_task(task, args=(job_id, *place), priority=MESSAGE_PRIORITIES[priority])
