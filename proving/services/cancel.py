"""Ending a job before its time."""

from __future__ import annotations

from django.db import transaction

from proving.choices import JobState
from proving.models import Job
from proving.services import dispatch
from proving.services.errors import conflict
from proving.services.live_calls import tell_after_commit

STOPPABLE = (JobState.QUEUED, JobState.RUNNING)


def cancel_job(job: Job, reason: str = "cancelled by its owner") -> Job:
    """Ask a job to end; it is `cancelling` until every partition has stopped. Asking again changes nothing.

    ServiceError when the job had already ended.
    """
    with transaction.atomic():
        asked = Job.objects.filter(pk=job.pk, state__in=STOPPABLE).update(
            state=JobState.CANCELLING, error_code="cancelled", error_detail=reason
        )
        if asked:
            tell_after_commit(job.pk, lambda: dispatch.cancel_live(job.pk, reason))
    job.refresh_from_db()
    if job.state in {JobState.DONE, JobState.FAILED}:
        raise conflict("already_ended", f"the job has already ended: it is {job.state}")
    return job
