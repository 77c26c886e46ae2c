"""A long life in short: `python -m tests.benchmarks.endurance [--jobs 20000]`, with the foreign fixtures.

Real workers prove jobs of one partition of a circuit with one constraint, as many as a day may bring.
Memory, open files and threads of every process are read again and again; what grows shows in a slope. See
docs/scale.md.
"""

import argparse
import json
import os
import sqlite3
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import astuple
from pathlib import Path
from typing import TextIO

import httpx

from cuzkweb.client import CircuitFiles, Client, Job, State
from proving.formats.snarkjs import proof_from_json, public_from_json, verifying_key_from_json
from proving.groth16.verifier import verify_batch
from tests.conftest import shared_folder
from tests.support.footprint import Footprint, footprints, growths, pids
from tests.support.stack import Stack, running_stack

IN_FLIGHT = 40
CHECKED = 50
PATIENCE_SECONDS = 1_800.0
SETTINGS = {
    "CUZKWEB_SUBMITS_PER_MINUTE": "1000000",
    "CUZKWEB_READS_PER_MINUTE": "1000000",
    "CUZKWEB_LEASE_SECONDS": "10",
}

Samples = list[tuple[int, list[Footprint]]]


def register(client: Client) -> str:
    """The tiny circuit: the product of two numbers."""
    shared = shared_folder()
    if shared is None:
        sys.exit("the folder of foreign fixtures is not here (set CUZKWEB_SHARED to point at it)")
    folder = shared / "fixtures" / "mopro"
    files = CircuitFiles(folder / "multiplier2_final.zkey", folder / "multiplier2.wasm")
    found: str = client.register("multiplier", files)["id"]
    return found


def persist(ask: Callable[[], Job]) -> Job:
    """Ask until there is an answer: on a busy machine a request may time out, and each has its own name."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while True:
        try:
            return ask()
        except httpx.TransportError:
            if time.monotonic() > deadline:
                raise


def endure(
    stack: Stack, jobs: int, every: int, deadline: float, out: TextIO | None
) -> tuple[list[str], Samples]:
    """Send so many jobs, a few at a time; the ids in order, and a sample of all processes each `every` jobs,
    which goes to `out` as a line of JSON too. Past `deadline` no more are sent."""
    circuit = register(stack.client)
    sent: list[str] = []
    samples: Samples = []

    def sample(done: int) -> None:
        samples.append((done, footprints(stack)))
        print(f"{time.strftime('%H:%M:%S')} {done} jobs", flush=True)
        if out:
            print(json.dumps([done, [astuple(found) for found in samples[-1][1]]]), file=out, flush=True)

    for number in range(jobs):
        if number >= IN_FLIGHT:
            oldest = sent[number - IN_FLIGHT]
            ended = persist(lambda oldest=oldest: stack.client.wait(oldest, timeout=PATIENCE_SECONDS))
            assert ended.state == State.DONE, ended
        if number % every == 0:
            sample(number)
        if time.monotonic() > deadline:
            break
        inputs, name = [{"a": str(number), "b": str(number + 1)}], f"job-{number}"
        persist(lambda: stack.client.submit(circuit, inputs, request_id=name))  # noqa: B023
        sent.append(name)
    for job_id in sent[-IN_FLIGHT:]:
        persist(lambda job_id=job_id: stack.client.wait(job_id, timeout=PATIENCE_SECONDS))
    sample(len(sent))
    return sent, samples


def account(stack: Stack, sent: list[str]) -> list[str]:
    """What is wrong with the jobs, by the database itself and by proofs taken here and there."""
    with sqlite3.connect(f"file:{stack.home / 'db.sqlite3'}?mode=ro", uri=True) as database:
        states = dict(database.execute("SELECT state, count(*) FROM proving_job GROUP BY state"))
        proofs = Counter(job for (job,) in database.execute("SELECT job_id FROM proving_proof"))
    wrong = [] if states == {"done": len(sent)} else [f"states {states}"]
    wrong += [f"{job_id}: {proofs[job_id]} proofs" for job_id in sent if proofs[job_id] != 1]
    key = verifying_key_from_json(stack.client.circuit("multiplier")["verifying_key"])
    rows = [stack.client.proofs(job_id)[0] for job_id in sent[:: max(1, len(sent) // CHECKED)]]
    verdict = verify_batch(
        key, [proof_from_json(row.proof) for row in rows], [public_from_json(row.public) for row in rows]
    )
    return wrong + [f"proof {place}: {found.reason}" for place, found in verdict.bad]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=20_000)
    parser.add_argument("--every", type=int, default=100, help="jobs between two samples")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="send no more after so long")
    parser.add_argument("--out", type=Path, help="where each sample goes, as a line of JSON")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="endurance-") as folder:
        with running_stack(Path(folder) / "home", "--no-flower", **SETTINGS) as stack:
            started, used = time.monotonic(), os.times()
            with options.out.open("w") if options.out else nullcontext() as out:
                sent, samples = endure(stack, options.jobs, options.every, started + options.seconds, out)
            seconds = time.monotonic() - started
            wrong = account(stack, sent)
        spent = os.times()
    processor = spent.children_user + spent.children_system - used.children_user - used.children_system
    print(f"{len(sent)} jobs in {seconds:.0f} s, {len(sent) / seconds:.1f} a second, ", end="")
    print(f"{processor / len(sent) * 1e3:.0f} ms of processor time a job")
    restarted = {name for name, pid in pids(samples[-1][1]).items() if pids(samples[0][1]).get(name) != pid}
    print(f"processes that are not those of the start: {sorted(restarted) or 'none'}")
    print("per thousand jobs after the first fifth; anonymous memory, open files:")
    for found in growths(samples):
        print(found)
    for line in wrong:
        print(line)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
