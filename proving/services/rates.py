"""How often somebody may ask: counts of the last minute, shared by all web processes."""

from __future__ import annotations

import time
from functools import cache

from django.conf import settings
from redis import Redis
from redis.backoff import NoBackoff
from redis.exceptions import RedisError
from redis.retry import Retry

WINDOW_SECONDS = 60
PAUSE_AFTER_FAULT = 5.0
"""Seconds for which nothing is counted after the server of the counts was away: requests go through."""


def turn(bucket: str, limit: int, now: float | None = None) -> float | None:
    """Count one request in a bucket. None when it may go on, else the seconds after which another may.

    The count of the last minute is estimated from this window and its share of the one before.
    """
    server = _server(settings.REDIS_URL)
    now = time.time() if now is None else now
    window, passed = divmod(now, WINDOW_SECONDS)
    prefix = f"{{cuzk:{settings.CUZKWEB_DEPLOYMENT}}}:rate:{bucket}"
    present = f"{prefix}:{int(window)}"
    with server.pipeline(transaction=True) as pipe:
        pipe.incr(present)
        pipe.expire(present, 2 * WINDOW_SECONDS)
        pipe.get(f"{prefix}:{int(window) - 1}")
        count, _, before = pipe.execute()
    if count + int(before or 0) * (1 - passed / WINDOW_SECONDS) <= limit:
        return None
    server.decr(present)
    return WINDOW_SECONDS - passed


class Counter:
    """Counts while the server is there; a limit must not be what takes the service down."""

    away_until = 0.0

    @classmethod
    def turn(cls, bucket: str, limit: int) -> float | None:
        """As `turn`; None without counting while the server is away, or where there is no limit (0)."""
        if not limit or time.monotonic() < cls.away_until:
            return None
        try:
            return turn(bucket, limit)
        except RedisError:
            cls.away_until = time.monotonic() + PAUSE_AFTER_FAULT
            return None


@cache
def _server(url: str) -> Redis:
    client: Redis = Redis.from_url(
        url, socket_timeout=1, socket_connect_timeout=0.5, retry=Retry(NoBackoff(), 0)
    )
    return client
