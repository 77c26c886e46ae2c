"""Compare-and-set on WATCH / MULTI / EXEC: read, decide, write only if nothing that was read has moved."""

import random
import time
from collections.abc import Callable, Collection, Sequence
from typing import Any, TypeVar

import redis

from proving.tracker import codec
from proving.tracker.budget import held_changes
from proving.tracker.keys import WAITING_PHASES, Keys, member
from proving.tracker.records import JobRecord, JobState, PartitionRecord, Phase, Spell, WorkerRecord
from proving.tracker.tally import moved, tally

Outcome = TypeVar("Outcome")

RECENT_SPELLS = 256
EVENTS_KEPT = 10_000
_PRIORITY_STEP = 2**36
"""Seconds between two priorities in the order of what waits: more than any job can be older than another."""


class Transaction:
    """One optimistic attempt. Whatever is read is watched; writes wait for `commit`, which raises
    `redis.WatchError` and writes nothing when something that was read has moved."""

    def __init__(self, pipe: Any, keys: Keys) -> None:
        self._pipe = pipe
        self._keys = keys
        self._writing = False
        self._moved: set[str] = set()

    # reading

    def now(self) -> float:
        """The server's clock."""
        seconds, micros = self._pipe.time()
        return float(seconds) + float(micros) / 1e6

    def records(
        self, job_id: str, index: int, worker: str
    ) -> tuple[JobRecord | None, PartitionRecord | None, WorkerRecord | None]:
        keys = self._keys
        job, partition, who = self._read(keys.job(job_id), keys.partition(job_id, index), keys.worker(worker))
        return (
            codec.load_job(job) if job else None,
            codec.load_partition(partition) if partition else None,
            codec.load_worker(who) if who else None,
        )

    def job(self, job_id: str) -> JobRecord | None:
        (data,) = self._read(self._keys.job(job_id))
        return codec.load_job(data) if data else None

    def worker(self, name: str) -> WorkerRecord | None:
        (data,) = self._read(self._keys.worker(name))
        return codec.load_worker(data) if data else None

    def partitions(self, job: JobRecord, but: int | None = None) -> list[PartitionRecord]:
        indexes = [index for index in range(job.spec.total_partitions) if index != but]
        if not indexes:
            return []
        found = self._read(*(self._keys.partition(job.spec.job_id, index) for index in indexes))
        return [codec.load_partition(data) for data in found if data]

    def held_bytes(self, place: str) -> int:
        self._pipe.watch(self._keys.held)
        return int(self._pipe.hget(self._keys.held, place) or 0)

    def line_before(self, phase: Phase, name: str, longest: int) -> list[str] | None:
        """Who waits before a member of a line, the first first; None where more than `longest` do.

        Not watched: whoever comes later to the head of the line did come later.
        """
        key = self._keys.waiting(phase)
        place = int(self._pipe.zrank(key, name) or 0)
        if place > longest:
            return None
        return [raw.decode() for raw in self._pipe.zrange(key, 0, place - 1)] if place else []

    def tally(self, job_id: str) -> dict[str, int]:
        key = self._keys.tally(job_id)
        self._pipe.watch(key)
        return {name.decode(): int(n) for name, n in self._pipe.hgetall(key).items() if int(n)}

    def all_held(self) -> dict[str, int]:
        """Bytes held, by place."""
        self._pipe.watch(self._keys.held)
        return {place.decode(): int(held) for place, held in self._pipe.hgetall(self._keys.held).items()}

    def job_ids(self) -> list[str]:
        self._pipe.watch(self._keys.jobs)
        return [raw.decode() for raw in self._pipe.zrange(self._keys.jobs, 0, -1)]

    def well_placed(self, records: Sequence[PartitionRecord]) -> bool:
        """Whether each stands in the line where it waits and in no other, and has a lease if it is held."""
        return all(self._well_placed(record) for record in records)

    def _well_placed(self, record: PartitionRecord) -> bool:
        pipe, keys, name = self._pipe, self._keys, member(record.job, record.index)
        for phase in WAITING_PHASES:
            if (pipe.zscore(keys.waiting(phase), name) is not None) != (_line_of(record) is phase):
                return False
        lease: float | None = pipe.zscore(keys.leases, name)
        return lease == record.lease_expires_at

    def wanted_bytes(self, job_ids: Collection[str], phase: Phase) -> dict[str, int]:
        """What a partition of each of these jobs wants to hold when it leaves the line of a phase."""
        found = self._pipe.mget([self._keys.job(job_id) for job_id in job_ids]) if job_ids else []
        specs = [codec.load_job(data).spec for data in found if data]
        return {
            spec.job_id: spec.host_bytes if phase is Phase.PENDING else spec.device_bytes for spec in specs
        }

    def worker_id(self, name: str) -> int:
        """The number that this name has, or will have, among the device workers."""
        self._pipe.watch(self._keys.worker_ids)
        known = self._pipe.hget(self._keys.worker_ids, name)
        return int(known) if known is not None else int(self._pipe.hlen(self._keys.worker_ids))

    def _read(self, *keys: str) -> list[bytes | None]:
        self._pipe.watch(*keys)
        found: list[bytes | None] = self._pipe.mget(keys)
        return found

    # writing

    def save_job(self, before: JobRecord | None, after: JobRecord) -> None:
        pipe, keys, job_id = self._write(), self._keys, after.spec.job_id
        self._moved.add(job_id)
        pipe.set(keys.job(job_id), codec.dump(after))
        if before is None or _order(before) != _order(after):
            pipe.zadd(keys.jobs, {job_id: _order(after)})
        _index(pipe, keys.deadlines, job_id, after.spec.deadline if _may_expire(after) else None)
        _index(pipe, keys.assemblies, job_id, after.assembly_expires_at)
        if after.state.terminal and (before is None or not before.state.terminal):
            pipe.zadd(keys.ended, {job_id: after.ended_at})
            pipe.hincrby(keys.counters, f"{after.state}:{after.spec.proof_kind}", 1)

    def save_partition(
        self, before: PartitionRecord | None, after: PartitionRecord, job: JobRecord, now: float
    ) -> None:
        pipe, keys = self._write(), self._keys
        name = member(after.job, after.index)
        self._moved.add(after.job)
        pipe.set(keys.partition(after.job, after.index), codec.dump(after))
        if before is None or before.lease_expires_at != after.lease_expires_at:
            _index(pipe, keys.leases, name, after.lease_expires_at)
        old, new = _line_of(before), _line_of(after)
        if old is not None and old is not new:
            pipe.zrem(keys.waiting(old), name)
        if new is not None and new is not old:
            pipe.zadd(keys.waiting(new), {name: _order(job)})
        for place, change in held_changes(before, after).items():
            pipe.hincrby(keys.held, place, change)
        if before is None:
            return
        for field, change in moved(before, after).items():
            pipe.hincrby(keys.tally(after.job), field, change)
        if (before.phase, before.attempt) != (after.phase, after.attempt):
            self._tell(before, after, now)

    def save_places(self, job: JobRecord, waiting: Sequence[PartitionRecord]) -> None:
        """The places in their lines of partitions that wait, after their job's order has changed."""
        pipe = self._write()
        for record in waiting:
            pipe.zadd(self._keys.waiting(record.phase), {member(record.job, record.index): _order(job)})

    def save_tally(self, job_id: str, records: Sequence[PartitionRecord]) -> None:
        """Where the partitions of a fresh job start."""
        self._write().hset(self._keys.tally(job_id), mapping=tally(records))

    def replace_indexes(
        self, job: JobRecord, records: Sequence[PartitionRecord], counts: dict[str, int]
    ) -> None:
        """Tallies, lines and leases of a job as its records want them."""
        pipe, keys = self._write(), self._keys
        self.save_job(job, job)
        pipe.delete(keys.tally(job.spec.job_id))
        pipe.hset(keys.tally(job.spec.job_id), mapping=counts)
        for record in records:
            name = member(record.job, record.index)
            for phase in WAITING_PHASES:
                _index(pipe, keys.waiting(phase), name, _order(job) if _line_of(record) is phase else None)
            _index(pipe, keys.leases, name, record.lease_expires_at)

    def replace_held(self, sums: dict[str, int]) -> None:
        pipe = self._write()
        pipe.delete(self._keys.held)
        if sums:
            pipe.hset(self._keys.held, mapping=sums)

    def save_pace(self, circuit_id: str, phase: Phase, seconds: float) -> None:
        """How long a phase of a partition took, for those who ask when a job will be done."""
        pipe = self._write()
        pipe.hincrbyfloat(self._keys.pace, f"{circuit_id}:{phase}:seconds", max(0.0, seconds))
        pipe.hincrby(self._keys.pace, f"{circuit_id}:{phase}:count", 1)

    def save_worker(self, after: WorkerRecord, *, new: bool = False) -> None:
        pipe, keys, name = self._write(), self._keys, after.spec.name
        pipe.set(keys.worker(name), codec.dump(after))
        if new:
            pipe.sadd(keys.workers, name)
            if after.worker_id >= 0:
                pipe.hset(keys.worker_ids, name, after.worker_id)

    def save_spell(self, spell: Spell) -> None:
        pipe, key = self._write(), self._keys.recent(spell.worker)
        pipe.rpush(key, codec.dump(spell))
        pipe.ltrim(key, -RECENT_SPELLS, -1)

    def count_claim(self) -> None:
        self._write().incr(self._keys.claims)

    def delete_job(self, job: JobRecord) -> None:
        pipe, keys, job_id = self._write(), self._keys, job.spec.job_id
        names = [keys.partition(job_id, index) for index in range(job.spec.total_partitions)]
        pipe.delete(keys.job(job_id), keys.tally(job_id), keys.changed(job_id), *names)
        for index in (keys.jobs, keys.deadlines, keys.assemblies, keys.ended):
            pipe.zrem(index, job_id)

    def delete_worker(self, name: str) -> None:
        pipe = self._write()
        pipe.delete(self._keys.worker(name), self._keys.recent(name))
        pipe.srem(self._keys.workers, name)

    def commit(self, *, shown: bool = True) -> None:
        """Write. `shown`: whether a reader of the snapshot sees a difference, and so a new version."""
        pipe, keys = self._write(), self._keys
        if shown:
            pipe.incr(keys.rev)
            for job_id in self._moved:
                pipe.copy(keys.rev, keys.changed(job_id), replace=True)
        pipe.execute()

    def _write(self) -> Any:
        if not self._writing:
            self._pipe.multi()
            self._writing = True
        return self._pipe

    def _tell(self, before: PartitionRecord, after: PartitionRecord, now: float) -> None:
        holder = after.assignment or before.assignment
        self._pipe.xadd(
            self._keys.events,
            {
                "at": f"{now:.6f}",
                "job": after.job,
                "partition": after.index,
                "attempt": after.attempt,
                "from": str(before.phase),
                "to": str(after.phase),
                "worker": holder.worker if holder else "",
            },
            maxlen=EVENTS_KEPT,
            approximate=True,
        )


def run(
    client: redis.Redis,
    keys: Keys,
    body: Callable[[Transaction], Outcome],
    *,
    tries: int = 64,
    disturbed: Callable[[], None] = lambda: None,
) -> Outcome | None:
    """What `body` answers in the first attempt that was not disturbed, or None after `tries`.

    `body` may be called many times and must do nothing but read, decide, save and commit. Between attempts
    it waits for a random time that grows to 50 ms.
    """
    for attempt in range(tries):
        with client.pipeline(transaction=True) as pipe:
            try:
                return body(Transaction(pipe, keys))
            except redis.WatchError:
                disturbed()
        time.sleep(random.uniform(0, min(0.05, 0.0005 * 2 ** min(attempt, 8))))  # noqa: S311
    return None


def _index(pipe: Any, key: str, name: str, score: float | None) -> None:
    if score is None:
        pipe.zrem(key, name)
    else:
        pipe.zadd(key, {name: score})


def _order(job: JobRecord) -> float:
    """Priority first, then the age of the job; partitions of one job sort by their index."""
    return (4 - job.spec.priority) * _PRIORITY_STEP + job.spec.submitted_at


def _line_of(record: PartitionRecord | None) -> Phase | None:
    """The line in which a partition stands, if it waits."""
    return record.phase if record is not None and record.waiting else None


def _may_expire(job: JobRecord) -> bool:
    return job.state is JobState.RUNNING and job.remaining > 0
