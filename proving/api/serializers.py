"""What requests must look like, and how rows are shown."""

from __future__ import annotations

from typing import Any, ClassVar

from django.contrib.auth.models import User
from django.urls import reverse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from proving.choices import CircuitState, Curve, JobState, PartitionState, Priority, ProofKind
from proving.models import Circuit, Job, Partition, Proof
from proving.services.find import name_for

PRIORITY_NAMES = [priority.label for priority in Priority]


class StrictSerializer(serializers.Serializer[Any]):
    """A request body; names that it does not know are refused, so that a slip is not silently ignored."""

    def to_internal_value(self, data: Any) -> Any:
        if hasattr(data, "keys"):
            unknown = sorted(set(data.keys()) - set(self.fields))
            if unknown:
                raise serializers.ValidationError(
                    {
                        name[:64]: [serializers.ErrorDetail("there is no such field", "unknown_field")]
                        for name in unknown
                    }
                )
        return super().to_internal_value(data)


@extend_schema_field(OpenApiTypes.ANY)
class ExactField(serializers.Field[Any, Any, Any, Any]):
    """Any JSON value, untouched: integers stay exact."""

    def to_internal_value(self, data: Any) -> Any:
        return data

    def to_representation(self, value: Any) -> Any:
        return value


@extend_schema_field({"type": "array", "items": {"type": "object", "additionalProperties": True}})
class InputsField(serializers.Field[Any, Any, Any, Any]):
    """A list of circuit inputs, one a partition, each checked against the circuit by the service."""

    default_error_messages: ClassVar = {"not_a_list": "wants a list with one object a partition"}

    def to_internal_value(self, data: Any) -> Any:
        if not isinstance(data, list):
            self.fail("not_a_list")
        return data

    def to_representation(self, value: Any) -> Any:
        return value


class PriorityField(serializers.ChoiceField):
    """A priority by its name."""

    def __init__(self, **options: Any) -> None:
        super().__init__(choices=PRIORITY_NAMES, **options)

    def to_internal_value(self, data: Any) -> Any:
        name = super().to_internal_value(data)
        return next(priority for priority in Priority if priority.label == name)

    def to_representation(self, value: Any) -> str:
        return str(Priority(value).label)


# --- requests -----------------------------------------------------------------------------------------


class CircuitUpload(StrictSerializer):
    """A circuit to register. The other files are held against the proving key."""

    name = serializers.CharField(max_length=128)
    proof_kind = serializers.ChoiceField(choices=ProofKind.choices, default=ProofKind.GROTH16)
    proving_key = serializers.FileField(help_text="a Groth16 .zkey", allow_empty_file=True)
    witness_generator = serializers.FileField(
        required=False, help_text="circom's .wasm", allow_empty_file=True
    )
    r1cs = serializers.FileField(required=False, help_text="circom's .r1cs", allow_empty_file=True)
    verifying_key = serializers.FileField(required=False, help_text="snarkjs JSON", allow_empty_file=True)


class JobOptions(StrictSerializer):
    """What a job has besides its inputs."""

    circuit = serializers.CharField(max_length=128, help_text="the circuit's id, or its name")
    request_id = serializers.CharField(
        max_length=128, required=False, help_text="becomes the job's id; unique among your jobs"
    )
    priority = PriorityField(required=False, help_text="the proof kind's own when left out")
    label = serializers.CharField(  # type: ignore[assignment]
        max_length=200, required=False, allow_blank=True, default=""
    )
    deadline = serializers.DateTimeField(
        required=False, help_text="the job fails when it is not done by then"
    )


class JobSubmission(JobOptions):
    """A job of one partition an input."""

    inputs = InputsField(
        help_text="objects of signal names and values: integers, decimal or 0x strings, nested arrays of them"
    )


class WitnessSubmission(JobOptions):
    """A job of one partition a witness file."""

    witness = serializers.ListField(
        child=serializers.FileField(allow_empty_file=True),
        help_text=".wtns files in the order of the partitions",
    )


class VerifyRequest(StrictSerializer):
    """A proof to check, with a registered circuit or a verifying key."""

    circuit = serializers.CharField(max_length=128, required=False)
    verifying_key = ExactField(required=False)
    proof = ExactField()
    public = ExactField()

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if ("circuit" in attrs) == ("verifying_key" in attrs):
            raise serializers.ValidationError("give either a circuit or a verifying_key", "one_of")
        return attrs


class WaitQuery(serializers.Serializer[Any]):
    """How long a reader would wait for a job to end."""

    wait = serializers.FloatField(min_value=0, max_value=60, default=0, help_text="seconds")


class ProofQuery(serializers.Serializer[Any]):
    """Which proof of a job is wanted; all when left out."""

    partition = serializers.IntegerField(min_value=0, required=False)


class JobFilter(serializers.Serializer[Any]):
    """What narrows a list of jobs."""

    state = serializers.ChoiceField(choices=JobState.choices, required=False)
    circuit = serializers.CharField(max_length=128, required=False)


# --- answers ------------------------------------------------------------------------------------------


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
            "created_at",
            "links",
        ]
        read_only_fields = fields

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


class JobDocument(JobSummary):
    """A job with its partitions."""

    partitions = PartitionDocument(many=True)

    class Meta(JobSummary.Meta):
        fields: ClassVar = [*JobSummary.Meta.fields, "partitions"]
        read_only_fields = fields

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


class ProofsDocument(serializers.Serializer[Any]):
    """The proofs of a job in the order of its partitions."""

    job = serializers.CharField()
    circuit = serializers.CharField()
    proofs = ProofDocument(many=True)


class VerdictDocument(serializers.Serializer[Any]):
    """Whether a proof is valid; `failed` names the check that it did not pass."""

    valid = serializers.BooleanField()
    failed = serializers.CharField(allow_null=True)
    reason = serializers.CharField()


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
