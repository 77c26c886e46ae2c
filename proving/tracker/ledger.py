"""How the store writes: each change runs the transition table inside one compare-and-set transaction."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import redis

from proving.tracker import answers
from proving.tracker import events as e
from proving.tracker.budget import Room
from proving.tracker.effects import View
from proving.tracker.keys import Keys
from proving.tracker.outcomes import STALE, Claimed, Lost, Refusal, Refused, Registered, Stopping
from proving.tracker.reading import Reader
from proving.tracker.records import (
    JobRecord,
    JobSpec,
    JobState,
    PartitionRecord,
    PartitionStart,
    Phase,
    Timeline,
    WorkerKind,
    WorkerRecord,
    WorkerSpec,
)
from proving.tracker.transaction import Transaction, run
from proving.tracker.transitions import (
    Change,
    cancel_waiting,
    stop_job,
    transition,
    transition_job,
    transition_worker,
)

Outcome = TypeVar("Outcome")

ACTS = frozenset({"synthesized", "hand_off", "finish", "fail", "release", "heartbeat"})
"""Calls of somebody who holds, or thinks he holds, an assignment: late ones are counted as stale writes."""


@dataclass(frozen=True, slots=True)
class Limits:
    """See `Store.__init__`."""

    lease_seconds: float
    assembly_seconds: float
    host_budget_bytes: int
    synthesis_slots: int
    keep_finished_seconds: float
    forget_after_seconds: float


class Ledger:
    """The mechanism below `Store`: transactions, and the counting of refusals.

    `conflicts` counts the transactions of this process that somebody disturbed and that were tried again.
    """

    def __init__(self, client: redis.Redis, keys: Keys, limits: Limits) -> None:
        self.client = client
        self.keys = keys
        self.limits = limits
        self.reader = Reader(client, keys)
        self.conflicts = 0

    def run(self, operation: str, body: Callable[[Transaction], Outcome | Refused]) -> Outcome | Refused:
        """One transaction; a refusal is counted by operation and reason."""
        outcome = run(self.client, self.keys, body, disturbed=self._conflict)
        if outcome is None:
            outcome = Refused(operation, Refusal.CONTENDED)
        if isinstance(outcome, Refused):
            self._count(outcome)
        return outcome

    def claim(self, operation: str, job_id: str, index: int, event: e.Claim) -> Claimed | Refused:
        def body(tx: Transaction) -> Claimed | Refused:
            job, partition, worker = tx.records(job_id, index, event.worker)
            if job is None or partition is None:
                return Refused(operation, Refusal.UNKNOWN)
            now = tx.now()
            kind = e.CLAIMANT_KIND[type(event)]
            newcomer = worker is None and kind is not WorkerKind.DEVICE
            if newcomer:
                worker = _newcomer(event.worker, kind, now)
            view = View(job, partition, worker, tx.epoch(now), self._room(tx, job, worker, event))
            change = transition(view, event, now)
            if isinstance(change, Refusal):
                return Refused(operation, change)
            self._save(tx, view, change, change.job, now, newcomer=newcomer)
            tx.save_epoch(change.epoch)
            tx.commit()
            return answers.claimed(view, change, change.job)

        return self.run(operation, body)

    def act(
        self, operation: str, event: e.Act, answer: Callable[[View, Change, JobRecord], Outcome]
    ) -> Outcome | Refused:
        who = event.assignment

        def body(tx: Transaction) -> Outcome | Refused:
            job, partition, worker = tx.records(who.job, who.partition, who.worker)
            if job is None or partition is None:
                return Refused(operation, Refusal.UNKNOWN)
            now = tx.now()
            view = View(job, partition, worker)
            change = transition(view, event, now)
            if isinstance(change, Refusal):
                return Refused(operation, change)
            after = change.job
            siblings: list[PartitionRecord] = []
            cancelled: list[PartitionRecord] = []
            if job.state is JobState.RUNNING and after.state is JobState.CANCELLING:
                siblings = tx.partitions(job, but=who.partition)
                after, cancelled = cancel_waiting(after, siblings, now)
            self._save(tx, view, change, after, now)
            _save_siblings(tx, siblings, cancelled, after, now)
            tx.commit()
            return answer(view, change, after)

        return self.run(operation, body)

    def stop_job(
        self, operation: str, job_id: str, event: e.Stop, rejected: int | None = None
    ) -> Stopping | Refused:
        def body(tx: Transaction) -> Stopping | Refused:
            job = tx.job(job_id)
            if job is None:
                return Refused(operation, Refusal.UNKNOWN)
            partitions = tx.partitions(job)
            now = tx.now()
            stopped = stop_job(job, partitions, event, now, rejected)
            if isinstance(stopped, Refusal):
                return Refused(operation, stopped)
            after, cancelled = stopped
            tx.save_job(job, after)
            _save_siblings(tx, partitions, cancelled, after, now)
            tx.commit()
            return Stopping(after.state, after.running)

        return self.run(operation, body)

    def move_job(
        self, operation: str, job_id: str, event: e.JobEvent, answer: Callable[[JobRecord], Outcome]
    ) -> Outcome | Refused:
        def body(tx: Transaction) -> Outcome | Refused:
            job = tx.job(job_id)
            if job is None:
                return Refused(operation, Refusal.UNKNOWN)
            after = transition_job(job, event, tx.now())
            if isinstance(after, Refusal):
                return Refused(operation, after)
            tx.save_job(job, after)
            tx.commit()
            return answer(after)

        return self.run(operation, body)

    def change_worker(
        self,
        operation: str,
        name: str,
        change: Callable[[WorkerRecord, float], WorkerRecord | Refusal | None],
        answer: Callable[[WorkerRecord], Outcome],
    ) -> Outcome | Refused:
        """Write what `change` makes of a registered worker; None takes it out of the live state."""

        def body(tx: Transaction) -> Outcome | Refused:
            worker = tx.worker(name)
            if worker is None:
                return Refused(operation, Refusal.UNKNOWN)
            after = change(worker, tx.now())
            if isinstance(after, Refusal):
                return Refused(operation, after)
            if after is None:
                tx.delete_worker(name)
            else:
                tx.save_worker(after)
            tx.commit()
            return answer(after or worker)

        return self.run(operation, body)

    def register(self, spec: WorkerSpec, lost: tuple[Lost, ...]) -> Registered | Refused:
        def body(tx: Transaction) -> Registered | Refused:
            old = tx.worker(spec.name)
            if old is not None and same_life(old.spec, spec):
                return Registered(old.worker_id, lost)
            number = tx.worker_id(spec.name) if spec.kind is WorkerKind.DEVICE else -1
            new = transition_worker(old, e.Register(spec, number), tx.now())
            if isinstance(new, Refusal) or new is None:
                return Refused("register_worker", new or Refusal.UNKNOWN)
            tx.save_worker(new, new=True)
            tx.commit()
            return Registered(number, lost)

        return self.run("register_worker", body)

    def _room(self, tx: Transaction, job: JobRecord, worker: WorkerRecord | None, event: e.Claim) -> Room:
        budget = self.limits.host_budget_bytes
        if not budget or worker is None or not isinstance(event, e.ClaimSynthesis):
            return Room()
        return Room(budget, tx.held_bytes(worker.spec.host) if job.spec.host_bytes else 0)

    def _save(
        self,
        tx: Transaction,
        view: View,
        change: Change,
        job: JobRecord,
        now: float,
        *,
        newcomer: bool = False,
    ) -> None:
        if job != view.job:
            tx.save_job(view.job, job)
        tx.save_partition(view.partition, change.partition, job, now)
        if change.worker is not None and (newcomer or change.worker != view.worker):
            tx.save_worker(change.worker, new=newcomer)
        if change.spell is not None:
            tx.save_spell(change.spell)

    def _conflict(self) -> None:
        self.conflicts += 1

    def _count(self, refused: Refused) -> None:
        pipe = self.client.pipeline(transaction=True)
        pipe.hincrby(self.keys.refusals, f"{refused.operation}:{refused.reason}", 1)
        if refused.operation in ACTS and refused.reason in STALE:
            pipe.hincrby(self.keys.stale, refused.operation, 1)
            pipe.incr(self.keys.rev)
        pipe.execute()


def open_records(
    spec: JobSpec, starts: Sequence[PartitionStart], now: float
) -> tuple[JobRecord, list[PartitionRecord]]:
    """The records of a job that is opened: every partition pending unless `starts` says otherwise."""
    given = {start.index: start for start in starts}
    records = []
    for index in range(spec.total_partitions):
        start = given.get(index, PartitionStart(index))
        if start.phase not in {Phase.PENDING, Phase.DONE}:
            raise ValueError(f"partition {index} cannot be opened as {start.phase}")
        ended = now if start.phase is Phase.DONE else None
        line = Timeline(queued_at=now, finished_at=ended)
        most = max(spec.max_attempts, start.attempt)
        records.append(
            PartitionRecord(spec.job_id, index, most, start.phase, attempt=start.attempt, timeline=line)
        )
    done = sum(record.phase is Phase.DONE for record in records)
    return JobRecord(spec, opened_at=now, done=done), records


def same_life(old: WorkerSpec, new: WorkerSpec) -> bool:
    return (old.pid, old.incarnation) == (new.pid, new.incarnation)


def _newcomer(name: str, kind: WorkerKind, now: float) -> WorkerRecord:
    spec = WorkerSpec(name, kind, host=name.rpartition("@")[2])
    return WorkerRecord(spec, -1, seen_at=now, idle_since=now)


def _save_siblings(
    tx: Transaction,
    before: Sequence[PartitionRecord],
    after: Sequence[PartitionRecord],
    job: JobRecord,
    now: float,
) -> None:
    known = {record.index: record for record in before}
    for record in after:
        tx.save_partition(known[record.index], record, job, now)
