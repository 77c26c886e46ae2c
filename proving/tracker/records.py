"""What the tracker remembers: workers, partitions and jobs, as frozen values.

All times are seconds since 1970 on the clock of the Redis server, the only clock that decides.
Standard library only.
"""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Self
from urllib.parse import quote, unquote


class Phase(StrEnum):
    """Where a partition is. A partition waits in `pending`, `synth_done` and (unclaimed) `finalizing`."""

    PENDING = "pending"
    SYNTHESIZING = "synthesizing"
    SYNTH_DONE = "synth_done"
    GPU = "gpu"
    FINALIZING = "finalizing"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"

    @property
    def terminal(self) -> bool:
        return self in TERMINAL_PHASES

    @property
    def rank(self) -> int:
        """How far along the pipeline; an end of any kind ranks above every live phase."""
        return _PHASE_RANK[self]


TERMINAL_PHASES = frozenset({Phase.DONE, Phase.FAILED, Phase.CANCELLED})
_PHASE_RANK = {phase: min(rank, 5) for rank, phase in enumerate(Phase)}


class JobState(StrEnum):
    """Where a job is. `cancelling` lasts until no partition of it is being worked on."""

    RUNNING = "running"
    ASSEMBLING = "assembling"
    CANCELLING = "cancelling"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"

    @property
    def terminal(self) -> bool:
        return self in TERMINAL_JOB_STATES


TERMINAL_JOB_STATES = frozenset({JobState.DONE, JobState.FAILED, JobState.CANCELLED})


class Ending(StrEnum):
    """Why a job is being stopped, and so how it ends once nothing of it runs."""

    CANCELLED = "cancelled"
    FAILED = "failed"
    DEADLINE = "deadline"


class OnFailure(StrEnum):
    """What a failed partition means for its siblings."""

    CANCEL = "cancel"
    CONTINUE = "continue"


class WorkerKind(StrEnum):
    SYNTHESIS = "synthesis"
    DEVICE = "device"
    FINALIZE = "finalize"


class AttemptEnd(StrEnum):
    """How an attempt, or a worker's spell on a partition, ended."""

    DONE = "done"
    FAILED = "failed"
    LOST = "lost"
    RELEASED = "released"
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True)
class Assignment:
    """Who may act on a partition now. Compared as a whole: any difference means another claim."""

    worker: str
    job: str
    partition: int
    attempt: int
    epoch: int

    def token(self) -> str:
        """One printable word that `parse` reads back."""
        names = f"{quote(self.worker, safe='@:')}/{quote(self.job, safe='')}"
        return f"{names}/{self.partition}/{self.attempt}/{self.epoch}"

    @classmethod
    def parse(cls, token: str) -> Self:
        """Raises ValueError when the word is no token."""
        parts = token.split("/")
        if len(parts) != 5:
            raise ValueError(f"not an assignment token: {token!r}")
        worker, job, partition, attempt, epoch = parts
        return cls(unquote(worker), unquote(job), int(partition), int(attempt), int(epoch))


@dataclass(frozen=True, slots=True)
class JobSpec:
    """A job as it is opened. `priority` is 1 (low) to 4 (critical).

    `host_bytes` is what one partition holds on its host from the start of its synthesis to its end;
    `evaluation_bytes` of them go back already at hand-off, when the device has taken the evaluations.
    `device_bytes` is what it holds on a device from claim to hand-off: the proving key and work buffers.
    A partition may be handed back `free_releases` times before that counts as an attempt. `owner` is whose
    the job is, as an opaque word: the status shows a job whole to its owner and to operators alone.
    """

    job_id: str
    proof_kind: str
    circuit_id: str
    total_partitions: int
    submitted_at: float
    priority: int = 2
    label: str = ""
    deadline: float | None = None
    max_attempts: int = 3
    host_bytes: int = 0
    evaluation_bytes: int = 0
    on_failure: OnFailure = OnFailure.CANCEL
    device_bytes: int = 0
    free_releases: int = 8
    owner: str = ""
    circuit_name: str = ""

    def __post_init__(self) -> None:
        if self.total_partitions < 1 or self.max_attempts < 1:
            raise ValueError("a job has at least one partition and one attempt")
        if not 1 <= self.priority <= 4:
            raise ValueError("priority is 1 (low) to 4 (critical)")
        if not 0 <= self.evaluation_bytes <= self.host_bytes:
            raise ValueError("the evaluations are a part of the host bytes")


@dataclass(frozen=True, slots=True)
class PartitionStart:
    """Where a partition starts when its job is opened again from durable records: pending, or ended."""

    index: int
    phase: Phase = Phase.PENDING
    attempt: int = 1
    max_attempts: int = 0
    error: str | None = None


@dataclass(frozen=True, slots=True)
class JobRecord:
    """A live job. The tallies count the partitions that have ended."""

    spec: JobSpec
    state: JobState = JobState.RUNNING
    opened_at: float = 0.0
    done: int = 0
    failed: int = 0
    cancelled: int = 0
    ending: Ending | None = None
    error: str | None = None
    ended_at: float | None = None
    assembly_expires_at: float | None = None

    @property
    def remaining(self) -> int:
        return self.spec.total_partitions - self.done

    @property
    def open(self) -> int:
        return self.remaining - self.failed - self.cancelled


@dataclass(frozen=True, slots=True)
class Timeline:
    """When the present attempt did what, and who did it. `*_attempt` name the attempt that wrote the files
    which the next phase reads: a lost device phase keeps the evaluations of an earlier attempt."""

    queued_at: float | None = None
    synth_started_at: float | None = None
    synth_ended_at: float | None = None
    wait_started_at: float | None = None
    gpu_started_at: float | None = None
    gpu_ended_at: float | None = None
    finalize_started_at: float | None = None
    finished_at: float | None = None
    synth_worker: str | None = None
    gpu_worker: str | None = None
    finalizer: str | None = None
    synth_attempt: int = 0
    gpu_attempt: int = 0


@dataclass(frozen=True, slots=True)
class PastAttempt:
    """An attempt that did not end the partition: where it was, who had it, why it ended."""

    attempt: int
    end: AttemptEnd
    phase: Phase
    worker: str | None
    error: str | None
    ended_at: float
    timeline: Timeline


@dataclass(frozen=True, slots=True)
class PartitionRecord:
    """A live partition. `assignment` is the only statement about who works on it.

    `held_bytes` are reserved on `host`, `device_bytes` on `device` (see `WorkerSpec.place`). `epoch` is the
    last one under which it was claimed.
    """

    job: str
    index: int
    max_attempts: int
    phase: Phase = Phase.PENDING
    attempt: int = 1
    assignment: Assignment | None = None
    lease_expires_at: float | None = None
    host: str | None = None
    held_bytes: int = 0
    device: str | None = None
    device_bytes: int = 0
    timeline: Timeline = field(default_factory=Timeline)
    history: tuple[PastAttempt, ...] = ()
    error: str | None = None
    epoch: int = 0

    @property
    def waiting(self) -> bool:
        return self.assignment is None and not self.phase.terminal

    @property
    def worker(self) -> str | None:
        """Whom to name beside this partition: the device's worker once there is one, else the synthesizer."""
        return self.timeline.gpu_worker or self.timeline.synth_worker

    @property
    def releases(self) -> int:
        """How often it was handed back."""
        return sum(past.end is AttemptEnd.RELEASED for past in self.history)


@dataclass(frozen=True, slots=True)
class WorkerSpec:
    """A worker slot as it registers. One name is one slot: it holds at most one assignment.

    A different `pid` or `incarnation` under the same name is a new life: what the old one held is lost.
    `memory_bytes` is the budget of its device, shared by all slots of that device; 0 means no limit.
    """

    name: str
    kind: WorkerKind
    host: str
    device: str = ""
    ordinal: int = 0
    model: str = ""
    pid: int = 0
    version: str = ""
    incarnation: str = ""
    memory_bytes: int = 0

    @property
    def place(self) -> str:
        """The device among all devices, as the budget knows it."""
        return f"{self.host}/{self.device or self.name}"


@dataclass(frozen=True, slots=True)
class DeviceMemory:
    total_bytes: int = 0
    used_bytes: int = 0


@dataclass(frozen=True, slots=True)
class ResidentKey:
    """A proving key (`srs`) or a constraint system (`pce`) that a worker keeps in memory."""

    circuit_id: str
    bytes: int
    last_used_secs_ago: float = 0.0
    in_use: bool = False
    kind: str = "srs"


@dataclass(frozen=True, slots=True)
class WorkerRecord:
    """A registered worker slot. Whether it is busy is not stored: it is `assignment is not None`.

    `shown_at` is when a sign of life last made a new version of the snapshot, `epoch` the last one under
    which this slot claimed something, `utilisation` the share of the time before the last sign of life in
    which the device computed.
    """

    spec: WorkerSpec
    worker_id: int
    seen_at: float
    idle_since: float
    assignment: Assignment | None = None
    draining: bool = False
    memory: DeviceMemory = field(default_factory=DeviceMemory)
    resident_keys: tuple[ResidentKey, ...] = ()
    reported_at: float = 0.0
    shown_at: float = 0.0
    epoch: int = 0
    utilisation: float | None = None


@dataclass(frozen=True, slots=True)
class Spell:
    """A worker's finished time on a partition, for the device's own history."""

    worker: str
    job: str
    partition: int
    attempt: int
    started_at: float
    ended_at: float
    end: AttemptEnd
    owner: str = ""


class WorkerState(StrEnum):
    """What a worker's slot is; read off its record, never stored."""

    ABSENT = "absent"
    IDLE = "idle"
    BUSY = "busy"
    DRAINING = "draining"
    DRAINED = "drained"

    @classmethod
    def of(cls, worker: WorkerRecord | None) -> "WorkerState":
        if worker is None:
            return cls.ABSENT
        if worker.assignment is not None:
            return cls.DRAINING if worker.draining else cls.BUSY
        return cls.DRAINED if worker.draining else cls.IDLE
