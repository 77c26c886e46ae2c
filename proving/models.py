"""The durable truth. Only services write here, by guarded updates; live state is the tracker's."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

from django.conf import settings
from django.db import models
from django.utils import timezone
from ulid import ULID

from proving.choices import (
    TERMINAL_JOB_STATES,
    TERMINAL_PARTITION_STATES,
    AttemptOutcome,
    CircuitState,
    Curve,
    DeliveryState,
    InputForm,
    JobState,
    OnFailure,
    PartitionState,
    Priority,
    ProofKind,
    Scope,
)


def new_ulid() -> str:
    """A fresh identifier that sorts by the time of its making."""
    return str(ULID())


def default_scopes() -> list[str]:
    """What a key may do unless its maker says otherwise."""
    return [Scope.READ, Scope.SUBMIT]


class Artefact(models.Model):
    """A file that someone uploaded, kept once under the digest of its content."""

    sha256 = models.CharField(max_length=64, primary_key=True)
    size = models.BigIntegerField()
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    def __str__(self) -> str:
        return self.sha256[:12]

    @property
    def path(self) -> Path:
        """Where the file lies on this host."""
        home: Path = settings.CUZKWEB_HOME
        return home / "artefacts" / self.sha256[:2] / self.sha256


class ResumableUpload(models.Model):
    """A file that arrives in pieces. How much of it is here, its file tells (see services.uploads).

    `expected` is the digest that its sender announced, `sha256` the one found once all of it was here. What a
    circuit was registered with is an artefact, and no file of the upload's own any more.
    """

    id = models.CharField(max_length=26, primary_key=True, default=new_ulid, editable=False)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="uploads")
    name = models.CharField(max_length=255, blank=True, help_text="what its sender calls the file")
    size = models.BigIntegerField()
    expected = models.CharField(max_length=64, blank=True, help_text="SHA-256, as announced")
    sha256 = models.CharField(max_length=64, blank=True, help_text="of what came, once all of it is here")
    artefact = models.ForeignKey(Artefact, on_delete=models.SET_NULL, related_name="+", null=True, blank=True)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    expires_at = models.DateTimeField(db_index=True)

    class Meta:
        ordering: ClassVar = ["-created_at", "-id"]

    def __str__(self) -> str:
        return self.name or self.id


class Circuit(models.Model):
    """Registered proving artefacts: a proving key and, where given, generator and constraint system."""

    id = models.CharField(max_length=26, primary_key=True, default=new_ulid, editable=False)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="circuits")
    name = models.CharField(max_length=128)
    proof_kind = models.CharField(max_length=16, choices=ProofKind.choices, default=ProofKind.GROTH16)
    state = models.CharField(max_length=16, choices=CircuitState.choices, default=CircuitState.ACTIVE)
    curve = models.CharField(max_length=16, choices=Curve.choices)
    proving_key = models.ForeignKey(Artefact, on_delete=models.PROTECT, related_name="+")
    witness_generator = models.ForeignKey(
        Artefact, on_delete=models.PROTECT, related_name="+", null=True, blank=True
    )
    r1cs = models.ForeignKey(Artefact, on_delete=models.PROTECT, related_name="+", null=True, blank=True)
    verifying_key = models.JSONField(help_text="as snarkjs writes it")
    variable_count = models.PositiveBigIntegerField()
    public_count = models.PositiveBigIntegerField()
    constraint_count = models.PositiveBigIntegerField(null=True, blank=True, help_text="known from the r1cs")
    domain_size = models.PositiveBigIntegerField()
    contributions = models.PositiveIntegerField(help_text="ceremony entries that the key records")
    insecure = models.BooleanField(default=False, help_text="the key was made for development")
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        ordering: ClassVar = ["-created_at", "-id"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["owner", "name"], name="circuit_name_unique_to_owner"),
        ]

    def __str__(self) -> str:
        return self.name


class Job(models.Model):
    """One request: a circuit, a priority and N partitions.

    `name` is what its owner calls it: the request_id given, else the kind's prefix and a ULID. `id` is
    the same text unless another owner's job had it first.
    """

    id = models.CharField(max_length=160, primary_key=True, editable=False)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="jobs")
    name = models.CharField(max_length=128)
    circuit = models.ForeignKey(Circuit, on_delete=models.PROTECT, related_name="jobs")
    proof_kind = models.CharField(max_length=16, choices=ProofKind.choices)
    priority = models.PositiveSmallIntegerField(choices=Priority.choices, default=Priority.NORMAL)
    label = models.CharField(max_length=200, blank=True)
    on_failure = models.CharField(max_length=16, choices=OnFailure.choices, default=OnFailure.CANCEL)
    input_form = models.CharField(max_length=16, choices=InputForm.choices, default=InputForm.INPUT)
    request_digest = models.CharField(max_length=64, editable=False, help_text="keyed digest of the request")
    state = models.CharField(max_length=16, choices=JobState.choices, default=JobState.QUEUED)
    partition_count = models.PositiveIntegerField()
    error_code = models.CharField(max_length=64, blank=True)
    error_detail = models.TextField(blank=True)
    error_partition = models.PositiveIntegerField(null=True, blank=True)
    submitted_at = models.DateTimeField(default=timezone.now, editable=False)
    started_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)
    deadline = models.DateTimeField(null=True, blank=True)
    trace_parent = models.CharField(
        max_length=64, blank=True, db_default="", editable=False, help_text="the request's span"
    )

    class Meta:
        ordering: ClassVar = ["-submitted_at", "-id"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["owner", "name"], name="job_name_unique_to_owner"),
        ]
        indexes: ClassVar = [
            models.Index(fields=["state", "submitted_at"], name="job_state_submitted"),
            models.Index(fields=["owner", "-submitted_at"], name="job_owner_submitted"),
            models.Index(
                fields=["-finished_at"], condition=models.Q(finished_at__isnull=False), name="job_finished"
            ),
        ]

    def __str__(self) -> str:
        return self.id

    @property
    def terminal(self) -> bool:
        """Whether the state can change no more."""
        return self.state in TERMINAL_JOB_STATES


class Partition(models.Model):
    """One Groth16 proof of a job. The columns tell of the latest attempt; earlier ones are in `attempts`."""

    job = models.ForeignKey(Job, on_delete=models.CASCADE, related_name="partitions")
    index = models.PositiveIntegerField()
    state = models.CharField(max_length=16, choices=PartitionState.choices, default=PartitionState.PENDING)
    attempt = models.PositiveIntegerField(default=1)
    max_attempts = models.PositiveIntegerField(default=3)
    worker = models.CharField(max_length=128, blank=True)
    device = models.CharField(max_length=32, blank=True)
    error_code = models.CharField(max_length=64, blank=True)
    error_detail = models.TextField(blank=True)
    queued_at = models.DateTimeField(default=timezone.now)
    synthesis_started_at = models.DateTimeField(null=True, blank=True)
    synthesis_ended_at = models.DateTimeField(null=True, blank=True)
    device_started_at = models.DateTimeField(null=True, blank=True)
    device_ended_at = models.DateTimeField(null=True, blank=True)
    finalize_started_at = models.DateTimeField(null=True, blank=True)
    finalize_ended_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering: ClassVar = ["job", "index"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["job", "index"], name="partition_index_unique_to_job"),
        ]
        indexes: ClassVar = [models.Index(fields=["state"], name="partition_state")]

    def __str__(self) -> str:
        return f"{self.job_id}[{self.index}]"

    @property
    def terminal(self) -> bool:
        """Whether the state can change no more."""
        return self.state in TERMINAL_PARTITION_STATES


class PartitionAttempt(models.Model):
    """An attempt at a partition that has ended: who made it, when, and how it ended."""

    partition = models.ForeignKey(Partition, on_delete=models.CASCADE, related_name="attempts")
    attempt = models.PositiveIntegerField()
    worker = models.CharField(max_length=128, blank=True)
    device = models.CharField(max_length=32, blank=True)
    outcome = models.CharField(max_length=16, choices=AttemptOutcome.choices)
    error_code = models.CharField(max_length=64, blank=True)
    error_detail = models.TextField(blank=True)
    queued_at = models.DateTimeField(null=True, blank=True)
    synthesis_started_at = models.DateTimeField(null=True, blank=True)
    synthesis_ended_at = models.DateTimeField(null=True, blank=True)
    device_started_at = models.DateTimeField(null=True, blank=True)
    device_ended_at = models.DateTimeField(null=True, blank=True)
    finalize_started_at = models.DateTimeField(null=True, blank=True)
    finalize_ended_at = models.DateTimeField(null=True, blank=True)
    ended_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering: ClassVar = ["partition", "attempt"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["partition", "attempt"], name="attempt_unique_to_partition"),
        ]
        indexes: ClassVar = [
            models.Index(
                fields=["-ended_at"],
                condition=models.Q(outcome__in=[AttemptOutcome.FAILED, AttemptOutcome.LOST]),
                name="attempt_bad_end",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.partition} attempt {self.attempt}"


class CircuitLog(models.Model):
    """What the circuit logged when a partition's witness was computed last. It may tell of the inputs."""

    partition = models.OneToOneField(Partition, on_delete=models.CASCADE, related_name="circuit_log")
    attempt = models.PositiveIntegerField()
    lines = models.JSONField()

    def __str__(self) -> str:
        return f"log of {self.partition}"


class Proof(models.Model):
    """A verified proof with its public signals, as snarkjs writes them."""

    job = models.ForeignKey(Job, on_delete=models.CASCADE, related_name="proofs")
    partition = models.OneToOneField(Partition, on_delete=models.CASCADE, related_name="proof")
    index = models.PositiveIntegerField()
    proof = models.JSONField()
    public = models.JSONField()
    device = models.CharField(max_length=32, blank=True)
    verified_at = models.DateTimeField()

    class Meta:
        ordering: ClassVar = ["job", "index"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["job", "index"], name="proof_index_unique_to_job"),
        ]

    def __str__(self) -> str:
        return f"{self.job_id}[{self.index}]"


class ApiKey(models.Model):
    """A caller's key. The key itself is shown once and never stored: only its digest is."""

    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="api_keys")
    name = models.CharField(max_length=128)
    prefix = models.CharField(max_length=16, unique=True, help_text="the open part, to tell keys apart")
    digest = models.CharField(max_length=64, unique=True, editable=False)
    scopes = models.JSONField(default=default_scopes, help_text="what it may do")
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    expires_at = models.DateTimeField(null=True, blank=True, help_text="empty: it does not end by itself")
    last_used_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering: ClassVar = ["-created_at", "-id"]
        verbose_name = "API key"

    def __str__(self) -> str:
        return f"{self.name} ({self.prefix})"


class IdempotentRequest(models.Model):
    """A request with an Idempotency-Key: what it was, and, once there is one, the answer to give again.

    `reserved` names the job that the request makes, so that a request cut short makes no second one.
    """

    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    key = models.CharField(max_length=255)
    digest = models.CharField(max_length=64, editable=False, help_text="keyed digest of the request")
    reserved = models.CharField(max_length=26, default=new_ulid, editable=False)
    status = models.PositiveSmallIntegerField(null=True, help_text="empty while the request is in flight")
    headers = models.JSONField(default=dict)
    body = models.JSONField(null=True)
    claimed_at = models.DateTimeField(default=timezone.now)
    expires_at = models.DateTimeField(db_index=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["owner", "key"], name="idempotency_key_unique_to_owner"),
        ]

    def __str__(self) -> str:
        return self.key


class Webhook(models.Model):
    """An address that is told of the ends of its owner's jobs. Its secret is derived, never stored."""

    id = models.CharField(max_length=26, primary_key=True, default=new_ulid, editable=False)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="webhooks")
    url = models.URLField(max_length=2000)
    generation = models.PositiveIntegerField(default=1, help_text="of the secret; grows when it is changed")
    rotated_at = models.DateTimeField(null=True, blank=True)
    active = models.BooleanField(default=True)
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        ordering: ClassVar = ["-created_at", "-id"]

    def __str__(self) -> str:
        return self.url


class WebhookDelivery(models.Model):
    """One message to one webhook, and how sending it went."""

    id = models.CharField(max_length=26, primary_key=True, default=new_ulid, editable=False)
    webhook = models.ForeignKey(Webhook, on_delete=models.CASCADE, related_name="deliveries")
    job = models.ForeignKey(Job, on_delete=models.CASCADE, related_name="+", null=True, blank=True)
    event = models.CharField(max_length=64)
    payload = models.TextField(help_text="exactly what is signed and sent")
    state = models.CharField(max_length=16, choices=DeliveryState.choices, default=DeliveryState.PENDING)
    attempts = models.PositiveIntegerField(default=0)
    next_at = models.DateTimeField(default=timezone.now, help_text="when it is sent next, while pending")
    last_status = models.PositiveSmallIntegerField(null=True, blank=True)
    last_error = models.CharField(max_length=300, blank=True)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    ended_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering: ClassVar = ["-created_at", "-id"]
        verbose_name_plural = "webhook deliveries"
        indexes: ClassVar = [models.Index(fields=["state", "next_at"], name="delivery_due")]

    def __str__(self) -> str:
        return f"{self.event} to {self.webhook_id}"
