"""How rows are shown, and what else is answered."""

from __future__ import annotations

from typing import Any, ClassVar

from django.contrib.auth.models import User
from django.urls import reverse
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from proving.api.requests import PriorityField
from proving.choices import CircuitState, Curve, JobState, OnFailure, PartitionState, ProofKind
from proving.models import Circuit, CircuitLog, Job, Partition, Proof
from proving.services.circuit_log import logs_of
from proving.services.find import name_for
from proving.services.remarks import remarks


class ErrorDocument(serializers.Serializer[Any]):
    """Why a job or a partition failed."""

    code = serializers.CharField()
    detail = serializers.CharField()


class JobErrorDocument(ErrorDocument):
    """Why a job failed, and the partition that it failed at where it was one."""

    partition = serializers.IntegerField(allow_null=True)


class ArtefactDocument(serializers.Serializer[Any]):
    """A file by its content."""

    sha256 = serializers.CharField()
    size = serializers.IntegerField()


class CircuitSummary(serializers.ModelSerializer[Circuit]):
    """A circuit in a list."""

    proof_kind = serializers.ChoiceField(choices=ProofKind.choices)
    state = serializers.ChoiceField(choices=CircuitState.choices)
    curve = serializers.ChoiceField(choices=Curve.choices)
    proving_key = ArtefactDocument()
    witness_generator = ArtefactDocument(allow_null=True)
    r1cs = ArtefactDocument(allow_null=True)
    remarks = serializers.SerializerMethodField()
    links = serializers.SerializerMethodField()

    class Meta:
        model = Circuit
        fields: ClassVar = [
            "id",
            "name",
            "proof_kind",
            "state",
            "curve",
            "public_count",
            "variable_count",
            "constraint_count",
            "domain_size",
            "contributions",
            "insecure",
            "proving_key",
            "witness_generator",
            "r1cs",
            "remarks",
            "created_at",
            "links",
        ]
        read_only_fields = fields

    def get_remarks(self, circuit: Circuit) -> list[str]:
        return remarks(circuit)

    def get_links(self, circuit: Circuit) -> dict[str, str]:
        return {"self": reverse("circuit", args=[circuit.pk])}


class CircuitDocument(CircuitSummary):
    """A circuit with its verifying key."""

    verifying_key = serializers.JSONField(read_only=True)

    class Meta(CircuitSummary.Meta):
        fields: ClassVar = [*CircuitSummary.Meta.fields, "verifying_key"]
        read_only_fields = fields


class PartitionDocument(serializers.ModelSerializer[Partition]):
    """A partition: where it stands, in which attempt, and when it passed which phase."""

    state = serializers.ChoiceField(choices=PartitionState.choices)
    error = serializers.SerializerMethodField()

    class Meta:
        model = Partition
        fields: ClassVar = [
            "index",
            "state",
            "attempt",
            "max_attempts",
            "worker",
            "device",
            "error",
            "queued_at",
            "synthesis_started_at",
            "synthesis_ended_at",
            "device_started_at",
            "device_ended_at",
            "finalize_started_at",
            "finalize_ended_at",
        ]
        read_only_fields = fields

    @extend_schema_field(ErrorDocument(allow_null=True))
    def get_error(self, partition: Partition) -> dict[str, str] | None:
        if not partition.error_code:
            return None
        return {"code": partition.error_code, "detail": partition.error_detail}


class ProgressDocument(serializers.Serializer[Any]):
    """How many of a job's partitions are done."""

    done = serializers.IntegerField()
    total = serializers.IntegerField()


class JobSummary(serializers.ModelSerializer[Job]):
    """A job in a list."""

    id = serializers.SerializerMethodField()
    circuit = serializers.CharField(source="circuit_id")
    proof_kind = serializers.ChoiceField(choices=ProofKind.choices)
    priority = PriorityField()
    on_failure = serializers.ChoiceField(choices=OnFailure.choices)
    state = serializers.ChoiceField(choices=JobState.choices)
    terminal = serializers.BooleanField()
    progress = serializers.SerializerMethodField()
    error = serializers.SerializerMethodField()
    links = serializers.SerializerMethodField()

    class Meta:
        model = Job
        fields: ClassVar = [
            "id",
            "circuit",
            "proof_kind",
            "priority",
            "label",
            "on_failure",
            "state",
            "terminal",
            "progress",
            "error",
            "submitted_at",
            "started_at",
            "finished_at",
            "deadline",
            "links",
        ]
        read_only_fields = fields

    def _name(self, job: Job) -> str:
        viewer: User = self.context["request"].user
        return name_for(job, viewer)

    def get_id(self, job: Job) -> str:
        return self._name(job)

    @extend_schema_field(ProgressDocument)
    def get_progress(self, job: Job) -> dict[str, int]:
        done: int = getattr(job, "done_count", 0)
        return {"done": done, "total": job.partition_count}

    @extend_schema_field(JobErrorDocument(allow_null=True))
    def get_error(self, job: Job) -> dict[str, Any] | None:
        if not job.error_code:
            return None
        return {"code": job.error_code, "detail": job.error_detail, "partition": job.error_partition}

    def get_links(self, job: Job) -> dict[str, str]:
        name = self._name(job)
        return {
            "self": reverse("job", args=[name]),
            "proof": reverse("job-proof", args=[name]),
            "cancel": reverse("job-cancel", args=[name]),
            "circuit": reverse("circuit", args=[job.circuit_id]),
        }


class CircuitLogDocument(serializers.ModelSerializer[CircuitLog]):
    """What the circuit logged while the witness of a partition was computed, in its latest attempt."""

    partition = serializers.IntegerField(source="partition.index")
    lines = serializers.ListField(child=serializers.CharField())

    class Meta:
        model = CircuitLog
        fields: ClassVar = ["partition", "attempt", "lines"]
        read_only_fields = fields


class JobDocument(JobSummary):
    """A job with its partitions, and for its owner what the circuit logged."""

    partitions = PartitionDocument(many=True)
    logs = serializers.SerializerMethodField()

    class Meta(JobSummary.Meta):
        fields: ClassVar = [*JobSummary.Meta.fields, "partitions", "logs"]
        read_only_fields = fields

    @extend_schema_field(CircuitLogDocument(many=True))
    def get_logs(self, job: Job) -> Any:
        return CircuitLogDocument(logs_of(job, self.context["request"].user), many=True).data

    @extend_schema_field(ProgressDocument)
    def get_progress(self, job: Job) -> dict[str, int]:
        done = sum(partition.state == PartitionState.DONE for partition in job.partitions.all())
        return {"done": done, "total": job.partition_count}


class ProofDocument(serializers.ModelSerializer[Proof]):
    """A verified proof and its public signals, as snarkjs writes them."""

    proof = serializers.JSONField()
    public = serializers.ListField(child=serializers.CharField())

    class Meta:
        model = Proof
        fields: ClassVar = ["index", "proof", "public", "device", "verified_at"]
        read_only_fields = fields


class ConcatenatedDocument(serializers.Serializer[Any]):
    """The proofs of all partitions as one text of bytes, in index order, without a header."""

    form = serializers.CharField()
    size = serializers.IntegerField()
    base64 = serializers.CharField()


class ProofsDocument(serializers.Serializer[Any]):
    """The proofs of a job in the order of its partitions."""

    job = serializers.CharField()
    circuit = serializers.CharField()
    proofs = ProofDocument(many=True)
    concatenated = ConcatenatedDocument(
        allow_null=True, help_text="for the proof kinds whose proofs are handed on so"
    )


class BadProofDocument(serializers.Serializer[Any]):
    """One proof of several that is not valid."""

    index = serializers.IntegerField()
    failed = serializers.CharField(help_text="the check that it did not pass")
    reason = serializers.CharField()


class VerdictDocument(serializers.Serializer[Any]):
    """Whether the proofs are valid; `failed` names the check that the first bad one did not pass."""

    valid = serializers.BooleanField()
    failed = serializers.CharField(allow_null=True)
    reason = serializers.CharField()
    bad = BadProofDocument(many=True)


class FaultDocument(serializers.Serializer[Any]):
    """One thing that is wrong with a request."""

    pointer = serializers.CharField(help_text="a JSON pointer into the request, as a fragment")
    detail = serializers.CharField()
    code = serializers.CharField()


class ProblemDocument(serializers.Serializer[Any]):
    """An error, as RFC 9457 has it."""

    type = serializers.CharField()
    title = serializers.CharField()
    status = serializers.IntegerField()
    detail = serializers.CharField()
    code = serializers.CharField()
    errors = FaultDocument(many=True)  # type: ignore[assignment]
