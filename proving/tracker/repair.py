"""Making the live state agree with itself again, should anything but the store ever have written to it.

The records of jobs and partitions are what counts; tallies, lines, leases and sums are made anew from them,
and a worker and a partition that do not name each other are parted. Each repair is a transaction of its own.
In a sound system there is nothing to repair.
"""

from dataclasses import dataclass, replace
from typing import Protocol

from proving.tracker.ledger import Ledger
from proving.tracker.outcomes import Lost, Refused
from proving.tracker.records import Assignment, JobRecord, PartitionRecord, Phase, WorkerRecord
from proving.tracker.snapshot import Snapshot
from proving.tracker.tally import Counts, tally
from proving.tracker.transaction import Transaction


class Repairable(Protocol):
    """What a repair needs of a store."""

    @property
    def ledger(self) -> Ledger: ...

    def snapshot(self) -> Snapshot: ...

    def lose(self, assignment: Assignment, expires_at: float | None = None) -> Lost | Refused: ...


@dataclass(frozen=True, slots=True)
class Repaired:
    """`lost` is a partition that waits again, and wants a message."""

    what: str
    lost: Lost | None = None


def repair(store: Repairable) -> list[Repaired]:
    """One pass. Nothing at all is written where nothing is wrong."""
    found: list[Repaired] = []
    snapshot = store.snapshot()
    if not snapshot.violations and not _misplaced(store.ledger, snapshot):
        return found
    for worker in snapshot.workers:
        found += _part_worker(store, worker.record, snapshot)
    holders = {worker.record.spec.name: worker.record.assignment for worker in snapshot.workers}
    for assignment in snapshot.held:
        if holders.get(assignment.worker) != assignment:
            outcome = store.lose(assignment)
            if not isinstance(outcome, Refused):
                what = f"partition {assignment.partition} of {assignment.job} was held by nobody"
                found.append(Repaired(what, outcome))
    for job in snapshot.jobs:
        found += _reindex(store.ledger, job.record.spec.job_id)
    return found + _recount_bytes(store.ledger)


def _misplaced(ledger: Ledger, snapshot: Snapshot) -> bool:
    """Whether a line lacks somebody who waits: no snapshot shows that, and yet nobody will take it."""
    waiting = sum(p.waiting for job in snapshot.jobs for p in job.partitions)
    return waiting != ledger.reader.line_lengths()


def _part_worker(store: Repairable, worker: WorkerRecord, snapshot: Snapshot) -> list[Repaired]:
    if worker.assignment is None or worker.assignment in snapshot.held:
        return []

    def free(now_held: WorkerRecord, _: float) -> WorkerRecord:
        same = now_held.assignment == worker.assignment
        return replace(now_held, assignment=None) if same else now_held

    name = worker.spec.name
    store.ledger.change_worker("repair", name, free, lambda freed: freed, counted=False)
    return [Repaired(f"worker {name} named a partition that does not name it")]


def _reindex(ledger: Ledger, job_id: str) -> list[Repaired]:
    """Tallies, lines and leases of one job, made anew from its partitions."""

    def body(tx: Transaction) -> list[Repaired] | Refused:
        job = tx.job(job_id)
        if job is None:
            return []
        partitions = tx.partitions(job)
        counts, right = tally(partitions), _recounted(job, partitions)
        if tx.tally(job_id) == counts and right == job and tx.well_placed(partitions):
            return []
        tx.replace_indexes(right, partitions, counts)
        tx.commit()
        return [Repaired(f"the indexes of job {job_id} did not follow its records")]

    outcome = ledger.run("repair", body)
    return [] if isinstance(outcome, Refused) else outcome


def _recounted(job: JobRecord, partitions: list[PartitionRecord]) -> JobRecord:
    phases = [partition.phase for partition in partitions]
    return replace(
        job,
        done=phases.count(Phase.DONE),
        failed=phases.count(Phase.FAILED),
        cancelled=phases.count(Phase.CANCELLED),
    )


def _recount_bytes(ledger: Ledger) -> list[Repaired]:
    def body(tx: Transaction) -> list[Repaired] | Refused:
        sums: dict[str, int] = {}
        for job_id in tx.job_ids():
            for place, held in Counts(tx.tally(job_id)).places.items():
                sums[place] = sums.get(place, 0) + held
        if {place: held for place, held in tx.all_held().items() if held} == sums:
            return []
        tx.replace_held(sums)
        tx.commit()
        return [Repaired("the sums of held bytes did not follow the records")]

    outcome = ledger.run("repair", body)
    return [] if isinstance(outcome, Refused) else outcome
