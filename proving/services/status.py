"""The live state as one document, or a typed refusal while the server that holds it is away."""

from __future__ import annotations

from redis.exceptions import RedisError

from proving.services import live
from proving.services.errors import Refusal, ServiceError
from proving.tracker.snapshot import Snapshot


def read_snapshot() -> Snapshot:
    """One atomic reading of all live state."""
    try:
        return live.store().snapshot()
    except RedisError as error:
        raise ServiceError(
            Refusal.UNAVAILABLE,
            "live_state_unavailable",
            "the server that holds the live state does not answer",
        ) from error
