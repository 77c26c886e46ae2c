"""Samples for the panel: a busy house, a quiet one, a crowded one."""

import itertools

from tests.browser.scheduler import GIB, PENDING, Afternoon, Document, Work

DEVICES = {
    "gpu0@prover-a": "L40S 48 GB",
    "gpu1@prover-a": "L40S 48 GB",
    "gpu0@prover-b": "EPYC 9354, 32 cores",
}
HOST = ("gpu0@prover-b",)
BUSY_AT = 600.0


LOST = "the lease ran out: gpu1@prover-a was not heard for 10 s"
BAD = "proof does not verify: public input 2 does not match the witness; not retried, the input is at fault"
WORKS = [
    Work(
        "ps-snap-1000-1-4711", "snap-update", 16, 262, 62, 34, 14, "snap-32g",
        label="f01000 sector 4711", loses={4: LOST}, fails={7: BAD},
    ),
    Work(
        "ps-snap-1000-1-4712", "snap-update", 16, 437, 62, 34, 14, "snap-32g",
        label="f01000 sector 4712",
    ),
    Work(
        "ps-porep-1000-7-120044", "porep-c2", 10, 524, 90, 40, 12, "snap-32g",
        label="f01000 sector 120044", bytes=14 * GIB, held=True,
    ),
    Work(
        "wpost-f01000-d17-p0", "window-post", 1, 569, 80, 30, 5, "wpost-32g",
        label="f01000 deadline 17", priority="high", deadline=805, bytes=14 * GIB,
    ),
    Work(
        "groth16-01KBPRH4T0M2E8Y6ZJ5D1WQKXA", "groth16", 200, 190, 2, 2.4, 0.8, "rollup-v3",
        label="airdrop 2026-11", priority="low", devices=HOST, bytes=GIB // 3,
    ),
    Work(
        "groth16-01KBPS6ZC1Q8X2W7N4V9R3T5HM", "groth16", 4, 584, 1.2, 3.4, 1.4, "semaphore-20",
        label="rollup block 88213", priority="high", devices=HOST, bytes=GIB // 3,
    ),
]  # fmt: skip


def busy_afternoon(began: float = 0) -> Afternoon:
    """Six jobs of all shapes; `BUSY_AT` seconds in, every phase and every kind of trouble is there."""
    return Afternoon(WORKS, DEVICES, {"prover-a": 6, "prover-b": 1}, began)


def quiet(document: Document) -> Document:
    """The same house with nothing to do."""
    idle = {"state": "idle", "current_job": None, "current_partition": None, "busy_secs": 0}
    workers = [{**w, **idle, "idle_since": document["generated_at"] - 42} for w in document["gpu_workers"]]
    hosts = [_without_partitions(host) for host in document["memory"]["hosts"]]
    memory = {name: sum(h[name] for h in hosts) for name in ("total_bytes", "used_bytes", "available_bytes")}
    counters = {**document["counters"], "queue_depth": 0}
    synthesis = {**document["synthesis"], "active": 0}
    return {
        **document,
        "memory": {**memory, "hosts": hosts},
        "pipelines": [],
        "gpu_workers": workers,
        "counters": counters,
        "synthesis": synthesis,
    }


def unused(document: Document) -> Document:
    """A house in which no job has ended yet, nor any begun."""
    empty = quiet(document)
    none = {name: {} if name.endswith("by_kind") else 0 for name in empty["counters"]}
    return {**empty, "counters": none}


def _without_partitions(host: Document) -> Document:
    occupants = [o for o in host["occupants"] if o["kind"] != "partitions"]
    used = sum(o["bytes"] for o in occupants)
    return {**host, "occupants": occupants, "used_bytes": used, "available_bytes": host["total_bytes"] - used}


def many_jobs(document: Document, count: int) -> Document:
    """`count` more jobs that wait, with ids that differ in their last digits alone."""
    like = document["pipelines"][0]
    asleep = [
        {"index": i, "state": PENDING, "attempt": 1, "max_attempts": 3, "queued_at": like["submitted_at"]}
        for i in range(16)
    ]
    numbers = itertools.islice(itertools.count(4713), count)
    jobs = [
        {**like, "job_id": f"ps-snap-1000-1-{n}", "partitions_done": 0, "partitions": asleep} for n in numbers
    ]
    return {**document, "pipelines": [*document["pipelines"], *jobs]}
