"""What requests must look like."""

from __future__ import annotations

from typing import Any, ClassVar

from django.http import QueryDict
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from proving.choices import Curve, JobState, OnFailure, Priority, ProofKind
from proving.services.errors import invalid
from proving.services.proofs import FORMS

JOB_ORDERS = ["-submitted_at", "submitted_at"]
STATES = "|".join(JobState.values)
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


class QuerySerializer(serializers.Serializer[Any]):
    """The query of a request. A name without a value has an empty one: it is not left out."""

    def __init__(self, data: QueryDict | None = None, **options: Any) -> None:
        super().__init__(data=data.dict() if data is not None else {}, **options)


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


class CircuitUpload(StrictSerializer):
    """A circuit to register. The other files are held against the proving key."""

    name = serializers.CharField(max_length=128)
    proof_kind = serializers.ChoiceField(choices=ProofKind.choices, default=ProofKind.GROTH16)
    proving_key = serializers.FileField(
        help_text="a Groth16 .zkey, or bellman parameters (then r1cs must be there)", allow_empty_file=True
    )
    witness_generator = serializers.FileField(
        required=False, help_text="circom's .wasm", allow_empty_file=True
    )
    r1cs = serializers.FileField(required=False, help_text="circom's .r1cs", allow_empty_file=True)
    verifying_key = serializers.FileField(
        required=False, help_text="snarkjs JSON, or a binary form", allow_empty_file=True
    )


class CircuitReferences(StrictSerializer):
    """A circuit to register from files that are here already.

    Each is named by the id of an upload that is complete, or as sha256:<hex> where one of your circuits has a
    file with this content.
    """

    name = serializers.CharField(max_length=128)
    proof_kind = serializers.ChoiceField(choices=ProofKind.choices, default=ProofKind.GROTH16)
    proving_key = serializers.CharField(max_length=80)
    witness_generator = serializers.CharField(max_length=80, required=False)
    r1cs = serializers.CharField(max_length=80, required=False)
    verifying_key = serializers.CharField(max_length=80, required=False)


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
    on_failure = serializers.ChoiceField(
        choices=OnFailure.choices,
        required=False,
        help_text="what becomes of the other partitions when one fails; only groth16 jobs may continue",
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


@extend_schema_field({"oneOf": [{"type": "object", "additionalProperties": True}, {"type": "string"}]})
class CoatedField(ExactField):
    """snarkjs's JSON, or a text: hex or base64 of a binary form, or Solidity calldata."""


class Statement(StrictSerializer):
    """A proof and what it is to prove."""

    proof = CoatedField(help_text="of several partitions: bellman's bytes one after the other")
    public = ExactField(
        required=False,
        help_text="public signals; of several partitions a list of lists; calldata has its own",
    )


class VerifyRequest(StrictSerializer):
    """Proofs to check, with a registered circuit or a verifying key: one `proof`, or a list of `proofs`."""

    circuit = serializers.CharField(max_length=128, required=False)
    verifying_key = CoatedField(required=False)
    proof = CoatedField(required=False)
    public = ExactField(required=False)
    proofs = serializers.ListField(child=Statement(), required=False, allow_empty=False, max_length=1024)
    form = serializers.ChoiceField(
        choices=["snarkjs", *FORMS],
        required=False,
        help_text="how the proof is written, where it cannot be recognised",
    )
    curve = serializers.ChoiceField(
        choices=Curve.choices, required=False, help_text="of a verifying key in a binary form, where unclear"
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if ("circuit" in attrs) == ("verifying_key" in attrs):
            raise invalid("", "one_of", "give either a circuit or a verifying_key")
        if ("proof" in attrs) == ("proofs" in attrs) or ("proofs" in attrs and "public" in attrs):
            raise invalid("", "one_of", "give either a proof or a list of proofs")
        return attrs


class JobChange(StrictSerializer):
    """What may be changed of a job that has not ended."""

    priority = PriorityField(help_text="what waits of the job moves in line at once")


class WaitQuery(QuerySerializer):
    """How long a reader would wait for a job to end."""

    wait = serializers.FloatField(min_value=0, max_value=60, default=0, help_text="seconds")


class ProofQuery(QuerySerializer):
    """Which proof of a job is wanted; all when left out."""

    partition = serializers.IntegerField(min_value=0, required=False)
    form = serializers.ChoiceField(
        choices=FORMS, required=False, help_text="answer with this form instead of JSON, partitions in order"
    )


@extend_schema_field({"type": "string", "pattern": f"^(|({STATES})(,({STATES}))*)$"})
class ChosenStates(serializers.CharField):
    """States of jobs with commas between them; none of them means any."""

    def to_internal_value(self, data: Any) -> Any:
        told = str(super().to_internal_value(data))
        names = told.split(",") if told else []
        for name in names:
            if name not in JobState.values:
                raise serializers.ValidationError(f"{name} is no state of a job", "invalid_choice")
        return names


class JobFilter(QuerySerializer):
    """What narrows a list of jobs."""

    state = ChosenStates(
        required=False, allow_blank=True, help_text="job states, with commas between them; empty: any"
    )
    circuit = serializers.CharField(max_length=128, required=False, help_text="the circuit's id, or its name")
    created_after = serializers.DateTimeField(required=False, help_text="submitted then or later")
    created_before = serializers.DateTimeField(required=False, help_text="submitted before then")
    ordering = serializers.ChoiceField(
        choices=JOB_ORDERS, required=False, help_text="the newest first when left out"
    )
