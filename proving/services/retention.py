"""What is kept for a period goes after it, the oldest first, in batches that hold no lock for long."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path

from django.conf import settings
from django.contrib.sessions.models import Session
from django.utils import timezone

from proving import spool
from proving.choices import TERMINAL_JOB_STATES
from proving.models import Job, PartitionAttempt

JOBS_A_BATCH, ROWS_A_BATCH = 50, 1000
BATCHES_A_PASS = 20
"""What is left after so many is left to the next pass: the periodic process has other duties."""


def forget_jobs() -> int:
    """Delete jobs that ended longer ago than CUZKWEB_KEEP_PROOFS_SECONDS, with all that hangs on them.

    Returns how many went; a period of 0 keeps them for ever.
    """
    return _in_batches(_forget_some_jobs, settings.CUZKWEB_KEEP_PROOFS_SECONDS, JOBS_A_BATCH)


def forget_timelines() -> int:
    """Delete attempts that ended longer ago than CUZKWEB_KEEP_TIMELINES_SECONDS. Returns how many went."""
    return _in_batches(_forget_some_attempts, settings.CUZKWEB_KEEP_TIMELINES_SECONDS, ROWS_A_BATCH)


def forget_sessions() -> int:
    """Delete logins that have expired. Returns how many went."""
    expired = Session.objects.filter(expire_date__lt=timezone.now()).order_by("expire_date")
    doomed = list(expired.values_list("pk", flat=True)[:ROWS_A_BATCH])
    Session.objects.filter(pk__in=doomed).delete()
    return len(doomed)


def sweep_uploads() -> int:
    """Delete uploads untouched for CUZKWEB_KEEP_SPOOL_SECONDS: those of a web process that was killed.

    Returns how many went.
    """
    horizon = time.time() - settings.CUZKWEB_KEEP_SPOOL_SECONDS
    gone = 0
    for path in Path(settings.FILE_UPLOAD_TEMP_DIR).iterdir():
        try:
            if path.is_file() and path.stat().st_mtime < horizon:
                path.unlink()
                gone += 1
        except FileNotFoundError:
            continue
    return gone


def _in_batches(forget: Callable[[datetime], int], period: int, full: int) -> int:
    if not period:
        return 0
    horizon, gone = timezone.now() - timedelta(seconds=period), 0
    for _ in range(BATCHES_A_PASS):
        found = forget(horizon)
        gone += found
        if found < full:
            break
    return gone


def _forget_some_jobs(horizon: datetime) -> int:
    """A job is submitted before it ends: the index of the submissions finds those that may be old enough."""
    old = Job.objects.filter(state__in=TERMINAL_JOB_STATES, submitted_at__lt=horizon, finished_at__lt=horizon)
    doomed = list(old.order_by("submitted_at").values_list("pk", flat=True)[:JOBS_A_BATCH])
    for job_id in doomed:
        spool.clear_job(job_id)
    Job.objects.filter(pk__in=doomed).delete()
    return len(doomed)


def _forget_some_attempts(horizon: datetime) -> int:
    """Attempts are written down as they end: the oldest are those with the lowest numbers."""
    oldest = PartitionAttempt.objects.order_by("pk").values_list("pk", "ended_at")[:ROWS_A_BATCH]
    doomed = [number for number, ended_at in oldest if ended_at < horizon]
    PartitionAttempt.objects.filter(pk__in=doomed).delete()
    return len(doomed)
