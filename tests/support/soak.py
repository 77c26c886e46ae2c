"""A soak: real workers prove while some are killed at random, and every reading is held to the truth."""

import os
import random
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import redis

from cuzkweb.client import CircuitFiles, Client, ProvedPartition, State
from cuzkweb.demo.membership import CONSTRAINTS, GENERATOR, example_inputs
from proving.formats.r1cs import read_r1cs
from proving.formats.snarkjs import proof_from_json, public_from_json
from proving.formats.zkey import write_zkey
from proving.groth16.objects import VerifyingKey
from proving.groth16.setup import setup
from proving.groth16.verifier import verify_batch
from proving.tracker.store import Store
from tests.support.processes import children_of
from tests.support.stack import DEPLOYMENT, Stack
from tests.support.watcher import Watcher, faults

WORKERS = ("gpu0", "gpu1", "synthesis", "finalize")
VICTIMS = (*WORKERS, "a child of synthesis", "a child of finalize")
ENDS = ("done", "failed", "cancelled")
LOOK_SECONDS = 0.04
PARTITIONS_A_JOB = 20


@dataclass
class Soaked:
    """What happened. `contradictions` and `missing` are empty when all is well."""

    partitions: int
    seconds: float
    kills: list[str] = field(default_factory=list)
    readings: int = 0
    looks: int = 0
    attempts: int = 0
    contradictions: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        rate = (self.readings + self.looks) / self.seconds
        return (
            f"{self.partitions} partitions proved in {self.seconds:.0f} s by {self.attempts} attempts, "
            f"{len(self.kills)} workers killed; the status was read {self.readings} times over HTTP and "
            f"{self.looks} times from the store, {rate:.0f} readings a second: "
            f"{len(self.contradictions)} inconsistent; {len(self.missing)} partitions lost or doubled"
        )


def soak(stack: Stack, folder: Path, partitions: int, pause: float, seed: int) -> Soaked:
    """Prove so many partitions of the demo circuit in jobs of twenty, killing a worker every `pause` seconds
    or so. The jobs must all be done in the end."""
    circuit, key = register(stack, folder)
    started = time.monotonic()
    with Watcher(stack) as watcher, looking(stack) as looks, killing(stack, pause, seed) as kills:
        jobs = []
        for first in range(0, partitions, PARTITIONS_A_JOB):
            count = min(PARTITIONS_A_JOB, partitions - first)
            inputs = [example_inputs(first + index) for index in range(count)]
            jobs.append((stack.client.submit(circuit, inputs).id, count))
        for job_id, _ in jobs:
            ended = stack.client.wait(job_id, timeout=1_800)
            assert (ended.state, ended.error) == (State.DONE, None)
    seconds = time.monotonic() - started
    found = Soaked(partitions, seconds, kills, len(watcher.readings), len(looks))
    found.contradictions = [*contradictions(watcher.readings), *contradictions(looks)]
    for job_id, count in jobs:
        found.missing += missing(key, stack.client.proofs(job_id), count)
        found.attempts += count_attempts(stack, job_id, found.missing)
    return found


def register(stack: Stack, folder: Path, name: str = "membership") -> tuple[str, VerifyingKey]:
    """The demo circuit with fresh development keys."""
    folder.mkdir(parents=True, exist_ok=True)
    key = setup(read_r1cs(CONSTRAINTS))
    write_zkey(folder / "membership.zkey", key)
    files = CircuitFiles(folder / "membership.zkey", GENERATOR, CONSTRAINTS)
    return stack.client.register(name, files)["id"], key.verifying_key


@contextmanager
def looking(stack: Stack) -> Iterator[list[dict[str, Any]]]:
    """Read the status from the store, twenty times a second, from entering to leaving: what a slow web does
    not get to see is seen all the same."""
    over, looks = threading.Event(), []

    def look() -> None:
        with redis.Redis.from_url(stack.state()["redis_url"]) as client:
            store = Store(client, DEPLOYMENT)
            while not over.wait(LOOK_SECONDS):
                looks.append(store.snapshot().document())

    thread = threading.Thread(target=look, daemon=True)
    thread.start()
    try:
        yield looks
    finally:
        over.set()
        thread.join()
    assert looks, "nobody looked"


@contextmanager
def killing(stack: Stack, pause: float, seed: int) -> Iterator[list[str]]:
    """Kill a worker now and then, from entering to leaving; the next one only when the last is back."""
    over, kills, chance = threading.Event(), [], random.Random(seed)

    def kill() -> None:
        while not over.wait(chance.uniform(0.5, 1.5) * pause):
            name = chance.choice(VICTIMS)
            with suppress(KeyError, TypeError, ProcessLookupError, FileNotFoundError, IndexError):
                if not all(is_ready(stack, worker) for worker in WORKERS):
                    continue
                parent = stack.pid(name.removeprefix("a child of "))
                victim = chance.choice(children_of(parent)) if name.startswith("a child") else parent
                os.kill(victim, signal.SIGKILL)
                kills.append(name)

    thread = threading.Thread(target=kill, daemon=True)
    thread.start()
    try:
        yield kills
    finally:
        over.set()
        thread.join()


def is_ready(stack: Stack, worker: str) -> bool:
    """Whether a worker has said that it is ready, in its present life."""
    return (stack.home / "run" / "ready" / worker).read_text() == str(stack.pid(worker))


def contradictions(readings: list[dict[str, Any]]) -> Iterator[str]:
    """What is untrue in a reading, or takes back what an earlier one said."""
    known: dict[tuple[str, int], tuple[str, int]] = {}
    last = 0
    for reading in readings:
        yield from faults(reading)
        if reading["rev"] < last:
            yield f"rev {reading['rev']} after {last}"
        last = reading["rev"]
        for pipeline in reading["pipelines"]:
            yield from _counted_wrong(pipeline)
            for partition in pipeline["partitions"]:
                place = pipeline["job_id"], partition["index"]
                now = partition["state"], partition["attempt"]
                before = known.get(place, now)
                if before[0] in ENDS and now != before:
                    yield f"{place} was {before} and then {now}"
                if now[1] < before[1]:
                    yield f"{place} went back from attempt {before[1]} to {now[1]}"
                known[place] = now


def _counted_wrong(pipeline: dict[str, Any]) -> Iterator[str]:
    states = [partition["state"] for partition in pipeline["partitions"]]
    counted = {state: states.count(state) for state in set(states)} if states else pipeline["counts"]
    if counted != pipeline["counts"] or sum(counted.values()) != pipeline["total_partitions"]:
        yield f"{pipeline['job_id']} counts {pipeline['counts']} for {counted}"
    if pipeline["partitions_done"] != pipeline["counts"].get("done", 0):
        yield f"{pipeline['job_id']} says {pipeline['partitions_done']} done of {counted}"


def missing(key: VerifyingKey, proofs: list[ProvedPartition], count: int) -> list[str]:
    """Proofs that are not there, not once, or not valid."""
    indexes = [row.index for row in proofs]
    found = [f"partition {index}" for index in range(count) if indexes.count(index) != 1]
    verdict = verify_batch(
        key, [proof_from_json(row.proof) for row in proofs], [public_from_json(row.public) for row in proofs]
    )
    return found + [f"partition {proofs[place].index}: {bad.reason}" for place, bad in verdict.bad]


def count_attempts(stack: Stack, job_id: str, wrong: list[str]) -> int:
    """How many attempts a job took; each partition must have been done in exactly one of them, its last."""
    with Client(stack.state()["web"], stack.credentials()["api_key"]) as client:
        partitions = client._ask("GET", f"/api/v1/jobs/{job_id}/timeline")["partitions"]
    for partition in partitions:
        outcomes = [attempt["outcome"] for attempt in partition["attempts"]]
        if outcomes.count("done") != 1 or outcomes[-1] != "done":
            wrong.append(f"{job_id}/{partition['index']}: {outcomes}")
    return sum(len(partition["attempts"]) for partition in partitions)
