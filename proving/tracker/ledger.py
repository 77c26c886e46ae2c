"""How the store writes: each change runs the transition table inside one compare-and-set transaction."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import redis

from proving.tracker import answers
from proving.tracker import events as e
from proving.tracker.budget import Room
from proving.tracker.effects import View
from proving.tracker.keys import Keys, member, parse_member
from proving.tracker.outcomes import (
    STALE,
    Claimed,
    Lost,
    Refusal,
    Refused,
    Registered,
    Reordered,
    Stopping,
)
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

LONGEST_LINE = 256
"""Whoever names a partition behind more than so many others has to wait."""

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

    def run(
        self, operation: str, body: Callable[[Transaction], Outcome | Refused], *, counted: bool = True
    ) -> Outcome | Refused:
        """One transaction; a refusal is counted by operation and reason."""
        outcome = run(self.client, self.keys, body, disturbed=self._conflict)
        if outcome is None:
            outcome = Refused(operation, Refusal.CONTENDED)
        if isinstance(outcome, Refused) and counted:
            self._count(outcome)
        return outcome

    def claim(
        self, operation: str, job_id: str, index: int, event: e.Claim, *, counted: bool = True
    ) -> Claimed | Refused:
        """Give a waiting partition to a worker, under an epoch that nobody had before."""

        def body(tx: Transaction) -> Claimed | Refused:
            job, partition, worker = tx.records(job_id, index, event.worker)
            if job is None or partition is None:
                return Refused(operation, Refusal.UNKNOWN)
            now = tx.now()
            kind = e.CLAIMANT_KIND[type(event)]
            newcomer = worker is None and kind is not WorkerKind.DEVICE
            if newcomer:
                worker = _newcomer(event.worker, kind, now)
            view = View(job, partition, worker, room=self._room(tx, job, partition, worker, event))
            change = transition(view, event, now)
            if isinstance(change, Refusal):
                return Refused(operation, change)
            self._save(tx, view, change, change.job, now, newcomer=newcomer)
            tx.count_claim()
            tx.commit()
            return answers.claimed(view, change, change.job)

        return self.run(operation, body, counted=counted)

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
            shown = not isinstance(event, e.Heartbeat) or self._worth_showing(worker, now)
            self._save(tx, view, change, after, now, shown=shown)
            _save_siblings(tx, siblings, cancelled, after, now)
            tx.commit(shown=shown)
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
            changed = {record.index: record for record in cancelled}
            running = sum(changed.get(record.index, record).assignment is not None for record in partitions)
            return Stopping(after.state, running)

        outcome = self.run(operation, body)
        if isinstance(outcome, Stopping) and outcome.running:
            self.client.publish(self.keys.stops, job_id)
        return outcome

    def reorder_job(self, operation: str, job_id: str, event: e.Reprioritize) -> Reordered | Refused:
        """Change a job's priority, and the places of what waits of it, in one step."""

        def body(tx: Transaction) -> Reordered | Refused:
            job = tx.job(job_id)
            if job is None:
                return Refused(operation, Refusal.UNKNOWN)
            after = transition_job(job, event, tx.now())
            if isinstance(after, Refusal):
                return Refused(operation, after)
            waiting = [record for record in tx.partitions(job) if record.waiting]
            if after != job:
                tx.save_job(job, after)
                tx.save_places(after, waiting)
                tx.commit()
            return Reordered(after.spec.priority, len(waiting))

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
        *,
        counted: bool = True,
    ) -> Outcome | Refused:
        """Write what `change` makes of a registered worker; None takes it out of the live state.

        A mere sign of life makes a new version of the snapshot once a lease period, not more often.
        """

        def body(tx: Transaction) -> Outcome | Refused:
            worker = tx.worker(name)
            if worker is None:
                return Refused(operation, Refusal.UNKNOWN)
            now = tx.now()
            after = change(worker, now)
            if isinstance(after, Refusal):
                return Refused(operation, after)
            shown = after is None or looks(after) != looks(worker) or self._worth_showing(worker, now)
            if after is None:
                tx.delete_worker(name)
            else:
                tx.save_worker(replace(after, shown_at=now if shown else worker.shown_at))
            tx.commit(shown=shown)
            return answer(after or worker)

        return self.run(operation, body, counted=counted)

    def register(self, spec: WorkerSpec, lost: tuple[Lost, ...]) -> Registered | Refused:
        def body(tx: Transaction) -> Registered | Refused:
            old = tx.worker(spec.name)
            if old is not None and same_life(old.spec, spec):
                return Registered(old.worker_id, lost)
            number = tx.worker_id(spec.name) if spec.kind is WorkerKind.DEVICE else -1
            new = transition_worker(old, e.Register(spec, number), tx.now())
            if isinstance(new, Refusal) or new is None:
                return Refused("register_worker", new or Refusal.UNKNOWN)
            tx.save_worker(replace(new, shown_at=new.seen_at), new=True)
            tx.commit()
            return Registered(number, lost)

        return self.run("register_worker", body)

    def _room(
        self,
        tx: Transaction,
        job: JobRecord,
        partition: PartitionRecord,
        worker: WorkerRecord | None,
        event: e.Claim,
    ) -> Room:
        if worker is None or not partition.waiting:
            return Room()
        if isinstance(event, e.ClaimSynthesis):
            budget, needed, place = self.limits.host_budget_bytes, job.spec.host_bytes, worker.spec.host
        elif isinstance(event, e.ClaimDevice):
            budget, needed, place = worker.spec.memory_bytes, job.spec.device_bytes, worker.spec.place
        else:
            return Room()
        if not budget or not needed:
            return Room()
        return Room(budget, tx.held_bytes(place), _bytes_ahead(tx, partition, budget))

    def _worth_showing(self, worker: WorkerRecord | None, now: float) -> bool:
        """Whether a sign of life is the worker's first in this period of a lease's length.

        The periods are the same for all workers: their signs make new versions at the turn of a period, and
        in the rest of it a reader finds nothing changed.
        """
        period = self.limits.lease_seconds
        return worker is None or not period or worker.shown_at // period < now // period

    def _save(
        self,
        tx: Transaction,
        view: View,
        change: Change,
        job: JobRecord,
        now: float,
        *,
        newcomer: bool = False,
        shown: bool = True,
    ) -> None:
        if job != view.job:
            tx.save_job(view.job, job)
        tx.save_partition(view.partition, change.partition, job, now)
        if change.worker is not None and (newcomer or change.worker != view.worker):
            worker = replace(change.worker, shown_at=now) if shown else change.worker
            tx.save_worker(worker, new=newcomer)
        if change.spell is not None:
            tx.save_spell(change.spell)
        if took := _seconds_of(view.partition, change.partition):
            tx.save_pace(job.spec.circuit_id, view.partition.phase, took)

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
        if start.phase is not Phase.PENDING and not start.phase.terminal:
            raise ValueError(f"partition {index} cannot be opened as {start.phase}")
        line = Timeline(queued_at=now, finished_at=now if start.phase.terminal else None)
        most = max(spec.max_attempts, start.max_attempts, start.attempt)
        record = PartitionRecord(spec.job_id, index, most, start.phase, attempt=start.attempt, timeline=line)
        records.append(replace(record, error=start.error))
    ended = Counter(record.phase for record in records)
    job = JobRecord(
        spec,
        opened_at=now,
        done=ended[Phase.DONE],
        failed=ended[Phase.FAILED],
        cancelled=ended[Phase.CANCELLED],
    )
    return job, records


def same_life(old: WorkerSpec, new: WorkerSpec) -> bool:
    return (old.pid, old.incarnation) == (new.pid, new.incarnation)


def looks(worker: WorkerRecord) -> tuple[object, ...]:
    """What of a worker a reader would call a change; not when it was last seen or a key last used."""
    keys = [(key.circuit_id, key.kind, key.bytes, key.in_use) for key in worker.resident_keys]
    return worker.spec, worker.assignment, worker.draining, worker.memory, keys


def _bytes_ahead(tx: Transaction, partition: PartitionRecord, budget: int) -> int:
    """What those want who wait before a partition, and whom the budget could ever hold."""
    before = tx.line_before(partition.phase, member(partition.job, partition.index), LONGEST_LINE)
    if before is None:
        return budget
    jobs = [parse_member(name)[0] for name in before]
    wanted = tx.wanted_bytes(sorted(set(jobs)), partition.phase)
    return sum(wanted.get(job_id, 0) for job_id in jobs if wanted.get(job_id, 0) <= budget)


def _seconds_of(before: PartitionRecord, after: PartitionRecord) -> float | None:
    """How long the phase took that a partition has just left forward, by its worker's own doing."""
    line = after.timeline
    match before.phase, after.phase:
        case Phase.SYNTHESIZING, Phase.SYNTH_DONE:
            return (line.synth_ended_at or 0.0) - (line.synth_started_at or 0.0)
        case Phase.GPU, Phase.FINALIZING:
            return (line.gpu_ended_at or 0.0) - (line.gpu_started_at or 0.0)
        case Phase.FINALIZING, Phase.DONE:
            return (line.finished_at or 0.0) - (line.gpu_ended_at or 0.0)
    return None


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
