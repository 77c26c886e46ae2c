"""Live state in Redis: every change is one compare-and-set transaction on the pure transition table."""

from collections.abc import Collection, Sequence
from dataclasses import replace

import redis

from proving.tracker import answers, faults
from proving.tracker import events as e
from proving.tracker.keys import Keys, parse_member
from proving.tracker.ledger import Ledger, Limits, open_records, same_life
from proving.tracker.line import take
from proving.tracker.outcomes import (
    Applied,
    Assembled,
    Beat,
    CancelRequested,
    Claimed,
    Completed,
    Failed,
    Finished,
    Forgotten,
    Lost,
    Opened,
    ReapResult,
    Refusal,
    Refused,
    Registered,
    Reordered,
    Retired,
    Retried,
    Seen,
    Stopped,
    Stopping,
    Waiting,
)
from proving.tracker.reaper import reap
from proving.tracker.records import (
    Assignment,
    DeviceMemory,
    Ending,
    JobRecord,
    JobSpec,
    JobState,
    PartitionRecord,
    PartitionStart,
    Phase,
    ResidentKey,
    WorkerRecord,
    WorkerSpec,
)
from proving.tracker.repair import Repaired, repair
from proving.tracker.snapshot import Snapshot, read_snapshot
from proving.tracker.transaction import Transaction
from proving.tracker.transitions import transition_job, transition_worker

LIVES = 3
"""How often a worker's slot may be taken back while it registers or leaves."""


class Store:
    """The one writer of live state.

    `client` is a `redis.Redis` with `decode_responses=False`. Every method is one transaction and answers
    with a typed outcome; only a server that cannot be reached raises (`redis.RedisError`).
    """

    def __init__(
        self,
        client: redis.Redis,
        deployment: str = "main",
        *,
        lease_seconds: float = 10.0,
        assembly_seconds: float = 60.0,
        host_budget_bytes: int = 0,
        synthesis_slots: int = 0,
        keep_finished_seconds: float = 30.0,
        forget_after_seconds: float = 120.0,
    ) -> None:
        """`host_budget_bytes` 0: no limit. A worker unseen for `forget_after_seconds` leaves the status."""
        limits = Limits(
            lease_seconds,
            assembly_seconds,
            host_budget_bytes,
            synthesis_slots,
            keep_finished_seconds,
            forget_after_seconds,
        )
        self.ledger = Ledger(client, Keys(deployment), limits)

    # jobs

    def open_job(self, spec: JobSpec, partitions: Sequence[PartitionStart] = ()) -> Opened | Refused:
        """Bring a job to life, every partition pending unless `partitions` says otherwise (rebuilding)."""

        def body(tx: Transaction) -> Opened | Refused:
            if tx.job(spec.job_id) is not None:
                return Refused("open_job", Refusal.ALREADY_OPEN)
            now = tx.now()
            job, records = open_records(spec, partitions, now)
            settled = transition_job(job, e.Settle(), now)
            job = job if isinstance(settled, Refusal) else settled
            tx.save_job(None, job)
            for record in records:
                tx.save_partition(None, record, job, now)
            tx.save_tally(spec.job_id, records)
            tx.commit()
            return Opened(spec.job_id)

        return self.ledger.run("open_job", body)

    def cancel_job(self, job_id: str, reason: str = "") -> Stopping | Refused:
        """Cancel what waits at once; what runs learns it by its next heartbeat."""
        return self.ledger.stop_job("cancel_job", job_id, e.Stop(Ending.CANCELLED, reason or None))

    def fail_job(self, job_id: str, partition: int | None, error: str) -> Stopping | Refused:
        """Stop the job as failed. A waiting `partition` is marked failed; the others as in `cancel_job`."""
        return self.ledger.stop_job("fail_job", job_id, e.Stop(Ending.FAILED, error), partition)

    def reprioritize_job(self, job_id: str, priority: int) -> Reordered | Refused:
        """Let the job stand elsewhere in the lines, at once; what is being worked on goes on. `priority` is
        1 (low) to 4 (critical)."""
        return self.ledger.reorder_job("reprioritize_job", job_id, e.Reprioritize(priority))

    def assemble(self, job_id: str) -> Assembled | Refused:
        """Exactly one caller gets Assembled: every partition is done and nobody assembles yet.

        If that caller is lost, `reap` reopens the job and answers Reopened.
        """

        def answer(job: JobRecord) -> Assembled:
            return Assembled(job_id, job.assembly_expires_at or 0.0)

        return self.ledger.move_job(
            "assemble", job_id, e.Assemble(self.ledger.limits.assembly_seconds), answer
        )

    def complete_job(self, job_id: str, outcome: JobState, error: str | None = None) -> Completed | Refused:
        """The end of an assembly: `done`, or `failed` with its reason."""

        def answer(job: JobRecord) -> Completed:
            return Completed(job.state)

        return self.ledger.move_job("complete_job", job_id, e.Complete(outcome, error), answer)

    def retire_job(self, job_id: str) -> Retired | Refused:
        """Take an ended job out of the live state. Refused (still_live) while it has not ended."""

        def body(tx: Transaction) -> Retired | Refused:
            job = tx.job(job_id)
            if job is None:
                return Refused("retire_job", Refusal.UNKNOWN)
            if not job.state.terminal:
                return Refused("retire_job", Refusal.STILL_LIVE)
            tx.delete_job(job)
            tx.commit()
            return Retired(job_id)

        return self.ledger.run("retire_job", body)

    # partitions

    def claim_synthesis(self, worker: str, job_id: str, index: int, attempt: int) -> Claimed | Refused:
        """pending -> synthesizing; reserves the job's host bytes on the worker's host.

        budget_full: wait and ask again. over_budget: it can never fit. A synthesis worker that never
        registered is registered by its first claim (host = what follows the last "@" of its name).
        """
        return self.ledger.claim(
            "claim_synthesis",
            job_id,
            index,
            e.ClaimSynthesis(worker, attempt, self.ledger.limits.lease_seconds),
        )

    def take_synthesis(self, worker: str) -> Claimed | Refused:
        """`claim_synthesis` of the first in line; see `line.take`."""
        lease = self.ledger.limits.lease_seconds
        return take(
            self.ledger,
            "claim_synthesis",
            Phase.PENDING,
            worker,
            lambda attempt: e.ClaimSynthesis(worker, attempt, lease),
        )

    def synthesized(self, assignment: Assignment) -> Applied | Stopped | Refused:
        """synthesizing -> synth_done; the evaluations are on the spool."""
        return self.ledger.act("synthesized", e.EndSynthesis(assignment), answers.moved)

    def claim_device(self, worker: str, job_id: str, index: int, attempt: int) -> Claimed | Refused:
        """synth_done -> gpu. The worker must have registered as a device worker."""
        return self.ledger.claim(
            "claim_device", job_id, index, e.ClaimDevice(worker, attempt, self.ledger.limits.lease_seconds)
        )

    def take_device(self, worker: str) -> Claimed | Refused:
        """`claim_device` of the first in line that this device can hold; see `line.take`."""
        lease = self.ledger.limits.lease_seconds
        return take(
            self.ledger,
            "claim_device",
            Phase.SYNTH_DONE,
            worker,
            lambda attempt: e.ClaimDevice(worker, attempt, lease),
        )

    def hand_off(self, assignment: Assignment) -> Applied | Stopped | Refused:
        """gpu -> finalizing: the worker is free, the evaluations' bytes go back, the sums are spooled."""
        return self.ledger.act("hand_off", e.HandOff(assignment), answers.moved)

    def claim_finalize(self, worker: str, job_id: str, index: int, attempt: int) -> Claimed | Refused:
        """A finalizer takes a partition that was handed off; it works under its own assignment."""
        return self.ledger.claim(
            "claim_finalize",
            job_id,
            index,
            e.ClaimFinalize(worker, attempt, self.ledger.limits.lease_seconds),
        )

    def finish(self, assignment: Assignment) -> Finished | Refused:
        """finalizing -> done, by the finalizer's assignment. True even while the job is being cancelled."""
        return self.ledger.act("finish", e.Finish(assignment), answers.finished)

    def fail(
        self, assignment: Assignment, error: str, *, retry: bool
    ) -> Retried | Failed | Stopped | Refused:
        """The phase went wrong. With `retry` and attempts left it waits again (a device phase for the device,
        any other for synthesis); else the partition has failed, and its siblings as `on_failure` says."""
        return self.ledger.act("fail", e.Fail(assignment, error, retry), answers.given_up)

    def release(self, assignment: Assignment) -> Retried | Failed | Stopped | Refused:
        """Hand back unfinished work (shutdown, or a requested cancel).

        The next attempt begins, yet none of `max_attempts` is spent, up to the job's `free_releases` times.
        """
        return self.ledger.act("release", e.Release(assignment), answers.given_up)

    def heartbeat(self, assignment: Assignment) -> Beat | CancelRequested | Refused:
        """Extend the lease. Refused means: this work is no longer yours, stop."""
        return self.ledger.act(
            "heartbeat", e.Heartbeat(assignment, self.ledger.limits.lease_seconds), answers.beaten
        )

    # workers

    def register_worker(self, spec: WorkerSpec) -> Registered | Refused:
        """A worker has started. What an earlier life of that name still held comes back in `lost`."""
        lost: list[Lost] = []
        registered: Registered | Refused = Refused("register_worker", Refusal.WORKER_BUSY)
        for _ in range(LIVES):
            old = self.worker(spec.name)
            if old is not None and old.assignment is not None and not same_life(old.spec, spec):
                lost += _taken(self.lose(old.assignment))
            registered = self.ledger.register(spec, tuple(lost))
            if isinstance(registered, Registered) or registered.reason is not Refusal.WORKER_BUSY:
                break
        return registered

    def worker_seen(
        self,
        name: str,
        memory: DeviceMemory | None = None,
        resident_keys: Sequence[ResidentKey] | None = None,
        utilisation: float | None = None,
    ) -> Seen | Refused:
        """A sign of life with what changed; `utilisation` is 0 to 1. unknown: register again."""

        def see(worker: WorkerRecord, now: float) -> WorkerRecord:
            keys = worker.resident_keys if resident_keys is None else tuple(resident_keys)
            told = worker.reported_at if resident_keys is None else now
            return replace(
                worker,
                seen_at=now,
                memory=memory or worker.memory,
                resident_keys=keys,
                reported_at=told,
                utilisation=utilisation,
            )

        return self.ledger.change_worker("worker_seen", name, see, _seen)

    def mark_fault(self, place: str, reason: str, *, times: int = 1, at: float | None = None) -> None:
        """A result of the device at `place` (see `WorkerSpec.place`) was wrong; a proof came of it all the
        same, from the host. `times` and `at` (the last) are for marks that are restored."""
        faults.mark(self.ledger, place, reason, times=times, at=at)

    def drain_worker(self, name: str) -> Seen | Refused:
        """Let the worker finish what it has and claim nothing more."""

        def drain(worker: WorkerRecord, now: float) -> WorkerRecord | Refusal | None:
            return transition_worker(worker, e.Drain(), now)

        return self.ledger.change_worker("drain_worker", name, drain, _seen)

    def forget_worker(self, name: str) -> Forgotten | Refused:
        """A worker says that it leaves for good; what it still held is handed back, and named in `lost`."""

        def forget(worker: WorkerRecord, now: float) -> WorkerRecord | Refusal | None:
            return transition_worker(worker, e.Forget(), now)

        lost: list[Lost] = []

        def forgotten(_: WorkerRecord) -> Forgotten:
            return Forgotten(tuple(lost))

        gone: Forgotten | Refused = Refused("forget_worker", Refusal.WORKER_BUSY)
        for _ in range(LIVES):
            old = self.worker(name)
            if old is not None and old.assignment is not None:
                lost += _taken(self.ledger.act("reap", e.Release(old.assignment), answers.lost))
            gone = self.ledger.change_worker("forget_worker", name, forget, forgotten)
            if isinstance(gone, Forgotten) or gone.reason is not Refusal.WORKER_BUSY:
                break
        return gone

    # keeping house

    def reap(self) -> list[ReapResult]:
        """One pass over expired leases, deadlines, lost assemblies and ended jobs; see `reaper.reap`."""
        return reap(self)

    def lose(self, assignment: Assignment, expires_at: float | None = None) -> Lost | Refused:
        """Take a partition back from a worker that is taken for dead; with `expires_at`, only if that is its
        lease and it has run out."""
        return self.ledger.act("reap", e.Lose(assignment, expires_at), answers.lost)

    def repair(self) -> list[Repaired]:
        """Make indexes and records agree, should they not; see `repair.repair`."""
        return repair(self)

    def waiting(self, phase: Phase, limit: int = 100) -> list[Waiting]:
        """What waits in `pending`, `synth_done` or `finalizing`: priority, then age of the job, then index.

        Whoever re-sends messages for what waits too long does no harm: a duplicate claim is refused.
        """
        names = self.ledger.reader.first(self.ledger.keys.waiting(phase), limit)
        found = self.ledger.reader.partitions([parse_member(name) for name in names])
        return [
            Waiting(record.job, record.index, record.attempt, phase, _waits_since(record))
            for record in found
            if record.waiting and record.phase is phase
        ]

    # reading

    def job(self, job_id: str) -> JobRecord | None:
        return next(iter(self.ledger.reader.jobs([job_id])), None)

    def jobs(self, job_ids: Collection[str]) -> dict[str, JobRecord]:
        """Those of these jobs that are live."""
        return {job.spec.job_id: job for job in self.ledger.reader.jobs(list(job_ids))}

    def partition(self, job_id: str, index: int) -> PartitionRecord | None:
        return next(iter(self.ledger.reader.partitions([(job_id, index)])), None)

    def worker(self, name: str) -> WorkerRecord | None:
        return next(iter(self.ledger.reader.workers([name])), None)

    def snapshot(self, limit: int | None = None, jobs: Collection[str] = ()) -> Snapshot:
        """All live state by one atomic read; past `limit` partitions, jobs that only wait come as counts."""
        return read_snapshot(self.ledger, limit, jobs)

    def rev(self) -> int:
        """Grows with each change."""
        return self.ledger.reader.number(self.ledger.keys.rev)

    def mark_started(self, *, again: bool = True) -> None:
        """`uptime_secs` counts from here; unless `again`, only where nothing is known of an earlier start."""
        self.ledger.client.set(self.ledger.keys.started, repr(self.ledger.reader.now()), nx=not again)

    def job_ids(self) -> list[str]:
        """The live jobs, by priority and then by age."""
        return self.ledger.reader.first(self.ledger.keys.jobs, 0)


def _taken(outcome: Lost | Refused) -> list[Lost]:
    return [] if isinstance(outcome, Refused) else [outcome]


def _seen(worker: WorkerRecord) -> Seen:
    return Seen(worker.draining)


def _waits_since(record: PartitionRecord) -> float:
    line = record.timeline
    match record.phase:
        case Phase.PENDING:
            return line.queued_at or 0.0
        case Phase.SYNTH_DONE:
            return line.wait_started_at or 0.0
        case _:
            past = record.history[-1].ended_at if record.history else 0.0
            return max(line.gpu_ended_at or 0.0, past)
