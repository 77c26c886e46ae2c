"""Live state in Redis: every change is one compare-and-set transaction on the pure transition table."""

from collections.abc import Sequence

import redis

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
    Opened,
    ReapResult,
    Refused,
    Registered,
    Retired,
    Retried,
    Seen,
    Stopped,
    Stopping,
    Waiting,
)
from proving.tracker.records import (
    Assignment,
    DeviceMemory,
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
from proving.tracker.snapshot import Snapshot


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

    # jobs

    def open_job(self, spec: JobSpec, partitions: Sequence[PartitionStart] = ()) -> Opened | Refused:
        """Bring a job to life, every partition pending unless `partitions` says otherwise (rebuilding)."""
        raise NotImplementedError

    def cancel_job(self, job_id: str, reason: str = "") -> Stopping | Refused:
        """Cancel what waits at once; what runs learns it by its next heartbeat."""
        raise NotImplementedError

    def fail_job(self, job_id: str, partition: int | None, error: str) -> Stopping | Refused:
        """Stop the job as failed. A waiting `partition` is marked failed; the others as in `cancel_job`."""
        raise NotImplementedError

    def assemble(self, job_id: str) -> Assembled | Refused:
        """Exactly one caller gets Assembled: every partition is done and nobody assembles yet.

        If that caller is lost, `reap` reopens the job and answers Reopened.
        """
        raise NotImplementedError

    def complete_job(self, job_id: str, outcome: JobState, error: str | None = None) -> Completed | Refused:
        """The end of an assembly: `done`, or `failed` with its reason."""
        raise NotImplementedError

    def retire_job(self, job_id: str) -> Retired | Refused:
        """Take an ended job out of the live state. Refused (still_live) while it has not ended."""
        raise NotImplementedError

    # partitions

    def claim_synthesis(self, worker: str, job_id: str, index: int, attempt: int) -> Claimed | Refused:
        """pending -> synthesizing; reserves the job's host bytes on the worker's host.

        budget_full: wait and ask again. over_budget: it can never fit. A synthesis worker that never
        registered is registered by its first claim (host = what follows the last "@" of its name).
        """
        raise NotImplementedError

    def synthesized(self, assignment: Assignment) -> Applied | Stopped | Refused:
        """synthesizing -> synth_done; the evaluations are on the spool."""
        raise NotImplementedError

    def claim_device(self, worker: str, job_id: str, index: int, attempt: int) -> Claimed | Refused:
        """synth_done -> gpu. The worker must have registered as a device worker."""
        raise NotImplementedError

    def hand_off(self, assignment: Assignment) -> Applied | Stopped | Refused:
        """gpu -> finalizing: the worker is free, the evaluations' bytes go back, the sums are spooled."""
        raise NotImplementedError

    def claim_finalize(self, worker: str, job_id: str, index: int, attempt: int) -> Claimed | Refused:
        """A finalizer takes a partition that was handed off; it works under its own assignment."""
        raise NotImplementedError

    def finish(self, assignment: Assignment) -> Finished | Refused:
        """finalizing -> done, by the finalizer's assignment. True even while the job is being cancelled."""
        raise NotImplementedError

    def fail(
        self, assignment: Assignment, error: str, *, retry: bool
    ) -> Retried | Failed | Stopped | Refused:
        """The phase went wrong. With `retry` and attempts left it waits again (a device phase for the device,
        any other for synthesis); else the partition has failed, and its siblings as `on_failure` says."""
        raise NotImplementedError

    def release(self, assignment: Assignment) -> Retried | Failed | Stopped | Refused:
        """Hand back unfinished work (shutdown, or a requested cancel). Counts as an attempt."""
        raise NotImplementedError

    def heartbeat(self, assignment: Assignment) -> Beat | CancelRequested | Refused:
        """Extend the lease. Refused means: this work is no longer yours, stop."""
        raise NotImplementedError

    # workers

    def register_worker(self, spec: WorkerSpec) -> Registered | Refused:
        """A worker has started. What an earlier life of that name still held comes back in `lost`."""
        raise NotImplementedError

    def worker_seen(
        self,
        name: str,
        memory: DeviceMemory | None = None,
        resident_keys: Sequence[ResidentKey] | None = None,
    ) -> Seen | Refused:
        """A sign of life with what changed. unknown: register again."""
        raise NotImplementedError

    def drain_worker(self, name: str) -> Seen | Refused:
        """Let the worker finish what it has and claim nothing more."""
        raise NotImplementedError

    def forget_worker(self, name: str) -> Forgotten | Refused:
        """A worker has gone for good; what it still held is lost and comes back in `lost`."""
        raise NotImplementedError

    # keeping house

    def reap(self) -> list[ReapResult]:
        """One pass over expired leases, deadlines, lost assemblies and ended jobs; see `reaper.reap`."""
        raise NotImplementedError

    def waiting(self, phase: Phase, limit: int = 100) -> list[Waiting]:
        """What waits in `pending`, `synth_done` or `finalizing`: priority, then age of the job, then index.

        Whoever re-sends messages for what waits too long does no harm: a duplicate claim is refused.
        """
        raise NotImplementedError

    # reading

    def job(self, job_id: str) -> JobRecord | None:
        raise NotImplementedError

    def partition(self, job_id: str, index: int) -> PartitionRecord | None:
        raise NotImplementedError

    def worker(self, name: str) -> WorkerRecord | None:
        raise NotImplementedError

    def snapshot(self) -> Snapshot:
        """All live state by one atomic read."""
        raise NotImplementedError

    def rev(self) -> int:
        """Grows with each change."""
        raise NotImplementedError

    def mark_started(self) -> None:
        """`uptime_secs` counts from here; the supervisor calls it once at start."""
        raise NotImplementedError
