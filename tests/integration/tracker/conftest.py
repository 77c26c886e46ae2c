"""Stores on the real server."""

import pytest
import redis

from proving.tracker.store import Store
from tests.support.tracker import Driver


@pytest.fixture
def store(valkey: redis.Redis) -> Store:
    return Store(valkey, lease_seconds=30.0, synthesis_slots=2)


@pytest.fixture
def hasty(valkey: redis.Redis) -> Store:
    """The same live state, written by somebody whose leases and patience end as soon as they begin."""
    return Store(
        valkey,
        lease_seconds=0.0,
        assembly_seconds=0.0,
        synthesis_slots=2,
        keep_finished_seconds=0.0,
        forget_after_seconds=0.0,
    )


@pytest.fixture
def driver(store: Store) -> Driver:
    return Driver(store)
