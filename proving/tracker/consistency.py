"""Whether a snapshot agrees with itself: invariant 4 first, then tallies, leases and budgets. Pure."""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from proving.tracker.records import PartitionRecord, Phase, WorkerKind, WorkerRecord
from proving.tracker.tally import HELD, Counts, tally

if TYPE_CHECKING:
    from proving.tracker.snapshot import LiveJob, Snapshot

HOLDERS = {
    Phase.SYNTHESIZING: WorkerKind.SYNTHESIS,
    Phase.GPU: WorkerKind.DEVICE,
    Phase.FINALIZING: WorkerKind.FINALIZE,
}
_HELD_PHASES = {Phase.SYNTHESIZING, Phase.GPU}


def violations(snapshot: "Snapshot") -> Iterator[str]:
    """Each contradiction in words; none in a sound system."""
    workers = {worker.record.spec.name: worker.record for worker in snapshot.workers}
    partitions = {(p.job, p.index): p for job in snapshot.jobs for p in job.partitions}
    held = [p for p in partitions.values() if p.assignment]
    named = Counter(p.assignment.worker for p in held if p.assignment)
    yield from (f"{count} partitions name worker {name}" for name, count in named.items() if count > 1)
    for partition in partitions.values():
        if partition.assignment is not None or partition.phase in _HELD_PHASES:
            yield from _holder_violations(partition, workers)
    for worker in workers.values():
        if worker.assignment is None:
            continue
        found = partitions.get((worker.assignment.job, worker.assignment.partition))
        if found is None or found.assignment != worker.assignment:
            yield f"worker {worker.spec.name} names a partition that does not name it"
    for job in snapshot.jobs:
        yield from _tally_violations(job)
    if snapshot.leases != len(held):
        yield f"{snapshot.leases} leases run for {len(held)} partitions that are held"
    yield from _budget_violations(snapshot)


def _holder_violations(partition: PartitionRecord, workers: Mapping[str, WorkerRecord]) -> Iterator[str]:
    name, assignment = f"partition {partition.index} of {partition.job}", partition.assignment
    if assignment is None:
        yield f"{name} is {partition.phase} by nobody"
        return
    if partition.phase not in HOLDERS:
        yield f"{name} is {partition.phase} and yet held by {assignment.worker}"
    if (assignment.job, assignment.partition, assignment.attempt) != (
        partition.job,
        partition.index,
        partition.attempt,
    ):
        yield f"{name} is held by an assignment for something else"
    holder = workers.get(assignment.worker)
    if holder is None or holder.assignment != assignment:
        yield f"{name} names worker {assignment.worker}, which does not name it"
    elif holder.spec.kind is not HOLDERS.get(partition.phase):
        yield f"{name} is {partition.phase} by {holder.spec.kind} worker {assignment.worker}"


def _tally_violations(job: "LiveJob") -> Iterator[str]:
    record, counts = job.record, job.counts
    right = (
        counts.total == record.spec.total_partitions
        and counts.get("done", 0) == record.done
        and counts.get("failed", 0) == record.failed
        and counts.get("cancelled", 0) == record.cancelled
    )
    if job.whole:
        right = right and tally(job.partitions) == {name: n for name, n in counts.items() if n}
    else:
        right = right and not (counts.get(HELD) or counts.get("synthesizing") or counts.get("gpu"))
    if not right:
        yield f"job {record.spec.job_id} miscounts its partitions"


def _budget_violations(snapshot: "Snapshot") -> Iterator[str]:
    summed = Counts(snapshot.counts).places
    for place in summed.keys() | snapshot.held_bytes.keys():
        if summed.get(place, 0) != snapshot.held_bytes.get(place, 0):
            yield f"{place} miscounts the bytes it holds"
