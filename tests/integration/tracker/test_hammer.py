"""Thirty-two processes at once on one store: what was claimed was let go, and nothing happened twice."""

from proving.tracker.records import JobState
from proving.tracker.store import Store
from tests.benchmarks.tracker import describe
from tests.support.hammer import run_hammer

PROCESSES = 32
JOBS = 6
PARTITIONS = 16


def test_many_processes(valkey, valkey_socket):
    hammered = run_hammer(valkey, valkey_socket, processes=PROCESSES, jobs=JOBS, partitions=PARTITIONS)
    print(describe(hammered))
    store = Store(valkey)
    assert [wrong for tally in hammered.tallies for wrong in tally.wrong] == []
    epochs = [epoch for tally in hammered.tallies for epoch in tally.epochs]
    claims = store.ledger.reader.number(store.ledger.keys.claims)
    assert hammered.total("acquired") == hammered.total("let_go") == len(epochs) == claims
    assert hammered.total("finished") == JOBS * PARTITIONS
    assert hammered.total("assembled") == JOBS
    snapshot = store.snapshot()
    assert all(job.record.state is JobState.DONE for job in snapshot.jobs)
    assert sum(snapshot.stale_writes.values()) == hammered.total("stale")
    assert snapshot.consistent
