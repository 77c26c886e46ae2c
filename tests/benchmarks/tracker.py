"""How fast the tracker is: `python -m tests.benchmarks.tracker snapshot | hammer [--processes N]`.

`snapshot` reads the status at 10, 100 and 1,000 live jobs of 16 partitions: what the reading costs the server
of the live state and the process that answers, how large the answer is, and what a 304 costs. `hammer` lets
processes work through partitions as fast as they can, and prints transitions a second.
"""

import argparse
import json
import time
from collections.abc import Callable
from dataclasses import dataclass

import redis

from proving.services.status import WHOLE_PARTITIONS
from proving.tracker.store import Store
from tests.support.hammer import Hammered, run_hammer
from tests.support.tracker import Driver, device
from tests.support.valkey import running_valkey

SIZES = (10, 100, 1_000)
PARTITIONS = 16
DEVICES = 8


@dataclass(frozen=True)
class Cost:
    """Milliseconds of one reading: of the server's, of this process's processor, and by the wall clock."""

    server: float
    process: float
    wall: float


@dataclass(frozen=True)
class Row:
    jobs: int
    first: Cost
    reading: Cost
    unchanged: Cost
    kilobytes: float
    whole: int


def populate(store: Store, jobs: int) -> None:
    """Jobs in every stage: a few at work, the most waiting."""
    driver = Driver(store)
    for number in range(DEVICES):
        store.register_worker(device(f"gpu{number}@host", pid=number, ordinal=number))
    for number in range(jobs):
        driver.open(f"job-{number:04d}", PARTITIONS, submitted_at=1_000.0 + number, host_bytes=100)
    for number in range(min(jobs, DEVICES)):
        name = f"job-{number:04d}"
        driver.done(0, job=name, worker=f"gpu{number}@host")
        driver.synthesized(1, job=name)
        driver.on_device(2, job=name, worker=f"gpu{number}@host")
        driver.synthesizing(3, job=name)


def read(store: Store) -> bytes:
    """What the view does, without HTTP."""
    return json.dumps(store.snapshot(WHOLE_PARTITIONS).document(), separators=(",", ":")).encode()


def cost_of(client: redis.Redis, work: Callable[[], object], rounds: int) -> Cost:
    """The mean over rounds, of processor time: what else the machine does shows in the wall clock alone."""
    server, process, wall = processor_seconds(client), time.process_time(), time.perf_counter()
    for _ in range(rounds):
        work()
    ended, used = time.perf_counter(), time.process_time()
    spent = processor_seconds(client) - server, used - process, ended - wall
    return Cost(*(seconds * 1e3 / rounds for seconds in spent))


def processor_seconds(client: redis.Redis) -> float:
    """What the server has used so far."""
    used = client.info("cpu")
    return float(used["used_cpu_user"]) + float(used["used_cpu_sys"])


def measure(client: redis.Redis, jobs: int, rounds: int = 10) -> Row:
    """One line of the table, on an empty server."""
    client.flushall()
    store = Store(client, lease_seconds=600.0, host_budget_bytes=10**9)
    populate(store, jobs)
    first = cost_of(client, lambda: read(store), 1)
    snapshot = store.snapshot(WHOLE_PARTITIONS)
    assert snapshot.violations == ()
    return Row(
        jobs,
        first,
        cost_of(client, lambda: read(store), rounds),
        cost_of(client, store.rev, 20 * rounds),
        len(read(store)) / 1e3,
        sum(job.whole for job in snapshot.jobs),
    )


def print_snapshot_table() -> None:
    print("milliseconds of processor time: of the server of the live state + of the process that answers")
    print("  jobs  partitions   first reading      next readings      unchanged (304)      size   whole jobs")
    with running_valkey() as socket, redis.Redis(unix_socket_path=str(socket)) as client:
        for jobs in SIZES:
            row = measure(client, jobs)
            costs = (f"{c.server:6.2f} + {c.process:6.2f}" for c in (row.first, row.reading, row.unchanged))
            print(
                f"{jobs:6} {jobs * PARTITIONS:11}",
                *costs,
                f"{row.kilobytes:8.0f} kB {row.whole:8}",
                sep="   ",
            )


def print_hammer(processes: int, jobs: int, partitions: int) -> None:
    with running_valkey() as socket, redis.Redis(unix_socket_path=str(socket)) as client:
        print(describe(run_hammer(client, socket, processes=processes, jobs=jobs, partitions=partitions)))


def describe(hammered: Hammered) -> str:
    """One line."""
    return (
        f"{hammered.processes} processes: {hammered.transitions} transitions in {hammered.seconds:.1f} s, "
        f"{hammered.transitions / hammered.seconds:.0f} a second; {hammered.conflicts} tried again; "
        f"{hammered.readings} readings meanwhile, all consistent"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["snapshot", "hammer"])
    parser.add_argument("--processes", type=int, default=32)
    parser.add_argument("--jobs", type=int, default=20)
    parser.add_argument("--partitions", type=int, default=16)
    options = parser.parse_args()
    if options.what == "snapshot":
        print_snapshot_table()
    else:
        print_hammer(options.processes, options.jobs, options.partitions)


if __name__ == "__main__":
    main()
