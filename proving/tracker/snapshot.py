"""One atomic reading of all live state, and whether it agrees with itself."""

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any, TypeVar

from proving.tracker import codec, consistency, document, faults
from proving.tracker.faults import DeviceFaults
from proving.tracker.ledger import Ledger, Limits
from proving.tracker.narrow import Viewer
from proving.tracker.records import Assignment, JobRecord, PartitionRecord, Spell, WorkerRecord
from proving.tracker.tally import Counts, summed

READ = """#!lua flags=no-writes
local prefix, limit = ARGV[1], tonumber(ARGV[2])
local wanted = {}
for place = 3, #ARGV do
    wanted[ARGV[place]] = true
end

local function read(command, names)
    local found = {}
    for first = 1, #names, 1000 do
        for _, value in ipairs(redis.call(command, unpack(names, first, math.min(first + 999, #names)))) do
            found[#found + 1] = value
        end
    end
    return found
end

local function joined(values)
    for place, value in ipairs(values) do
        values[place] = value or ''
    end
    return table.concat(values, '\\n')
end

local function named(kind, ids)
    local names = {}
    for place, id in ipairs(ids) do
        names[place] = prefix .. kind .. ':' .. id
    end
    return names
end

local ids = redis.call('ZRANGE', KEYS[1], 0, -1)
local jobs, changed = read('MGET', named('job', ids)), read('MGET', named('changed', ids))
-- many values are one string with lines: a client reads that a great deal faster
local tallies, totals, whole, left = {}, {}, {}, limit
for place, id in ipairs(ids) do
    tallies[place] = redis.call('HGETALL', prefix .. 'tally:' .. id)
    totals[place] = tonumber(string.match(jobs[place] or '', '"total_partitions":(%d+)') or 0)
    local held = false
    for field = 1, #tallies[place], 2 do
        held = held or (tallies[place][field] == 'held' and tonumber(tallies[place][field + 1]) > 0)
    end
    whole[place] = limit < 0 or held or wanted[id] or false
    if whole[place] then
        left = left - totals[place]
    end
end
for place = 1, #ids do
    if not whole[place] then
        left = left - totals[place]
        whole[place] = left >= 0
    end
end
local names, shown = {}, {}
for place, id in ipairs(ids) do
    shown[place] = whole[place] and totals[place] or -1
    for index = 0, shown[place] - 1 do
        names[#names + 1] = prefix .. 'partition:' .. id .. ':' .. index
    end
    tallies[place] = table.concat(tallies[place], '\\t')
end
local workers = {}
for _, name in ipairs(redis.call('SMEMBERS', KEYS[2])) do
    local worker = redis.call('GET', prefix .. 'worker:' .. name)
    if worker then
        workers[#workers + 1] = {worker, redis.call('LRANGE', prefix .. 'recent:' .. name, 0, -1)}
    end
end
return {
    redis.call('TIME'), redis.call('GET', KEYS[3]), redis.call('GET', KEYS[4]),
    joined(jobs), joined(tallies), joined(changed), joined(shown), joined(read('MGET', names)),
    workers, redis.call('ZCARD', KEYS[9]),
    redis.call('HGETALL', KEYS[5]), redis.call('HGETALL', KEYS[6]), redis.call('HGETALL', KEYS[7]),
    redis.call('HGETALL', KEYS[8]), redis.call('HGETALL', KEYS[10]), redis.call('HGETALL', KEYS[11]),
}
"""

REMEMBERED = 2048
"""Records that are kept decoded between two readings, by their bytes: most do not change from one to the
next."""

Record = TypeVar("Record")


def _remembered(load: Callable[[bytes], Record]) -> Callable[[bytes], Record]:
    return lru_cache(maxsize=REMEMBERED)(load)


_job = _remembered(codec.load_job)
_partition = _remembered(codec.load_partition)
_worker = _remembered(codec.load_worker)
_spell = _remembered(codec.load_spell)


@dataclass(frozen=True)
class LiveJob:
    """A job, how many of its partitions are where (see `tally`), and, where it is `whole`, all of them.

    `changed` is the version of the live state in which it changed last.
    """

    record: JobRecord
    counts: Counts
    changed: int
    whole: bool
    partitions: tuple[PartitionRecord, ...]


@dataclass(frozen=True)
class LiveWorker:
    record: WorkerRecord
    recent: tuple[Spell, ...]


@dataclass(frozen=True)
class Snapshot:
    """Everything live at one instant of the server's clock. `rev` is its version, fit for an ETag.

    `leases` is how many leases run; `pace` what was done so far, by circuit and phase; `device_faults` are by
    device (see `WorkerSpec.place`).
    """

    rev: int
    generated_at: float
    started_at: float | None
    jobs: tuple[LiveJob, ...]
    workers: tuple[LiveWorker, ...]
    leases: int
    counters: Mapping[str, int]
    stale_writes: Mapping[str, int]
    held_bytes: Mapping[str, int]
    pace: Mapping[str, float]
    limits: Limits
    device_faults: Mapping[str, DeviceFaults] = field(default_factory=dict)

    @property
    def consistent(self) -> bool:
        """Whether workers, partitions, tallies and budgets all tell the same story."""
        return not self.violations

    @cached_property
    def violations(self) -> tuple[str, ...]:
        """Each contradiction in words; none in a sound system."""
        return tuple(consistency.violations(self))

    @cached_property
    def counts(self) -> Counter[str]:
        """The tallies of all jobs together."""
        return summed([job.counts for job in self.jobs])

    @cached_property
    def held(self) -> Mapping[Assignment, PartitionRecord]:
        """The partitions that somebody works on."""
        return {p.assignment: p for job in self.jobs for p in job.partitions if p.assignment}

    def document(
        self,
        jobs: Collection[str] | None = None,
        since: int | None = None,
        viewer: Viewer | None = None,
    ) -> dict[str, Any]:
        """The status document, a superset of cuzk's, ready for json.dumps.

        `jobs` narrows the pipelines to these, `since` to those that changed after that version, `viewer` the
        whole to what one owner may see.
        """
        return document.build(self, jobs, since, viewer)


def read_snapshot(ledger: Ledger, limit: int | None = None, jobs: Collection[str] = ()) -> Snapshot:
    """One reading. Past `limit` partitions, jobs of which nobody works on anything come as counts alone,
    the last in line first; those named in `jobs` come whole all the same."""
    keys = ledger.keys
    names = [keys.jobs, keys.workers, keys.rev, keys.started, keys.counters, keys.stale, keys.held, keys.pace]
    read = ledger.client.register_script(READ)
    names += [keys.leases, keys.faults, keys.fault_notes]
    found = read(keys=names, args=[keys.prefix, -1 if limit is None else limit, *jobs])
    clock, rev, started, *lines, workers, leases, counters, stale, held, pace, fault_counts, notes = found
    return Snapshot(
        rev=int(rev or 0),
        generated_at=int(clock[0]) + int(clock[1]) / 1e6,
        started_at=float(started) if started else None,
        jobs=tuple(_live_jobs(*(line.split(b"\n") if line else [] for line in lines))),
        workers=tuple(sorted((_live_worker(*raw) for raw in workers), key=_worker_order)),
        leases=int(leases),
        counters=_numbers(counters),
        stale_writes=_numbers(stale),
        held_bytes=_numbers(held),
        pace={name.decode(): float(value) for name, value in zip(pace[::2], pace[1::2], strict=True)},
        limits=ledger.limits,
        device_faults=faults.read(_pairs(fault_counts), _pairs(notes)),
    )


def _live_jobs(
    jobs: list[bytes], tallies: list[bytes], changed: list[bytes], shown: list[bytes], partitions: list[bytes]
) -> Iterator[LiveJob]:
    """`shown` says how many of the partitions belong to each job, -1 where it comes as counts."""
    start = 0
    for job, counts, version, size in zip(jobs, tallies, changed, shown, strict=True):
        end = start + max(0, int(size))
        if job:
            read = tuple(_partition(data) for data in partitions[start:end] if data)
            yield LiveJob(_job(job), _counts(counts), int(version or 0), int(size) >= 0, read)
        start = end


@lru_cache(maxsize=REMEMBERED)
def _counts(line: bytes) -> Counts:
    return Counts(_numbers(line.split(b"\t") if line else []))


def _live_worker(worker: bytes, recent: list[bytes]) -> LiveWorker:
    return LiveWorker(_worker(worker), tuple(_spell(data) for data in recent))


def _worker_order(worker: LiveWorker) -> tuple[str, int, str]:
    record = worker.record
    return record.spec.kind, record.worker_id, record.spec.name


def _pairs(flat: list[bytes]) -> dict[bytes, bytes]:
    return dict(zip(flat[::2], flat[1::2], strict=True))


def _numbers(flat: list[bytes]) -> dict[str, int]:
    names, values = flat[::2], flat[1::2]
    return {name.decode(): int(value) for name, value in sorted(zip(names, values, strict=True))}
