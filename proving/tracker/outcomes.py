"""What a call to the store can answer. Losing a race is an answer, not an exception.

`Refused` changed nothing. Every other outcome says what is true from now on. Standard library only.
"""

from dataclasses import dataclass, field
from enum import StrEnum

from proving.tracker.records import Assignment, JobState, Phase


class Refusal(StrEnum):
    """Why a call changed nothing."""

    SUPERSEDED = "superseded"  # a later attempt has taken over
    ALREADY_DONE = "already_done"  # this step of this attempt was taken before
    NOT_OWNER = "not_owner"  # another claim holds the partition, or none does
    CANCELLED = "cancelled"
    FAILED = "failed"
    TAKEN = "taken"  # somebody works on it now
    NOT_READY = "not_ready"  # an earlier step is still to come
    UNKNOWN = "unknown"  # no such job, partition or worker in the live state
    WORKER_BUSY = "worker_busy"  # the caller's slot still holds an assignment
    WRONG_KIND = "wrong_kind"  # a worker of another kind does this
    DRAINING = "draining"
    BUDGET_FULL = "budget_full"  # wait and ask again
    OVER_BUDGET = "over_budget"  # more than the whole budget: waiting will not help
    NOTHING_WAITS = "nothing_waits"
    NOT_EXPIRED = "not_expired"
    ASSEMBLING = "assembling"
    ALREADY_OPEN = "already_open"
    STILL_LIVE = "still_live"
    CONTENDED = "contended"  # too many others wrote at the same time; nothing changed, ask again


STALE = frozenset({Refusal.SUPERSEDED, Refusal.ALREADY_DONE, Refusal.NOT_OWNER, Refusal.UNKNOWN})
"""Refusals of late, duplicate or foreign writers: `stale_writes_total`, unless the call was a claim."""


@dataclass(frozen=True, slots=True)
class Refused:
    """`place` is the partition (job, index) that was refused, where the caller did not name one."""

    operation: str
    reason: Refusal
    place: tuple[str, int] | None = field(default=None, compare=False)

    @property
    def retryable(self) -> bool:
        """Whether the same call may succeed later without anything new having happened to the partition."""
        return self.reason in _RETRYABLE


_RETRYABLE = frozenset({Refusal.BUDGET_FULL, Refusal.WORKER_BUSY, Refusal.CONTENDED, Refusal.NOT_READY})


@dataclass(frozen=True, slots=True)
class Claimed:
    """The caller owns the partition until the lease ends; heartbeats move it.

    `source_attempt` is the attempt whose spool files this phase reads (evaluations for the device, sums for
    the finalizer). It is not always `assignment.attempt`: a lost device phase keeps the evaluations.
    `evaluations_attempt` is the attempt that wrote the evaluations, in every phase.
    """

    assignment: Assignment
    lease_expires_at: float
    source_attempt: int
    evaluations_attempt: int


@dataclass(frozen=True, slots=True)
class Applied:
    phase: Phase
    job_state: JobState


@dataclass(frozen=True, slots=True)
class Stopped:
    """The job is being stopped: the partition is cancelled, its worker is free. Do nothing more with it."""

    job_state: JobState


@dataclass(frozen=True, slots=True)
class Finished:
    remaining: int
    job_state: JobState


@dataclass(frozen=True, slots=True)
class Retried:
    """The partition waits again, in `phase`, under `next_attempt`: somebody has to send its message."""

    next_attempt: int
    phase: Phase


@dataclass(frozen=True, slots=True)
class Failed:
    error: str
    job_state: JobState


@dataclass(frozen=True, slots=True)
class Beat:
    lease_expires_at: float


@dataclass(frozen=True, slots=True)
class CancelRequested:
    """The lease was extended, but the job is being stopped: stop soon and `release`."""

    reason: str
    lease_expires_at: float


@dataclass(frozen=True, slots=True)
class Opened:
    job_id: str


@dataclass(frozen=True, slots=True)
class Stopping:
    """A job was told to stop. `job_state` is terminal at once when nothing of it was running."""

    job_state: JobState
    running: int


@dataclass(frozen=True, slots=True)
class Reordered:
    """A job stands elsewhere in the lines from now on, with `waiting` of its partitions."""

    priority: int
    waiting: int


@dataclass(frozen=True, slots=True)
class Assembled:
    """This caller, and no other, assembles the job now and calls `complete_job` before the lease ends."""

    job_id: str
    lease_expires_at: float


@dataclass(frozen=True, slots=True)
class Completed:
    job_state: JobState


@dataclass(frozen=True, slots=True)
class Retired:
    job_id: str


@dataclass(frozen=True, slots=True)
class Reaped:
    """A partition lost by its worker in `lost_in`; it waits in `phase` for the message of `next_attempt`.

    `released`: it was not lost after all, the worker that leaves has handed it back.
    """

    job_id: str
    index: int
    lost_in: Phase
    phase: Phase
    next_attempt: int
    released: bool = False


@dataclass(frozen=True, slots=True)
class Exhausted:
    """A partition that was lost once too often, and has failed."""

    job_id: str
    index: int
    lost_in: Phase
    error: str
    job_state: JobState


@dataclass(frozen=True, slots=True)
class Dropped:
    """A partition of a job that is being stopped; its worker was lost, so it is cancelled."""

    job_id: str
    index: int
    lost_in: Phase
    job_state: JobState


@dataclass(frozen=True, slots=True)
class Expired:
    """A job whose deadline has passed; it is being stopped and will end failed."""

    job_id: str
    job_state: JobState


@dataclass(frozen=True, slots=True)
class Reopened:
    """A job whose assembler was lost: every partition is done, somebody has to send `assemble` again."""

    job_id: str


@dataclass(frozen=True, slots=True)
class Settled:
    """A job that ended a while ago and is still live here: write it to the database, then retire it."""

    job_id: str
    job_state: JobState
    error: str | None


Lost = Reaped | Exhausted | Dropped
ReapResult = Lost | Expired | Reopened | Settled


@dataclass(frozen=True, slots=True)
class Registered:
    """`lost` is what an earlier life of this worker still held."""

    worker_id: int
    lost: tuple[Lost, ...] = ()


@dataclass(frozen=True, slots=True)
class Seen:
    draining: bool


@dataclass(frozen=True, slots=True)
class Forgotten:
    lost: tuple[Lost, ...] = ()


@dataclass(frozen=True, slots=True)
class Waiting:
    """A partition that waits for somebody to take it, in the order in which it should be taken."""

    job_id: str
    index: int
    attempt: int
    phase: Phase
    since: float
