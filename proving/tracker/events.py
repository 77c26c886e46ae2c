"""What can happen to a partition, a job or a worker. Standard library only."""

from dataclasses import dataclass

from proving.tracker.records import Assignment, Ending, JobState, Phase, WorkerKind, WorkerSpec


@dataclass(frozen=True, slots=True)
class Claim:
    """A worker asks for a partition under the attempt that its message names, for `lease` seconds."""

    worker: str
    attempt: int
    lease: float


class ClaimSynthesis(Claim):
    __slots__ = ()


class ClaimDevice(Claim):
    __slots__ = ()


class ClaimFinalize(Claim):
    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Act:
    """Whoever holds this assignment did something."""

    assignment: Assignment


class EndSynthesis(Act):
    __slots__ = ()


class HandOff(Act):
    __slots__ = ()


class Finish(Act):
    __slots__ = ()


class Release(Act):
    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Fail(Act):
    error: str
    retry: bool


@dataclass(frozen=True, slots=True)
class Heartbeat(Act):
    lease: float


@dataclass(frozen=True, slots=True)
class Lose(Act):
    """The holder is taken for dead. With `expires_at`, only if the lease that was read has really run out."""

    expires_at: float | None = None


@dataclass(frozen=True, slots=True)
class Cancel:
    """The job is being stopped, and this partition waits."""


@dataclass(frozen=True, slots=True)
class Reject:
    """A waiting partition can never be proved."""

    error: str


PartitionEvent = Claim | Act | Cancel | Reject

CLAIMED_PHASE = {
    ClaimSynthesis: Phase.SYNTHESIZING,
    ClaimDevice: Phase.GPU,
    ClaimFinalize: Phase.FINALIZING,
}
CLAIMANT_KIND = {
    ClaimSynthesis: WorkerKind.SYNTHESIS,
    ClaimDevice: WorkerKind.DEVICE,
    ClaimFinalize: WorkerKind.FINALIZE,
}
ACTED_PHASE = {EndSynthesis: Phase.SYNTHESIZING, HandOff: Phase.GPU, Finish: Phase.FINALIZING}


@dataclass(frozen=True, slots=True)
class Stop:
    """The job shall end without success: cancelled, failed, or past its deadline."""

    ending: Ending
    error: str | None = None


@dataclass(frozen=True, slots=True)
class Settle:
    """A partition of the job has moved."""


@dataclass(frozen=True, slots=True)
class Assemble:
    lease: float


@dataclass(frozen=True, slots=True)
class LoseAssembly:
    """Whoever assembled is taken for dead."""


@dataclass(frozen=True, slots=True)
class Complete:
    outcome: JobState
    error: str | None = None


@dataclass(frozen=True, slots=True)
class Reprioritize:
    """The job shall stand elsewhere in the lines: `priority` is 1 (low) to 4 (critical)."""

    priority: int


JobEvent = Stop | Settle | Assemble | LoseAssembly | Complete | Reprioritize


@dataclass(frozen=True, slots=True)
class Register:
    spec: WorkerSpec
    worker_id: int


@dataclass(frozen=True, slots=True)
class Occupy:
    assignment: Assignment
    kind: WorkerKind


@dataclass(frozen=True, slots=True)
class Vacate:
    """The slot is free again, if it still holds this very assignment. `alive`: the worker itself said so."""

    assignment: Assignment
    alive: bool = True


@dataclass(frozen=True, slots=True)
class Drain:
    pass


@dataclass(frozen=True, slots=True)
class Forget:
    pass


WorkerEvent = Register | Occupy | Vacate | Drain | Forget
