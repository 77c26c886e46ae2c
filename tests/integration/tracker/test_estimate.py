"""When a job will be done: from what such work took so far, and from what lies before it."""

from datetime import datetime

import pytest

from proving.tracker.keys import Keys
from proving.tracker.records import Phase
from proving.tracker.store import Store
from tests.support.tracker import Driver, device, job_spec

PACE = {Phase.SYNTHESIZING: 2.0, Phase.GPU: 10.0, Phase.FINALIZING: 1.0}


@pytest.fixture
def known(valkey) -> Store:
    """A store that has seen a hundred partitions of the circuit, each as long as `PACE` says."""
    store = Store(valkey, synthesis_slots=2)
    for phase, seconds in PACE.items():
        valkey.hset(Keys("main").pace, f"circuit:{phase}:count", 100)
        valkey.hset(Keys("main").pace, f"circuit:{phase}:seconds", 100 * seconds)
    return store


def seconds_left(store: Store) -> dict[str, float | None]:
    document = store.snapshot().document()
    now = datetime.fromisoformat(document["generated_at"])
    return {
        job["job_id"]: job["eta_at"] and (datetime.fromisoformat(job["eta_at"]) - now).total_seconds()
        for job in document["pipelines"]
    }


def test_nobody_knows_before_anything_of_the_circuit_was_proved(store, driver):
    driver.register()
    driver.open(total=2)
    assert seconds_left(store) == {"job": None}
    driver.done(0)
    assert seconds_left(store)["job"] == pytest.approx(0, abs=2)
    driver.done(1)
    store.assemble("job")
    assert seconds_left(store) == {"job": None}


def test_one_device_proves_one_after_the_other(known):
    known.register_worker(device())
    known.open_job(job_spec("first", 3, submitted_at=1.0))
    known.open_job(job_spec("second", 1, submitted_at=2.0))
    left = seconds_left(known)
    assert left["first"] == pytest.approx(3 * 10 + 1, abs=1)
    assert left["second"] == pytest.approx(4 * 10 + 1, abs=1)


def test_more_devices_make_it_sooner_and_more_urgent_jobs_later(known):
    known.register_worker(device("gpu0@host"))
    known.register_worker(device("gpu1@host"))
    known.open_job(job_spec("job", 4))
    assert seconds_left(known)["job"] == pytest.approx(2 * 10 + 1, abs=1)
    known.open_job(job_spec("urgent", 2, priority=4))
    left = seconds_left(known)
    assert left["job"] == pytest.approx(3 * 10 + 1, abs=1)
    assert left["urgent"] == pytest.approx(12 + 1, abs=1), "synthesis comes first where devices are idle"


def test_nobody_knows_without_a_device(known):
    known.open_job(job_spec("job", 1))
    document = known.snapshot().document()
    assert document["pipelines"][0]["eta_at"] is None
    Driver(known).synthesized(0)
    waiting = known.snapshot().document()["pipelines"][0]["waiting_for"]
    assert waiting == {"resource": "device", "host": None, "needs_bytes": None, "free_bytes": None}


def test_a_device_that_is_too_small_is_named(known):
    known.register_worker(device(memory_bytes=100))
    known.open_job(job_spec("job", 1, device_bytes=101))
    Driver(known).synthesized(0)
    waiting = known.snapshot().document()["pipelines"][0]["waiting_for"]
    assert waiting == {
        "resource": "device_memory",
        "host": "host/host",
        "needs_bytes": 101,
        "free_bytes": 100,
    }


def test_how_long_phases_take_is_learnt(store, driver):
    driver.register()
    driver.open(total=2)
    driver.done(0)
    driver.done(1)
    pace = store.snapshot().pace
    assert {name for name in pace if name.endswith("count")} == {f"circuit:{phase}:count" for phase in PACE}
    assert all(value == 2 for name, value in pace.items() if name.endswith("count"))
    assert all(0 <= value < 60 for name, value in pace.items() if name.endswith("seconds"))
