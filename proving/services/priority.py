"""Changing how urgent a job is while it waits or runs."""

from __future__ import annotations

import logging

from django.db import transaction

from proving.choices import JobState, Priority
from proving.models import Job
from proving.services import dispatch
from proving.services.errors import conflict
from proving.services.live_calls import tell_after_commit

MOVABLE = (JobState.QUEUED, JobState.RUNNING)
log = logging.getLogger(__name__)


def change_priority(job: Job, priority: Priority, by: str = "its owner") -> Job:
    """Let what waits of a job stand elsewhere in the lines, at once; what is being worked on goes on.

    ServiceError when the job has ended or is being cancelled.
    """
    before = job.priority
    with transaction.atomic():
        moved = Job.objects.filter(pk=job.pk, state__in=MOVABLE).update(priority=priority)
        if moved:
            tell_after_commit(job.pk, lambda: dispatch.reprioritize_live(job.pk))
    job.refresh_from_db()
    if not moved:
        raise conflict("not_movable", f"the job's priority changes no more: it is {job.state}")
    if before != priority:
        log.info("job %s: priority %s, was %s, by %s", job.pk, priority.label, Priority(before).label, by)
    return job
