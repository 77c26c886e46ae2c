"""The live state as this process reaches it: one connection pool, one store."""

from functools import cache

from django.conf import settings
from redis import Redis

from proving.tracker.store import Store


def connect() -> Redis:
    """A client of the server that holds live state and messages."""
    client: Redis = Redis.from_url(
        settings.REDIS_URL, socket_timeout=10, socket_connect_timeout=5, health_check_interval=25
    )
    return client


@cache
def redis() -> Redis:
    """The process's own client."""
    return connect()


def clock() -> float:
    """The server's clock: seconds since 1970."""
    return store().ledger.reader.now()


@cache
def store() -> Store:
    """The only writer of live state, set up from the settings."""
    return Store(
        redis(),
        settings.CUZKWEB_DEPLOYMENT,
        lease_seconds=settings.CUZKWEB_LEASE_SECONDS,
        host_budget_bytes=settings.CUZKWEB_HOST_BUDGET_BYTES,
        synthesis_slots=settings.CUZKWEB_SYNTHESIS_SLOTS,
    )
