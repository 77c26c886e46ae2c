"""One atomic reading of all live state, and whether it agrees with itself."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from proving.tracker import codec, document
from proving.tracker.ledger import Ledger, Limits
from proving.tracker.records import Assignment, JobRecord, PartitionRecord, Phase, Spell, WorkerRecord

READ = """#!lua flags=no-writes
local prefix = ARGV[1]
local jobs = {}
for _, id in ipairs(redis.call('SMEMBERS', KEYS[1])) do
    local job = redis.call('GET', prefix .. 'job:' .. id)
    if job then
        local count = cjson.decode(job).spec.total_partitions
        local partitions = {}
        for first = 0, count - 1, 1000 do
            local names = {}
            for index = first, math.min(first + 999, count - 1) do
                names[#names + 1] = prefix .. 'partition:' .. id .. ':' .. index
            end
            for _, partition in ipairs(redis.call('MGET', unpack(names))) do
                partitions[#partitions + 1] = partition
            end
        end
        jobs[#jobs + 1] = {job, partitions}
    end
end
local workers = {}
for _, name in ipairs(redis.call('SMEMBERS', KEYS[2])) do
    local worker = redis.call('GET', prefix .. 'worker:' .. name)
    if worker then
        workers[#workers + 1] = {worker, redis.call('LRANGE', prefix .. 'recent:' .. name, 0, -1)}
    end
end
return {
    redis.call('TIME'), redis.call('GET', KEYS[3]), redis.call('GET', KEYS[4]), jobs, workers,
    redis.call('HGETALL', KEYS[5]), redis.call('HGETALL', KEYS[6]), redis.call('HGETALL', KEYS[7]),
}
"""

_HELD_PHASES = {Phase.SYNTHESIZING, Phase.GPU}


@dataclass(frozen=True)
class LiveJob:
    record: JobRecord
    partitions: tuple[PartitionRecord, ...]


@dataclass(frozen=True)
class LiveWorker:
    record: WorkerRecord
    recent: tuple[Spell, ...]


@dataclass(frozen=True)
class Snapshot:
    """Everything live at one instant of the server's clock. `rev` is its version, fit for an ETag."""

    rev: int
    generated_at: float
    started_at: float | None
    jobs: tuple[LiveJob, ...]
    workers: tuple[LiveWorker, ...]
    counters: Mapping[str, int]
    stale_writes: Mapping[str, int]
    held_bytes: Mapping[str, int]
    limits: Limits

    @property
    def consistent(self) -> bool:
        """Whether workers, partitions, tallies and budgets all tell the same story."""
        return not self.violations

    @cached_property
    def violations(self) -> tuple[str, ...]:
        """Each contradiction in words; none in a sound system."""
        return tuple(_violations(self))

    @cached_property
    def held(self) -> Mapping[Assignment, PartitionRecord]:
        """The partitions that somebody works on."""
        return {p.assignment: p for job in self.jobs for p in job.partitions if p.assignment}

    def document(self, jobs: Collection[str] | None = None) -> dict[str, Any]:
        """The status document, a superset of cuzk's, ready for json.dumps; `jobs` narrows the pipelines."""
        return document.build(self, jobs)


def read_snapshot(ledger: Ledger) -> Snapshot:
    keys = ledger.keys
    names = [keys.jobs, keys.workers, keys.rev, keys.started, keys.counters, keys.stale, keys.held]
    read = ledger.client.register_script(READ)
    clock, rev, started, jobs, workers, counters, stale, held = read(keys=names, args=[keys.prefix])
    return Snapshot(
        rev=int(rev or 0),
        generated_at=int(clock[0]) + int(clock[1]) / 1e6,
        started_at=float(started) if started else None,
        jobs=tuple(sorted((_live_job(*raw) for raw in jobs), key=_job_order)),
        workers=tuple(sorted((_live_worker(*raw) for raw in workers), key=_worker_order)),
        counters=_numbers(counters),
        stale_writes=_numbers(stale),
        held_bytes=_numbers(held),
        limits=ledger.limits,
    )


def _live_job(job: bytes, partitions: list[bytes | None]) -> LiveJob:
    return LiveJob(codec.load_job(job), tuple(codec.load_partition(data) for data in partitions if data))


def _live_worker(worker: bytes, recent: list[bytes]) -> LiveWorker:
    return LiveWorker(codec.load_worker(worker), tuple(codec.load_spell(data) for data in recent))


def _job_order(job: LiveJob) -> tuple[int, float, str]:
    spec = job.record.spec
    return -spec.priority, spec.submitted_at, spec.job_id


def _worker_order(worker: LiveWorker) -> tuple[str, int, str]:
    record = worker.record
    return record.spec.kind, record.worker_id, record.spec.name


def _numbers(flat: list[bytes]) -> dict[str, int]:
    names, values = flat[::2], flat[1::2]
    return {name.decode(): int(value) for name, value in sorted(zip(names, values, strict=True))}


def _violations(snapshot: Snapshot) -> Iterator[str]:
    workers = {worker.record.spec.name: worker.record for worker in snapshot.workers}
    partitions = {(p.job, p.index): p for job in snapshot.jobs for p in job.partitions}
    named = Counter(p.assignment.worker for p in partitions.values() if p.assignment)
    yield from (f"{count} partitions name worker {name}" for name, count in named.items() if count > 1)
    for partition in partitions.values():
        yield from _partition_violations(partition, workers)
    for worker in workers.values():
        if worker.assignment is None:
            continue
        held = partitions.get((worker.assignment.job, worker.assignment.partition))
        if held is None or held.assignment != worker.assignment:
            yield f"worker {worker.spec.name} names a partition that does not name it"
    for job in snapshot.jobs:
        yield from _tally_violations(job)
    yield from _budget_violations(snapshot)


def _partition_violations(partition: PartitionRecord, workers: Mapping[str, WorkerRecord]) -> Iterator[str]:
    name, assignment = f"partition {partition.index} of {partition.job}", partition.assignment
    if assignment is None:
        if partition.phase in _HELD_PHASES:
            yield f"{name} is {partition.phase} by nobody"
        return
    if partition.phase not in _HELD_PHASES | {Phase.FINALIZING}:
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


def _tally_violations(job: LiveJob) -> Iterator[str]:
    record = job.record
    phases = Counter(partition.phase for partition in job.partitions)
    counted = (
        len(job.partitions),
        phases[Phase.DONE],
        phases[Phase.FAILED],
        phases[Phase.CANCELLED],
        sum(partition.assignment is not None for partition in job.partitions),
    )
    if counted != (
        record.spec.total_partitions,
        record.done,
        record.failed,
        record.cancelled,
        record.running,
    ):
        yield f"job {record.spec.job_id} miscounts its partitions"


def _budget_violations(snapshot: Snapshot) -> Iterator[str]:
    summed: Counter[str] = Counter()
    for job in snapshot.jobs:
        for partition in job.partitions:
            summed[partition.host or ""] += partition.held_bytes
    for host in summed.keys() | snapshot.held_bytes.keys():
        if summed[host] != snapshot.held_bytes.get(host, 0):
            yield f"host {host} miscounts the bytes it holds"
