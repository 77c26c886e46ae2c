"""Every field of the status is filled by a running system: one story, in which each of them changes."""

import json
from collections import defaultdict
from collections.abc import Iterator

import pytest
from jsonschema import Draft202012Validator

from proving.tracker import schema
from proving.tracker.records import DeviceMemory, JobState, ResidentKey, WorkerKind, WorkerSpec
from proving.tracker.store import Store
from tests.conftest import REPOSITORY
from tests.support.tracker import Driver

PAGE = REPOSITORY / "docs" / "status.schema.json"

BY_NAME = ("_by_kind", "counts", "stale_writes", "device_faults")
CONSTANT = {"order", "memory.hosts.occupants.kind", "others.jobs", "others.counts"}
"""In one reading only, of one kind only so far, or for other readers (see test_narrow)."""


def readings(valkey) -> Iterator[dict]:
    """The document after each step of the story."""
    store = Store(valkey, host_budget_bytes=1_000, synthesis_slots=1, keep_finished_seconds=0.0)
    hasty = Store(valkey, host_budget_bytes=1_000, synthesis_slots=1, lease_seconds=0.0)
    driver = Driver(store)
    yield store.snapshot().document()
    store.mark_started()
    driver.open("early", 1)
    driver.synthesized(0, job="early")
    yield store.snapshot().document()
    driver.register("gpu0@host", model="H200", memory_bytes=5_000)
    driver.open("held", 1, host_bytes=900, submitted_at=500.0, priority=4)
    driver.open("job", 3, host_bytes=400, evaluation_bytes=300, device_bytes=50, priority=3, label="seven")
    driver.open(
        "late",
        1,
        deadline=1.0,
        submitted_at=2_000.0,
        circuit_id="other",
        circuit_name="second",
        proof_kind="snap-update",
    )
    yield store.snapshot().document()
    driver.synthesizing(0, job="held")
    yield store.snapshot().document()
    store.register_worker(WorkerSpec("gpu1@far", WorkerKind.DEVICE, "far", "cuda:1", 1, "L4", 4, "1.2"))
    store.register_worker(WorkerSpec("synthesis@far/1", WorkerKind.SYNTHESIS, "far", version="1.2"))
    store.release(Driver.claimed(store.claim_synthesis("synth@far", "late", 0, 1)))
    driver.synthesized(0, job="late", attempt=2)
    store.reap()
    yield store.snapshot().document()
    store.synthesized(store.partition("held", 0).assignment)
    driver.handed_off(0, job="held")
    yield store.snapshot().document()
    finalizer = driver.finalizing(0, job="held")
    yield store.snapshot().document()
    store.finish(finalizer)
    store.assemble("held")
    store.complete_job("held", JobState.DONE)
    hasty.claim_synthesis("synth@host", "job", 0, 1)
    store.reap()
    driver.on_device(0, attempt=2)
    keys = [ResidentKey("circuit", 700, 1.5, in_use=True), ResidentKey("other", 20, 0.5, kind="pce")]
    store.worker_seen("gpu0@host", DeviceMemory(5_000, 800), keys)
    yield store.snapshot().document()
    keys = [ResidentKey("new", 800, 9.0), ResidentKey("newer", 30, 0.5, in_use=True, kind="pce")]
    store.worker_seen("gpu0@host", DeviceMemory(6_000, 900), keys, utilisation=0.25)
    store.mark_fault("host/host", "a sum is not on its curve")
    wider = Store(valkey, host_budget_bytes=2_000, synthesis_slots=3, lease_seconds=7.0)
    yield wider.snapshot().document()
    held = store.partition("job", 0).assignment
    store.fail(held, "out of memory", retry=True)
    store.hand_off(held)
    driver.synthesizing(1)
    driver.handed_off(0, worker="gpu1@far", attempt=3)
    store.finish(driver.finalizing(0, attempt=3))
    store.drain_worker("gpu0@host")
    store.drain_worker("synth-job-1@host")
    yield store.snapshot().document()
    store.fail(store.partition("job", 1).assignment, "assertion", retry=False)
    store.worker_seen("gpu0@host", DeviceMemory(6_000, 100), [])
    driver.open("stopped", 1)
    store.cancel_job("stopped")
    yield store.snapshot().document(since=0)
    valkey.hset(store.ledger.keys.tally("job"), "gpu", 5)
    yield store.snapshot().document()


def leaves(value: object, path: str = "") -> Iterator[tuple[str, str]]:
    """Every field of a document with what it says; elements of a list share one path."""
    if isinstance(value, dict) and value and not path.endswith(BY_NAME):
        for name, inner in value.items():
            yield from leaves(inner, f"{path}.{name}".lstrip("."))
    elif isinstance(value, list) and value and isinstance(value[0], dict):
        for item in value:
            yield from leaves(item, path)
    else:
        yield path, json.dumps(value)


def fields_of(described: dict, path: str = "") -> Iterator[str]:
    """Every field that the schema names."""
    if "properties" in described:
        for name, inner in described["properties"].items():
            yield from fields_of(inner, f"{path}.{name}".lstrip("."))
    elif described.get("items", {}).get("properties"):
        yield from fields_of(described["items"], path)
    else:
        yield path


def test_each_field_changes_in_the_story(valkey):
    said = defaultdict(set)
    for document in readings(valkey):
        for path, value in leaves(document):
            said[path].add(value)
    still = {path for path in fields_of(schema.STATUS) if len(said[path]) < 2} - CONSTANT
    assert sorted(still) == []


def test_what_is_read_is_what_is_published(valkey):
    validator = Draft202012Validator(
        json.loads(PAGE.read_text()), format_checker=Draft202012Validator.FORMAT_CHECKER
    )
    for document in readings(valkey):
        validator.validate(json.loads(json.dumps(document)))


def test_the_published_schema_is_the_one_in_use():
    assert PAGE.read_text() == schema.render(), (
        "run: python -m proving.tracker.schema > docs/status.schema.json"
    )
    Draft202012Validator.check_schema(json.loads(schema.render()))


@pytest.mark.parametrize("change", [{"rev": -1}, {"rev": "7"}, {"more": 1}, {"consistent": None}])
def test_the_schema_refuses_what_is_wrong(valkey, change):
    document = Store(valkey).snapshot().document() | change
    assert not Draft202012Validator(schema.STATUS).is_valid(document)
