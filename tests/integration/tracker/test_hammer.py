"""Eight processes at once on one store: what was claimed was let go, and nothing happened twice."""

import multiprocessing
import time

from proving.tracker.records import JobState
from proving.tracker.store import Store
from tests.support.hammer import Tally, hammer
from tests.support.tracker import job_spec

PROCESSES = 8
JOBS = 3
PARTITIONS = 10
SECONDS = 20.0


def read_until(store: Store, processes: list[multiprocessing.Process]) -> int:
    """Readings while the hammers work, each of them consistent."""
    readings = 0
    while any(process.is_alive() for process in processes):
        snapshot = store.snapshot()
        assert snapshot.violations == ()
        readings += 1
    return readings


def test_eight_processes(valkey, valkey_socket):
    store = Store(valkey)
    for number in range(JOBS):
        store.open_job(job_spec(f"job-{number}", PARTITIONS, max_attempts=1_000))
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["tests.support.hammer"])
    answers = context.Queue()
    processes = [
        context.Process(target=hammer, args=(valkey_socket, number, SECONDS, answers), daemon=True)
        for number in range(PROCESSES)
    ]
    started = time.monotonic()
    for process in processes:
        process.start()
    readings = read_until(store, processes)
    tallies: list[Tally] = [answers.get(timeout=5) for _ in processes]
    for process in processes:
        process.join()
    seconds = time.monotonic() - started
    assert [wrong for tally in tallies for wrong in tally.wrong] == []
    acquired, let_go = sum(t.acquired for t in tallies), sum(t.let_go for t in tallies)
    conflicts = sum(t.conflicts for t in tallies)
    print(
        f"{acquired + let_go} transitions, {(acquired + let_go) / seconds:.0f} a second; "
        f"{conflicts} conflicts; {readings} readings, all consistent"
    )
    snapshot = store.snapshot()
    epochs = [epoch for tally in tallies for epoch in tally.epochs]
    assert acquired == let_go == len(epochs) == store.ledger.reader.number(store.ledger.keys.claims)
    assert sum(t.finished for t in tallies) == JOBS * PARTITIONS
    assert sum(t.assembled for t in tallies) == JOBS
    assert all(job.record.state is JobState.DONE for job in snapshot.jobs)
    assert sum(snapshot.stale_writes.values()) == sum(t.stale for t in tallies)
    assert snapshot.consistent
