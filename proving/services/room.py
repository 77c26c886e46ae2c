"""Whether the service takes more work: past a limit a submission is refused instead of waiting for ever."""

from __future__ import annotations

from django.conf import settings
from django.contrib.auth.models import User

from proving.choices import TERMINAL_PARTITION_STATES
from proving.models import Partition
from proving.services.errors import Refusal, ServiceError

RETRY_AFTER_SECONDS = 30


def check_room(owner: User, partitions: int) -> None:
    """ServiceError `queue_full` where so many more partitions would be too many, in all or of one owner."""
    unfinished = Partition.objects.exclude(state__in=TERMINAL_PARTITION_STATES)
    _check(unfinished.count() + partitions, settings.CUZKWEB_MAX_UNFINISHED_PARTITIONS, "the service")
    own = settings.CUZKWEB_MAX_UNFINISHED_PER_OWNER
    if own:
        _check(unfinished.filter(job__owner=owner).count() + partitions, own, "one owner")


def _check(would_be: int, limit: int, whose: str) -> None:
    if limit and would_be > limit:
        detail = f"{whose} may have {limit} unfinished partitions, and this would make {would_be}"
        raise ServiceError(Refusal.UNAVAILABLE, "queue_full", detail, retry_after=RETRY_AFTER_SECONDS)
