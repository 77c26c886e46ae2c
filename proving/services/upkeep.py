"""What has to happen by itself: lost work is taken up again, lost messages are sent again, old files go."""

import logging
from typing import Any

from celery import current_app
from django.conf import settings

from proving import spool
from proving.choices import TERMINAL_JOB_STATES
from proving.models import Job
from proving.services import conclude, dispatch, live, reconcile
from proving.tracker.records import Phase

logger = logging.getLogger(__name__)

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
        late = [found for found in live.store().waiting(phase) if live.clock() - found.since > patience]
        if late and queue_length(name) == 0:
            logger.warning("%d partitions in %s have no message: sent again", len(late), phase)
            for found in late:
                dispatch.send_next(found.job_id, found.index, found.attempt, phase)
            sent += len(late)
    return sent


def mend_jobs() -> int:
    """Bring database and live state together where a step between them was lost. Returns how many times."""
    return len(reconcile.reconcile(thorough=False))


def sweep_spool() -> int:
    """Delete what no live job owns any more. Returns how many jobs' files went."""

    def keep(names: list[str]) -> set[str]:
        live_ids = Job.objects.exclude(state__in=TERMINAL_JOB_STATES).values_list("pk", flat=True)
        return {spool.folder_name(job_id) for job_id in live_ids} & set(names)

    return spool.sweep(keep, max(settings.CUZKWEB_KEEP_SPOOL_SECONDS, settings.CUZKWEB_KEEP_INPUTS_SECONDS))


def queue_length(name: str) -> int:
    """Messages of all priorities that nobody has taken out of a queue."""
    with current_app.connection_for_read() as connection:
        channel: Any = connection.default_channel
        return int(channel.queue_declare(queue=name).message_count)
