"""The closed sets of the service: states, priorities and the table of proof kinds."""

from __future__ import annotations

from dataclasses import dataclass

from django.db import models


class Curve(models.TextChoices):
    """The pairing curves that keys may live on."""

    BN254 = "bn254", "BN254"
    BLS12_381 = "bls12-381", "BLS12-381"


class CircuitState(models.TextChoices):
    """Whether jobs may be submitted for a circuit."""

    ACTIVE = "active", "active"
    QUARANTINED = "quarantined", "quarantined"


class Priority(models.IntegerChoices):
    """The order in which waiting partitions are taken: higher first, then the older job."""

    LOW = 1, "low"
    NORMAL = 2, "normal"
    HIGH = 3, "high"
    CRITICAL = 4, "critical"


class OnFailure(models.TextChoices):
    """What becomes of a job's other partitions when one fails."""

    CANCEL = "cancel", "cancel the others"
    CONTINUE = "continue", "prove the others"


class InputForm(models.TextChoices):
    """What the caller gave for each partition."""

    INPUT = "input", "circuit inputs"
    WITNESS = "witness", "witness file"


class JobState(models.TextChoices):
    """The states of a job. The last three are terminal and frozen."""

    QUEUED = "queued", "queued"
    RUNNING = "running", "running"
    CANCELLING = "cancelling", "cancelling"
    DONE = "done", "done"
    FAILED = "failed", "failed"
    CANCELLED = "cancelled", "cancelled"


TERMINAL_JOB_STATES = frozenset({JobState.DONE, JobState.FAILED, JobState.CANCELLED})


class PartitionState(models.TextChoices):
    """The phases of a partition, in order. The last three are terminal and frozen."""

    PENDING = "pending", "pending"
    SYNTHESIZING = "synthesizing", "synthesizing"
    SYNTH_DONE = "synth_done", "waiting for a device"
    GPU = "gpu", "on the device"
    FINALIZING = "finalizing", "finalizing"
    DONE = "done", "done"
    FAILED = "failed", "failed"
    CANCELLED = "cancelled", "cancelled"


TERMINAL_PARTITION_STATES = frozenset(
    {PartitionState.DONE, PartitionState.FAILED, PartitionState.CANCELLED},
)


class AttemptOutcome(models.TextChoices):
    """How one attempt at a partition ended."""

    DONE = "done", "done"
    FAILED = "failed", "failed"
    LOST = "lost", "lease ran out"
    RELEASED = "released", "handed back"
    CANCELLED = "cancelled", "cancelled"


class Scope(models.TextChoices):
    """What an API key may do. Each stands for itself alone."""

    READ = "read", "read"
    SUBMIT = "submit", "submit"
    ADMIN = "admin", "manage keys and webhooks"
    WATCH = "watch", "see the whole status, whoever owns what is in it"


class DeliveryState(models.TextChoices):
    """Where the message to a webhook stands."""

    PENDING = "pending", "pending"
    DELIVERED = "delivered", "delivered"
    FAILED = "failed", "given up"


class ProofKind(models.TextChoices):
    """The kinds of proof that a circuit may be registered for."""

    GROTH16 = "groth16", "Groth16"
    POREP_C2 = "porep-c2", "PoRep C2"
    SNAP_UPDATE = "snap-update", "Snap update"
    WINDOW_POST = "window-post", "Window PoSt"
    WINNING_POST = "winning-post", "Winning PoSt"


@dataclass(frozen=True, slots=True)
class KindTraits:
    """What the service must know of a proof kind. A new kind is one row of KINDS.

    `prefix` begins the ids of its jobs. `partition_counts` are the numbers of partitions that a job may have
    (empty: any). `public_inputs` is how many each proof has in the kind's own circuits, for 32 GiB sectors.
    A kind whose proofs are handed on as one text of bytes, `concatenated`, is all or nothing.
    """

    prefix: str
    priority: Priority
    partition_counts: tuple[int, ...] = ()
    public_inputs: int | None = None
    concatenated: bool = False


KINDS: dict[ProofKind, KindTraits] = {
    ProofKind.GROTH16: KindTraits("groth16", Priority.NORMAL),
    ProofKind.POREP_C2: KindTraits("porep", Priority.NORMAL, (1, 10), 327, concatenated=True),
    ProofKind.SNAP_UPDATE: KindTraits("snap", Priority.NORMAL, (1, 2, 4, 16), 4, concatenated=True),
    ProofKind.WINDOW_POST: KindTraits("wdpost", Priority.HIGH, (), 25839, concatenated=True),
    ProofKind.WINNING_POST: KindTraits("winpost", Priority.CRITICAL, (1,), 67, concatenated=True),
}
