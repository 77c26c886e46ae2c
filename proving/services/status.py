"""The live state as one document, or a typed refusal while the server that holds it is away."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager

from redis.exceptions import RedisError

from proving.services import live
from proving.services.errors import Refusal, ServiceError
from proving.services.tallies import Tallies, read_tallies
from proving.tracker.snapshot import Snapshot

WHOLE_PARTITIONS = 512
"""Past so many partitions, jobs that only wait are shown as counts."""


def read_snapshot(limit: int = WHOLE_PARTITIONS, jobs: Collection[str] = ()) -> Snapshot:
    """One atomic reading of all live state; `jobs` are shown whole whatever the limit."""
    with _refusing():
        return live.store().snapshot(limit, jobs)


def read_version() -> int:
    """The version that a snapshot taken now would have."""
    with _refusing():
        return live.store().rev()


def read_counts() -> Tallies:
    """What has been counted since the deployment began."""
    with _refusing():
        return read_tallies()


@contextmanager
def _refusing() -> Iterator[None]:
    try:
        yield
    except RedisError as error:
        raise ServiceError(
            Refusal.UNAVAILABLE,
            "live_state_unavailable",
            "the server that holds the live state does not answer",
        ) from error
