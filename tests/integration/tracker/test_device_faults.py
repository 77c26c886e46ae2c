"""Faults are counted against a device, and its slots are one device."""

import pytest

from proving.tracker.faults import LONGEST_REASON, DeviceFaults
from proving.tracker.records import DeviceMemory, ResidentKey
from proving.tracker.store import Store
from tests.support.tracker import Driver, device


@pytest.fixture
def store(valkey) -> Store:
    return Store(valkey)


def row(store: Store, name: str) -> dict:
    workers = store.snapshot().document()["gpu_workers"]
    return next(worker for worker in workers if worker["name"] == name)


def test_a_device_without_faults_says_so(store: Store) -> None:
    Driver(store).register("gpu0@host")
    assert row(store, "gpu0@host")["faults"] == {"count": 0, "last_at": None, "last_reason": None}
    assert store.snapshot().document()["counters"]["device_faults"] == {}


def test_a_fault_is_the_devices_and_outlives_its_worker(store: Store) -> None:
    driver = Driver(store)
    driver.register("gpu0@host")
    driver.register("gpu1@other")
    before = store.rev()

    store.mark_fault("host/host", "first")
    store.mark_fault("host/host", "x" * 1000)
    driver.register("gpu0@host", pid=2)

    assert store.rev() > before + 1, "a reader sees it"
    told = row(store, "gpu0@host")["faults"]
    assert (told["count"], told["last_reason"]) == (2, "x" * LONGEST_REASON)
    assert told["last_at"] is not None
    assert row(store, "gpu1@other")["faults"]["count"] == 0
    assert store.snapshot().document()["counters"]["device_faults"] == {"host/host": 2}


def test_the_moment_is_the_servers(store: Store) -> None:
    before = store.ledger.reader.now()
    store.mark_fault("host/host", "wrong")
    snapshot = store.snapshot()
    found = snapshot.device_faults["host/host"]
    assert isinstance(found, DeviceFaults)
    assert found.last_at is not None
    assert before <= found.last_at <= snapshot.generated_at


def test_what_two_slots_of_a_process_hold_is_counted_once(store: Store) -> None:
    for name in ("gpu0@host", "gpu0.2@host"):
        store.register_worker(device(name, incarnation="one"))
        store.worker_seen(name, DeviceMemory(1_000, 700), [ResidentKey("circuit", 600)], utilisation=0.5)
    document = store.snapshot().document()
    assert [line["bytes"] for line in document["allocations"]["srs"]] == [600]
    assert [worker["memory"]["used_bytes"] for worker in document["gpu_workers"]] == [700, 700]
    assert [worker["utilisation"] for worker in document["gpu_workers"]] == [0.5, 0.5]
