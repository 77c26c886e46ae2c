"""The race that the project was born from: a late finalizer must not make a proving worker look idle.

Every order of events here is fixed; nothing depends on timing.
"""

import pytest
import redis

from proving.tracker.outcomes import Finished, Reaped, Refusal, Refused
from proving.tracker.store import Store
from tests.support.blind_store import BlindStore
from tests.support.tracker import Driver

WORKER = "gpu0@host"


def assert_proving(store: Store, partition: int) -> None:
    snapshot = store.snapshot()
    (shown,) = snapshot.document()["gpu_workers"]
    assert (shown["state"], shown["current_job"], shown["current_partition"]) == ("proving", "job", partition)
    assert shown["busy_secs"] >= 0
    assert snapshot.violations == ()


def finalizer_finishes_last(store: Store) -> None:
    """The worker takes 0, hands off, takes 1; then the finalizer of 0 ends."""
    driver = Driver(store)
    driver.open(total=2)
    driver.register(WORKER)
    driver.synthesized(1)
    driver.handed_off(0)
    finalizer = driver.finalizing(0)
    driver.on_device(1)
    assert_proving(store, 1)
    assert store.finish(finalizer) == Finished(1, "running")
    assert_proving(store, 1)


def duplicate_hand_off_comes_late(store: Store) -> None:
    driver = Driver(store)
    driver.open(total=2)
    driver.register(WORKER)
    driver.synthesized(1)
    first = driver.handed_off(0)
    driver.on_device(1)
    assert store.hand_off(first) == Refused("hand_off", Refusal.ALREADY_DONE)
    assert_proving(store, 1)
    store.finish(driver.finalizing(0))
    assert store.hand_off(first) == Refused("hand_off", Refusal.ALREADY_DONE)
    assert_proving(store, 1)


def reaped_finalizer_finishes_late(store: Store) -> None:
    """The finalizer of 0 is taken for dead, another one does its work, and then the first comes back."""
    driver = Driver(store)
    driver.open(total=2)
    driver.register(WORKER)
    driver.synthesized(1)
    driver.handed_off(0)
    late = driver.finalizing(0)
    assert store.lose(late) == Reaped("job", 0, "finalizing", "finalizing", 2)
    driver.on_device(1)
    assert store.finish(late) == Refused("finish", Refusal.SUPERSEDED)
    assert_proving(store, 1)
    assert store.finish(driver.finalizing(0, attempt=2)) == Finished(1, "running")
    assert_proving(store, 1)


def same_worker_has_same_partition_again(store: Store) -> None:
    """Job and partition are equal, the assignment is not: comparing the pair would let the old call in."""
    driver = Driver(store)
    driver.open(total=1)
    driver.register(WORKER)
    old = driver.on_device(0)
    assert store.lose(old) == Reaped("job", 0, "gpu", "synth_done", 2)
    driver.on_device(0, attempt=2)
    assert store.hand_off(old) == Refused("hand_off", Refusal.SUPERSEDED)
    assert store.release(old) == Refused("release", Refusal.SUPERSEDED)
    assert store.fail(old, "late", retry=False) == Refused("fail", Refusal.SUPERSEDED)
    assert_proving(store, 0)


RACES = [
    finalizer_finishes_last,
    duplicate_hand_off_comes_late,
    reaped_finalizer_finishes_late,
    same_worker_has_same_partition_again,
]


@pytest.mark.parametrize("race", RACES, ids=lambda race: race.__name__)
def test_worker_is_shown_proving_throughout(race, store):
    race(store)


@pytest.mark.parametrize("race", RACES[:3], ids=lambda race: race.__name__)
def test_blind_store_is_found_out(race, valkey: redis.Redis):
    blind = BlindStore(valkey, lease_seconds=30.0)
    with pytest.raises(AssertionError, match="idle"):
        race(blind)
    assert not blind.snapshot().consistent


def test_late_calls_are_counted_by_operation(store):
    duplicate_hand_off_comes_late(store)
    counters = store.snapshot().document()["counters"]
    assert counters["stale_writes_total"] == 2
    assert counters["stale_writes"] == {"hand_off": 2}
