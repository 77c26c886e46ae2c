"""Whether the service takes more work: past a limit a submission is refused instead of waiting for ever."""

from __future__ import annotations

from django.conf import settings
from django.contrib.auth.models import User
from django.db.models import F, QuerySet, Sum

from proving.choices import TERMINAL_PARTITION_STATES
from proving.models import Circuit, Partition
from proving.services.errors import Refusal, ServiceError

RETRY_AFTER_SECONDS = 30


def check_room(owner: User, circuit: Circuit, partitions: int) -> None:
    """ServiceError `queue_full` where so many more partitions would be too many, in all or of one owner, and
    `spool_quota` where the owner's unfinished ones could take more of the spool than one owner may."""
    unfinished = Partition.objects.exclude(state__in=TERMINAL_PARTITION_STATES)
    _check(unfinished.count() + partitions, settings.CUZKWEB_MAX_UNFINISHED_PARTITIONS, "the service")
    own = settings.CUZKWEB_MAX_UNFINISHED_PER_OWNER
    if own:
        _check(unfinished.filter(job__owner=owner).count() + partitions, own, "one owner")
    quota = settings.CUZKWEB_MAX_SPOOL_BYTES_PER_OWNER
    if quota:
        would_be = _spool_bytes(unfinished.filter(job__owner=owner)) + partitions * partition_bytes(circuit)
        _check_quota(would_be, quota)


def partition_bytes(circuit: Circuit) -> int:
    """What one partition of a circuit may come to take in the spool: what its caller sent, witness, a and b.

    Inputs are counted like the witness that they become.
    """
    return 32 * (2 * circuit.variable_count + 2 * circuit.domain_size)


def _spool_bytes(partitions: QuerySet[Partition]) -> int:
    each = 64 * (F("job__circuit__variable_count") + F("job__circuit__domain_size"))
    return int(partitions.aggregate(total=Sum(each))["total"] or 0)


def _check_quota(would_be: int, quota: int) -> None:
    if would_be > quota:
        detail = f"your unfinished jobs may take {quota} bytes of the spool, and this would make {would_be}"
        raise ServiceError(Refusal.UNAVAILABLE, "spool_quota", detail, retry_after=RETRY_AFTER_SECONDS)


def _check(would_be: int, limit: int, whose: str) -> None:
    if limit and would_be > limit:
        detail = f"{whose} may have {limit} unfinished partitions, and this would make {would_be}"
        raise ServiceError(Refusal.UNAVAILABLE, "queue_full", detail, retry_after=RETRY_AFTER_SECONDS)
