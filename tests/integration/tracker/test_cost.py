"""What a reading costs grows with live work only, and nothing new costs next to nothing."""

import json

import pytest
import redis

from proving.services.status import WHOLE_PARTITIONS
from proving.tracker.records import JobState
from proving.tracker.store import Store
from tests.benchmarks.tracker import populate
from tests.support.tracker import Driver


def calls(client: redis.Redis, work) -> dict[str, int]:
    """What the server is asked to do, apart from what a script does in itself."""
    client.config_resetstat()
    work()
    stats = client.info("commandstats")
    asked = ("cmdstat_get", "cmdstat_evalsha", "cmdstat_exec", "cmdstat_incr", "cmdstat_set")
    return {name: stats[name]["calls"] for name in asked if name in stats}


@pytest.fixture
def crowded(valkey) -> Store:
    store = Store(valkey, lease_seconds=600.0)
    populate(store, 60)
    return store


def test_an_unchanged_status_costs_one_get(valkey, crowded):
    assert calls(valkey, crowded.rev) == {"cmdstat_get": 1}


def test_a_reading_is_one_call_and_writes_nothing(valkey, crowded):
    crowded.snapshot()
    done = calls(valkey, lambda: crowded.snapshot(WHOLE_PARTITIONS))
    assert done["cmdstat_evalsha"] == 1
    assert not {"cmdstat_exec", "cmdstat_incr", "cmdstat_set"} & done.keys()


def test_the_document_stops_growing_with_partitions_that_wait(crowded):
    def size(store: Store) -> int:
        return len(json.dumps(store.snapshot(WHOLE_PARTITIONS).document()))

    before = size(crowded)
    driver = Driver(crowded)
    for number in range(40):
        driver.open(f"more-{number}", 100, submitted_at=5_000.0 + number)
    assert (size(crowded) - before) / 40 < 800, "bytes a job, whatever its partitions"
    shown = sum(len(job.partitions) for job in crowded.snapshot(WHOLE_PARTITIONS).jobs)
    assert shown <= WHOLE_PARTITIONS


def test_what_has_ended_leaves_nothing_behind(valkey, store, driver):
    driver.register()
    for round_ in range(3):
        driver.open(f"job-{round_}", 4)
        for index in range(4):
            driver.done(index, job=f"job-{round_}")
        store.assemble(f"job-{round_}")
        store.complete_job(f"job-{round_}", JobState.DONE)
        store.retire_job(f"job-{round_}")
    names = [key.decode() for key in valkey.scan_iter()]
    assert not [
        name for name in names if "job-" in name and ":worker:" not in name and ":recent:" not in name
    ]
    assert store.snapshot().document()["pipelines"] == []
    assert store.snapshot().document()["counters"]["total_completed"] == 3
