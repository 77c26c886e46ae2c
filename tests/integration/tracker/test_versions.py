"""The version of the snapshot: it grows when a reader would see a difference, and otherwise stands still."""

import pytest

from proving.tracker.records import DeviceMemory, ResidentKey
from proving.tracker.store import Store
from tests.support.tracker import Driver

LEASE = 1e9
"""So long that no test sees the turn of a period."""


@pytest.fixture
def calm(valkey) -> Store:
    store = Store(valkey, lease_seconds=LEASE)
    driver = Driver(store)
    driver.register()
    driver.open(total=2)
    driver.on_device(0)
    store.worker_seen("gpu0@host", DeviceMemory(100, 50), [ResidentKey("circuit", 50, 0.0)])
    return store


def grows(store: Store, change) -> bool:
    before = store.rev()
    change()
    return store.rev() > before


def seen(store: Store, used: int = 50, ago: float = 1.0) -> None:
    store.worker_seen("gpu0@host", DeviceMemory(100, used), [ResidentKey("circuit", 50, ago)])


def test_signs_of_life_alone_make_no_new_version(calm):
    held = calm.worker("gpu0@host").assignment
    before = calm.worker("gpu0@host").seen_at
    assert not grows(calm, lambda: calm.heartbeat(held))
    assert not grows(calm, lambda: seen(calm, ago=9.0))
    assert calm.worker("gpu0@host").seen_at > before, "and yet they are noted"
    assert calm.snapshot().document()["gpu_workers"][0]["last_seen_secs_ago"] < 60


def test_what_a_reader_sees_makes_one(calm):
    assert grows(calm, lambda: seen(calm, used=60))
    assert not grows(calm, lambda: seen(calm, used=60))
    assert grows(calm, lambda: calm.drain_worker("gpu0@host"))
    assert grows(calm, lambda: calm.cancel_job("job"))


def test_a_sign_of_life_is_shown_once_a_lease_period(valkey, calm):
    held = calm.worker("gpu0@host").assignment
    brief = Store(valkey, lease_seconds=0.001)
    assert grows(calm, lambda: brief.heartbeat(held))
    assert grows(calm, lambda: brief.worker_seen("gpu0@host"))


def test_silence_is_shown_too(valkey, calm):
    """A reader who only ever asks for what is new must learn that a worker has fallen silent."""
    brief = Store(valkey, lease_seconds=0.0, forget_after_seconds=9e9)
    calm.heartbeat(calm.worker("gpu0@host").assignment)
    assert not grows(calm, calm.reap)
    seen_at = calm.worker("gpu0@host").seen_at
    assert grows(calm, brief.reap)
    assert calm.worker("gpu0@host").seen_at == seen_at, "nobody has seen it by that"


def test_refused_claims_make_none_and_stale_writes_one(calm):
    held = calm.worker("gpu0@host").assignment
    assert not grows(calm, lambda: calm.take_device("gpu0@host"))
    calm.hand_off(held)
    assert grows(calm, lambda: calm.hand_off(held)), "the counter has moved"


def test_since_narrows_to_what_changed(calm):
    driver = Driver(calm)
    driver.open("other", 1)
    rev = calm.snapshot().rev
    assert calm.snapshot().document(since=rev)["pipelines"] == []
    driver.synthesizing(0, job="other")
    document = calm.snapshot().document(since=rev)
    assert [job["job_id"] for job in document["pipelines"]] == ["other"]
    assert sorted(document["order"]) == ["job", "other"]
    assert document["counters"]["queue_depth"] == 1
    calm.heartbeat(calm.worker("gpu0@host").assignment)
    assert calm.snapshot().document(since=document["rev"])["pipelines"] == []


def test_jobs_that_only_wait_are_counts_past_a_limit(valkey, calm):
    driver = Driver(calm)
    for number in range(5):
        driver.open(f"waits-{number}", 4, submitted_at=2_000.0 + number)
    driver.synthesized(0, job="waits-4")
    snapshot = calm.snapshot(limit=8)
    shown = {job["job_id"]: job for job in snapshot.document()["pipelines"]}
    assert [name for name, job in shown.items() if job["partitions"]] == ["job", "waits-0"]
    assert shown["waits-4"]["counts"] == {"pending": 3, "synth_done": 1}
    assert snapshot.consistent
    whole = calm.snapshot().document()
    assert snapshot.document()["counters"] == whole["counters"]
    assert snapshot.document()["buffers"] == whole["buffers"]
    assert snapshot.document()["memory"] == whole["memory"]
    named = calm.snapshot(8, ["waits-3"]).document(jobs={"waits-3"})["pipelines"]
    assert [len(job["partitions"]) for job in named] == [4]


def test_a_contradiction_in_what_comes_as_counts_is_confessed(calm):
    driver = Driver(calm)
    driver.open("waits", 4, submitted_at=2_000.0)
    assert calm.snapshot(limit=0).consistent
    calm.ledger.client.hincrby(calm.ledger.keys.tally("waits"), "gpu", 1)
    assert calm.snapshot(limit=0).violations == ("job waits miscounts its partitions",)
