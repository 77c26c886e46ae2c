"""The status document: cuzk's fields with cuzk's types, and what changes each of ours."""

import json
import types

import pytest

from proving.tracker.records import DeviceMemory, JobState, ResidentKey
from proving.tracker.store import Store
from tests.support.tracker import Driver, device, job_spec

NONE = types.NoneType
NUMBER = (float, int)

# as cuzk's panel reads it; lists hold the types of their elements
CUZK = {
    "uptime_secs": NUMBER,
    "memory": {"total_bytes": int, "used_bytes": int, "available_bytes": int},
    "synthesis": {"max_concurrent": int, "active": int},
    "pipelines": [
        {
            "job_id": str,
            "proof_kind": str,
            "started_secs_ago": NUMBER,
            "total_partitions": int,
            "partitions_done": int,
            "partitions": [{"index": int, "state": str, "synth_ms": (int, NONE), "gpu_ms": (int, NONE)}],
        }
    ],
    "gpu_workers": [
        {
            "worker_id": int,
            "gpu_ordinal": int,
            "state": str,
            "current_job": (str, NONE),
            "current_partition": (int, NONE),
            "busy_secs": (*NUMBER, NONE),
        }
    ],
    "allocations": {
        name: [{"circuit_id": str, "bytes": int, "last_used_secs_ago": NUMBER, "evictable": bool}]
        for name in ("srs", "pce")
    },
    "counters": {
        "total_completed": int,
        "total_failed": int,
        "completed_by_kind": dict,
        "failed_by_kind": dict,
        "queue_depth": int,
    },
    "buffers": dict.fromkeys(
        ("synth_in_flight", "provers_in_flight", "aux_in_flight", "shells_in_flight", "pending_handles"), int
    ),
}
OURS = {
    "": {"rev", "generated_at", "consistent", "workers"},
    "memory": {"hosts"},
    "pipelines": {
        *("priority", "label", "deadline", "submitted_at", "circuit_id", "eta_at", "waiting_for", "state"),
        "error",
    },
    "partitions": {
        *("attempt", "max_attempts", "worker", "queued_ms", "wait_ms", "finalize_ms", "queued_at", "error"),
        *("synth_started_at", "synth_ended_at", "wait_started_at", "gpu_started_at", "gpu_ended_at"),
        *("finalize_started_at", "finished_at", "history"),
    },
    "gpu_workers": {
        *("name", "device", "host", "last_seen_secs_ago", "resident_keys", "memory", "recent", "idle_since"),
        "model",
    },
    "counters": {"stale_writes_total", "stale_writes"},
}
STATES = {
    *("pending", "synthesizing", "synth_done", "gpu", "finalizing"),
    *("done", "failed", "cancelled"),
}


def assert_shape(value: object, shape: object, path: str = "") -> None:
    if isinstance(shape, dict):
        assert isinstance(value, dict), path
        assert shape.keys() <= value.keys(), path
        for name, inner in shape.items():
            assert_shape(value[name], inner, f"{path}.{name}")
    elif isinstance(shape, list):
        assert isinstance(value, list), path
        assert value, f"{path} is empty: the test would see nothing"
        for item in value:
            assert_shape(item, shape[0], path)
    else:
        assert isinstance(value, shape), f"{path} is {value!r}"
        assert isinstance(value, bool) == (shape is bool), f"{path} is {value!r}"


@pytest.fixture
def busy(valkey) -> Store:
    """A store with a partition in every state, and something in every list."""
    store = Store(valkey, host_budget_bytes=10_000, synthesis_slots=4)
    driver = Driver(store)
    store.mark_started()
    driver.register("gpu0@host", model="H200", ordinal=0)
    driver.register("gpu1@host", ordinal=1)
    driver.open("broken", 1, proof_kind="porep-c2")
    store.fail(driver.synthesizing(0, job="broken"), "assertion", retry=False)
    driver.open("stopped", 1)
    store.cancel_job("stopped")
    driver.open("ended", 1)
    driver.done(0, job="ended")
    store.assemble("ended")
    store.complete_job("ended", JobState.DONE)
    driver.open(total=6, host_bytes=100, evaluation_bytes=90, priority=3, label="seven", deadline=9e9)
    driver.done(5)
    driver.handed_off(4)
    driver.finalizing(4)
    driver.on_device(3)
    driver.synthesized(2)
    driver.synthesizing(1)
    keys = [ResidentKey("circuit", 700, 1.5, in_use=True), ResidentKey("other", 20, kind="pce")]
    store.worker_seen("gpu0@host", DeviceMemory(1_000, 800), keys)
    store.worker_seen("gpu1@host", DeviceMemory(1_000, 650), [ResidentKey("circuit", 650, 0.5)])
    return store


def test_every_field_of_cuzk_has_its_type(busy):
    document = json.loads(json.dumps(busy.snapshot().document(), allow_nan=False))
    assert_shape(document, CUZK)
    states = {p["state"] for job in document["pipelines"] for p in job["partitions"]}
    assert states == STATES
    assert {worker["state"] for worker in document["gpu_workers"]} == {"idle", "proving"}


def test_every_field_of_ours_is_there(busy):
    document = busy.snapshot().document()
    assert OURS[""] <= document.keys()
    assert OURS["memory"] <= document["memory"].keys()
    assert OURS["counters"] <= document["counters"].keys()
    for job in document["pipelines"]:
        assert OURS["pipelines"] <= job.keys()
        assert all(OURS["partitions"] <= partition.keys() for partition in job["partitions"])
    assert all(OURS["gpu_workers"] <= worker.keys() for worker in document["gpu_workers"])
    assert document["consistent"] is True


def test_job_and_its_partitions(busy):
    job = busy.snapshot().document()["pipelines"][0]
    assert (job["job_id"], job["priority"], job["label"], job["circuit_id"]) == (
        *("job", "high"),
        *("seven", "circuit"),
    )
    assert job["submitted_at"] == "1970-01-01T00:16:40.000Z"
    assert (job["total_partitions"], job["partitions_done"]) == (6, 1)
    pending, synthesizing, waiting, proving, finalizing, done = job["partitions"]
    assert pending["worker"] is None
    assert pending["queued_ms"] is not None
    assert pending["synth_ms"] is None
    assert synthesizing["worker"] == "synth-job-1@host"
    assert synthesizing["synth_ended_at"] is None
    assert waiting["wait_ms"] is not None
    assert waiting["gpu_ms"] is None
    assert proving["worker"] == "gpu0@host"
    assert proving["finalize_ms"] is None
    assert finalizing["finalize_ms"] is not None
    assert finalizing["finished_at"] is None
    assert done["finished_at"] is not None
    assert done["error"] is None


def test_open_phases_run_on_and_closed_ones_stand_still(busy):
    first, second = (busy.snapshot().document()["pipelines"][0]["partitions"] for _ in range(2))
    spans = ("queued_ms", "synth_ms", "wait_ms", "gpu_ms", "finalize_ms")
    assert {name: first[5][name] for name in spans} == {name: second[5][name] for name in spans}
    assert second[1]["synth_ms"] >= first[1]["synth_ms"]
    assert second[3]["gpu_ms"] >= first[3]["gpu_ms"]
    snapshot = busy.snapshot()
    later = type(snapshot)(**{**fields_of(snapshot), "generated_at": snapshot.generated_at + 60})
    assert later.document()["pipelines"][0]["partitions"][3]["gpu_ms"] >= 60_000
    assert later.document()["gpu_workers"][0]["busy_secs"] >= 60


def fields_of(snapshot) -> dict[str, object]:
    return {name: getattr(snapshot, name) for name in snapshot.__dataclass_fields__}


def test_counts_and_memory(busy):
    document = busy.snapshot().document()
    counters = document["counters"]
    assert (counters["total_completed"], counters["total_failed"], counters["total_cancelled"]) == (1, 1, 1)
    assert counters["completed_by_kind"] == {"groth16": 1}
    assert counters["failed_by_kind"] == {"porep-c2": 1}
    assert counters["queue_depth"] == 2
    slots = sum(worker["kind"] == "synthesis" for worker in document["workers"])
    assert slots == 7  # more than the 4 that this store was told of
    assert document["synthesis"] == {"max_concurrent": slots, "active": 1}
    assert document["buffers"] == {
        "synth_in_flight": 1,
        "provers_in_flight": 2,
        "aux_in_flight": 1,
        "shells_in_flight": 1,
        "pending_handles": 0,
    }
    (host,) = document["memory"]["hosts"]
    assert host["occupants"] == [{"kind": "partitions", "job_id": "job", "bytes": 310}]
    assert (document["memory"]["used_bytes"], document["memory"]["available_bytes"]) == (310, 9_690)


def test_devices(busy):
    document = busy.snapshot().document()
    zero, one = document["gpu_workers"]
    assert (zero["name"], zero["state"], zero["current_job"], zero["current_partition"]) == (
        *("gpu0@host", "proving"),
        *("job", 3),
    )
    assert zero["idle_since"] is None
    assert zero["resident_keys"] == ["circuit"]
    assert zero["memory"] == {
        "total_bytes": 1_000,
        "used_bytes": 800,
        "reserved_bytes": 0,
        "occupants": [
            {"kind": "key", "circuit_id": "circuit", "bytes": 700},
            {"kind": "key", "circuit_id": "other", "bytes": 20},
            {"kind": "work", "circuit_id": None, "bytes": 80},
        ],
    }
    assert (one["state"], one["busy_secs"], one["current_job"], one["gpu_ordinal"]) == ("idle", None, None, 1)
    assert one["idle_since"] is not None
    assert [(spell[0], spell[1], spell[2], spell[5]) for spell in zero["recent"]] == [
        ("ended", 0, 1, "done"),
        ("job", 5, 1, "done"),
        ("job", 4, 1, "done"),
    ]
    (srs,) = document["allocations"]["srs"]
    assert (srs["circuit_id"], srs["bytes"], srs["evictable"]) == ("circuit", 1_350, False)
    assert 0.5 <= srs["last_used_secs_ago"] < 1.5


def test_job_held_by_memory_says_so(valkey):
    store = Store(valkey, host_budget_bytes=100)
    store.open_job(job_spec("first", 1, host_bytes=80))
    store.open_job(job_spec("second", 1, host_bytes=30))
    store.claim_synthesis("synth@host", "first", 0, 1)
    first, second = store.snapshot().document()["pipelines"]
    assert first["waiting_for"] is None
    assert second["waiting_for"] == {
        "resource": "host_memory",
        "host": "host",
        "needs_bytes": 30,
        "free_bytes": 20,
    }


def test_order_is_stable(store, driver):
    for name, priority, submitted in (("c", 2, 5.0), ("a", 2, 7.0), ("b", 4, 9.0), ("d", 1, 1.0)):
        driver.open(name, 1, priority=priority, submitted_at=submitted)
    for name in ("gpu2@host", "gpu0@host", "gpu1@host"):
        store.register_worker(device(name))
    document = store.snapshot().document()
    assert [job["job_id"] for job in document["pipelines"]] == ["b", "c", "a", "d"]
    assert [worker["worker_id"] for worker in document["gpu_workers"]] == [0, 1, 2]
    assert [job["job_id"] for job in store.snapshot().document(jobs={"a"})["pipelines"]] == ["a"]


def test_empty_system(store):
    document = store.snapshot().document()
    assert (document["pipelines"], document["gpu_workers"], document["rev"]) == ([], [], 0)
    assert document["consistent"] is True
    assert document["uptime_secs"] == 0.0


def test_many_partitions_come_in_one_reading(store, driver):
    driver.open(total=2_500)
    (job,) = store.snapshot().jobs
    assert [partition.index for partition in job.partitions] == list(range(2_500))


@pytest.mark.parametrize(
    ("key", "field", "value", "words"),
    [
        ("worker:gpu0@host", "assignment", None, "names worker gpu0@host, which does not"),
        ("partition:job:3", "phase", "synth_done", "synth_done and yet held"),
        ("partition:job:3", "assignment", None, "gpu by nobody"),
        ("partition:job:0", "phase", "done", "miscounts its partitions"),
        ("partition:job:2", "held_bytes", 7, "miscounts its partitions"),
    ],
)
def test_contradiction_is_confessed(busy, key, field, value, words):
    keys, client = busy.ledger.keys, busy.ledger.client
    record = json.loads(client.get(keys.name(key)))
    client.set(keys.name(key), json.dumps({**record, field: value}))
    snapshot = busy.snapshot()
    assert any(words in violation for violation in snapshot.violations), snapshot.violations
    assert snapshot.document()["consistent"] is False
