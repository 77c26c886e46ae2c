"""What one owner sees of the status: their own whole, of everybody else's the load alone."""

import json

import pytest
from jsonschema import Draft202012Validator

from proving.tracker.narrow import Viewer
from proving.tracker.records import DeviceMemory, ResidentKey
from proving.tracker.schema import STATUS
from proving.tracker.store import Store
from tests.support.tracker import Driver

ALICE = Viewer("1", frozenset({"alices-circuit"}))
SECRETS = [f'"{name}"' for name in ("bobs-job", "bobs-label", "bobs-circuit", "bobs-name", "bobs-past")]


@pytest.fixture
def shared(valkey) -> Store:
    """Two owners at work: Bob's partition is on the device, and waits; an earlier job of each is over."""
    store = Store(valkey, host_budget_bytes=1_000, synthesis_slots=2, keep_finished_seconds=0.0)
    driver = Driver(store)
    driver.register(memory_bytes=5_000)
    alice = {"owner": "1", "circuit_id": "alices-circuit", "circuit_name": "alices-name", "host_bytes": 10}
    bob = {"owner": "2", "circuit_id": "bobs-circuit", "circuit_name": "bobs-name", "host_bytes": 20}
    for job_id, whose in (("alices-past", alice), ("bobs-past", bob)):
        driver.open(job_id, 1, **whose)
        driver.handed_off(job=job_id)
    store.cancel_job("bobs-past")
    store.reap()
    store.retire_job("bobs-past")
    driver.open("alices-job", 2, label="alices-label", **alice)
    driver.open("bobs-job", 3, label="bobs-label", **bob)
    driver.synthesizing(1, job="bobs-job")
    driver.synthesizing(1, job="alices-job")
    driver.on_device(0, job="bobs-job")
    keys = [ResidentKey("alices-circuit", 700), ResidentKey("bobs-circuit", 600)]
    store.worker_seen("gpu0@host", DeviceMemory(5_000, 1_500), keys)
    return store


def test_nothing_tells_of_anothers_job(shared):
    text = json.dumps(shared.snapshot().document(since=0, viewer=ALICE))
    assert [secret for secret in SECRETS if secret in text] == []
    assert all(own in text for own in ("alices-job", "alices-label", "alices-name", "alices-past"))


def test_an_operator_sees_all_of_it(shared):
    document = shared.snapshot().document(since=0)
    text = json.dumps(document)
    assert [secret for secret in SECRETS if secret not in text] == []
    assert "others" not in document


def test_the_load_of_others_is_told(shared):
    whole, seen = shared.snapshot().document(), shared.snapshot().document(viewer=ALICE)
    (worker,) = seen["gpu_workers"]
    assert (worker["state"], worker["current_job"], worker["current_partition"]) == ("proving", None, None)
    assert worker["busy_secs"] is not None
    assert [spell[0] for spell in worker["recent"]] == ["alices-past", None]
    assert worker["resident_keys"] == ["alices-circuit"]
    assert [line["bytes"] for line in worker["memory"]["occupants"]] == [700, 600, 200]
    assert seen["memory"]["used_bytes"] == whole["memory"]["used_bytes"]
    held = {line["job_id"]: line["bytes"] for line in seen["memory"]["hosts"][0]["occupants"]}
    assert held == {"alices-past": 10, "alices-job": 10, None: 40}
    assert seen["others"] == {"jobs": 1, "counts": {"pending": 1, "synthesizing": 1, "gpu": 1}}
    assert seen["counters"] == whole["counters"]
    assert seen["buffers"] == whole["buffers"]
    assert [line["circuit_id"] for line in seen["allocations"]["srs"]] == ["alices-circuit"]


def test_ones_own_job_is_whole(shared):
    whole = {job["job_id"]: job for job in shared.snapshot().document()["pipelines"]}
    seen = shared.snapshot().document(viewer=ALICE)["pipelines"]
    assert {job["job_id"] for job in seen} == {"alices-past", "alices-job"}
    for job in seen:
        assert job.keys() == whole[job["job_id"]].keys()
        assert [p["state"] for p in job["partitions"]] == [
            p["state"] for p in whole[job["job_id"]]["partitions"]
        ]


def test_what_is_not_named_is_nobodys(shared):
    assert shared.snapshot().document(viewer=Viewer("3"))["pipelines"] == []
    assert shared.snapshot().document(jobs={"bobs-job"}, viewer=ALICE)["pipelines"] == []


def test_it_is_as_published(shared):
    for viewer in (ALICE, Viewer("3"), None):
        document = json.loads(json.dumps(shared.snapshot().document(viewer=viewer)))
        Draft202012Validator(STATUS).validate(document)
