"""What has to happen by itself: lost work is taken up again, lost messages are sent again, old files go."""

import logging
from datetime import timedelta
from typing import Any

from celery import current_app
from django.conf import settings
from django.utils import timezone

from proving import spool
from proving.choices import TERMINAL_JOB_STATES
from proving.choices import JobState as Durable
from proving.models import Job
from proving.services import conclude, dispatch, live
from proving.tracker.records import JobState, Phase

logger = logging.getLogger(__name__)

ABANDONED_AFTER = 3600.0
"""Seconds after which files in the spool that belong to no live job go."""

QUEUES = {Phase.PENDING: "synthesis", Phase.SYNTH_DONE: "gpu", Phase.FINALIZING: "finalize"}


def reap() -> int:
    """One pass over lost leases, deadlines and ended jobs. Returns how many things it found."""
    found = live.store().reap()
    for result in found:
        try:
            conclude.follow_up(result)
        except Exception:
            logger.exception("not followed up, left to the next pass: %s", result)
    return len(found)


def resend() -> int:
    """Send again for partitions that wait while their queue is empty: their messages were lost.

    A message that was not lost after all does no harm: the tracker refuses the second claim.
    """
    sent = 0
    for phase, name in QUEUES.items():
        patience = 3 * settings.CUZKWEB_LEASE_SECONDS
        late = [found for found in live.store().waiting(phase) if _now() - found.since > patience]
        if late and queue_length(name) == 0:
            logger.warning("%d partitions in %s have no message: sent again", len(late), phase)
            for found in late:
                dispatch.send_next(found.job_id, found.index, found.attempt, phase)
            sent += len(late)
    return sent


def mend_jobs() -> int:
    """Bring jobs on whose last step was lost between database and tracker. Returns how many it touched."""
    horizon = timezone.now() - timedelta(seconds=3 * settings.CUZKWEB_LEASE_SECONDS)
    rows = Job.objects.exclude(state__in=TERMINAL_JOB_STATES).filter(submitted_at__lt=horizon)
    return sum(_mend(job) for job in rows.select_related("circuit"))


def _mend(job: Job) -> bool:
    record = live.store().job(job.id)
    match job.state, record.state if record else None:
        case Durable.CANCELLING, None:
            conclude.conclude_if_ended(job.id, JobState.CANCELLED)
        case Durable.QUEUED, None:
            dispatch.enqueue_job(job)
        case _, JobState.DONE | JobState.FAILED | JobState.CANCELLED as ended:
            conclude.conclude_if_ended(job.id, ended)
        case Durable.CANCELLING, JobState.RUNNING:
            dispatch.cancel_live(job.id, job.error_detail)
        case _, JobState.RUNNING if record and record.remaining == 0:
            dispatch.send_assemble(job.id)
        case _:
            return False
    return True


def sweep_spool() -> int:
    """Delete what no live job owns any more. Returns how many jobs' files went."""

    def keep(names: list[str]) -> set[str]:
        live_ids = Job.objects.exclude(state__in=TERMINAL_JOB_STATES).values_list("pk", flat=True)
        return {spool.job_folder(job_id).name for job_id in live_ids} & set(names)

    return spool.sweep(keep, max(ABANDONED_AFTER, settings.CUZKWEB_KEEP_INPUTS_SECONDS))


def queue_length(name: str) -> int:
    """Messages of all priorities that nobody has taken out of a queue."""
    with current_app.connection_for_read() as connection:
        channel: Any = connection.default_channel
        return int(channel.queue_declare(queue=name).message_count)


def _now() -> float:
    seconds, micros = live.redis().time()
    return float(seconds) + micros / 1e6
