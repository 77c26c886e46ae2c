"""Compare-and-set on WATCH / MULTI / EXEC: read, decide, write only if nothing that was read has moved."""

import random
import time
from collections.abc import Callable
from typing import Any, TypeVar

import redis

from proving.tracker import codec
from proving.tracker.budget import held_changes
from proving.tracker.keys import WAITING_PHASES, Keys, member
from proving.tracker.records import JobRecord, JobState, PartitionRecord, Spell, WorkerRecord

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

    def epoch(self, now: float) -> int:
        """The last epoch drawn. Where none is known the clock's milliseconds stand in, which lie above all
        that were drawn before a loss of Redis."""
        (data,) = self._read(self._keys.epoch)
        return int(data) if data else int(now * 1000)

    def held_bytes(self, host: str) -> int:
        self._pipe.watch(self._keys.held)
        return int(self._pipe.hget(self._keys.held, host) or 0)

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
        pipe.set(keys.job(job_id), codec.dump(after))
        if before is None:
            pipe.sadd(keys.jobs, job_id)
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
        pipe.set(keys.partition(after.job, after.index), codec.dump(after))
        _index(pipe, keys.leases, name, after.lease_expires_at)
        if before is None or (before.waiting, before.phase) != (after.waiting, after.phase):
            for phase in WAITING_PHASES:
                waits = after.waiting and after.phase is phase
                _index(pipe, keys.waiting(phase), name, _order(job) if waits else None)
        for host, change in held_changes(before, after).items():
            pipe.hincrby(keys.held, host, change)
        if before is not None and (before.phase, before.attempt) != (after.phase, after.attempt):
            self._tell(before, after, now)

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

    def save_epoch(self, epoch: int) -> None:
        self._write().set(self._keys.epoch, epoch)

    def delete_job(self, job: JobRecord) -> None:
        pipe, keys, job_id = self._write(), self._keys, job.spec.job_id
        names = [keys.partition(job_id, index) for index in range(job.spec.total_partitions)]
        pipe.delete(keys.job(job_id), *names)
        pipe.srem(keys.jobs, job_id)
        for index in (keys.deadlines, keys.assemblies, keys.ended):
            pipe.zrem(index, job_id)

    def delete_worker(self, name: str) -> None:
        pipe = self._write()
        pipe.delete(self._keys.worker(name), self._keys.recent(name))
        pipe.srem(self._keys.workers, name)

    def commit(self) -> None:
        self._write().incr(self._keys.rev)
        self._pipe.execute()

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


def _may_expire(job: JobRecord) -> bool:
    return job.state is JobState.RUNNING and job.remaining > 0
