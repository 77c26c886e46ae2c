"""Circuits, jobs, proofs and verification over HTTP. Views parse, call a service and answer."""

# ruff: noqa: ARG002 - the framework names the arguments

from __future__ import annotations

from typing import Any

from django.db.models import Count, Q, QuerySet
from django.http import HttpResponse
from django.http.response import HttpResponseBase
from django.urls import reverse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.exceptions import NotFound
from rest_framework.generics import GenericAPIView
from rest_framework.parsers import MultiPartParser
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from proving.api import requests
from proving.api import serializers as shapes
from proving.api.idempotency import IDEMPOTENCY_KEY, idempotent
from proving.api.pagination import NewestCircuits, NewestJobs
from proving.api.parsers import ExactJSONParser
from proving.api.permissions import caller
from proving.choices import PartitionState, Scope
from proving.groth16.verifier import BatchVerdict
from proving.models import Circuit, Job
from proving.services import find, proofs
from proving.services.cancel import cancel_job
from proving.services.priority import change_priority
from proving.services.register import CircuitFiles, register_circuit
from proving.services.register_uploaded import register_uploaded
from proving.services.submit import JobRequest, Submitted, default_name, submit_inputs, submit_witnesses
from proving.services.verify import key_of, read_verifying_key, verify_proof, verify_proofs
from proving.services.wait import wait_for_end

RETRY_AFTER_SECONDS = "1"


class CircuitsView(GenericAPIView[Circuit]):
    """The caller's circuits."""

    pagination_class = NewestCircuits
    serializer_class = shapes.CircuitSummary
    parser_classes = (MultiPartParser, ExactJSONParser)

    def get_queryset(self) -> QuerySet[Circuit]:
        return find.circuits_of(caller(self.request)).select_related(
            "proving_key", "witness_generator", "r1cs"
        )

    @extend_schema(operation_id="listCircuits", responses=shapes.CircuitSummary(many=True))
    def get(self, request: Request) -> Response:
        page = self.paginate_queryset(self.get_queryset())
        return self.get_paginated_response(self.get_serializer(page, many=True).data)

    @extend_schema(
        operation_id="registerCircuit",
        parameters=[IDEMPOTENCY_KEY],
        request={
            "multipart/form-data": requests.CircuitUpload,
            "application/json": requests.CircuitReferences,
        },
        responses={201: shapes.CircuitDocument, 200: shapes.CircuitDocument},
    )
    @idempotent
    def post(self, request: Request) -> Response:
        with_files = request.content_type.startswith("multipart/")
        form = (requests.CircuitUpload if with_files else requests.CircuitReferences)(data=request.data)
        form.is_valid(raise_exception=True)
        given = dict(form.validated_data)
        name, kind = given.pop("name"), given.pop("proof_kind")
        if with_files:
            registered = register_circuit(caller(request), name, kind, CircuitFiles(**given))
        else:
            registered = register_uploaded(caller(request), name, kind, given)
        document = shapes.CircuitDocument(registered.circuit, context={"request": request}).data
        code = status.HTTP_201_CREATED if registered.created else status.HTTP_200_OK
        return Response(
            document, code, headers={"Location": reverse("circuit", args=[registered.circuit.pk])}
        )


class CircuitView(APIView):
    """One circuit."""

    @extend_schema(operation_id="getCircuit", responses=shapes.CircuitDocument)
    def get(self, request: Request, circuit: str) -> Response:
        found = find.find_circuit(caller(request), circuit)
        return Response(shapes.CircuitDocument(found, context={"request": request}).data)


class JobsView(GenericAPIView[Job]):
    """The caller's jobs."""

    pagination_class = NewestJobs
    serializer_class = shapes.JobSummary
    parser_classes = (ExactJSONParser, MultiPartParser)
    reserved: str | None = None

    def get_queryset(self) -> QuerySet[Job]:
        query = requests.JobFilter(data=self.request.query_params)
        query.is_valid(raise_exception=True)
        viewer = caller(self.request)
        jobs = find.jobs_of(viewer)
        asked = dict(query.validated_data)
        if circuit := asked.pop("circuit", None):
            asked["circuit"] = find.find_circuit(viewer, circuit)
        asked.pop("ordering", None)
        jobs = find.narrowed(jobs, **asked)
        done = Count("partitions", filter=Q(partitions__state=PartitionState.DONE))
        return jobs.annotate(done_count=done)

    @extend_schema(
        operation_id="listJobs", parameters=[requests.JobFilter], responses=shapes.JobSummary(many=True)
    )
    def get(self, request: Request) -> Response:
        page = self.paginate_queryset(self.get_queryset())
        return self.get_paginated_response(self.get_serializer(page, many=True).data)

    @extend_schema(
        operation_id="submitJob",
        parameters=[IDEMPOTENCY_KEY],
        request={
            "application/json": requests.JobSubmission,
            "multipart/form-data": requests.WitnessSubmission,
        },
        responses={202: shapes.JobDocument, 200: shapes.JobDocument},
    )
    @idempotent
    def post(self, request: Request) -> Response:
        submitted = self._submit(request)
        job = submitted.job
        headers = {
            "Location": reverse("job", args=[find.name_for(job, caller(request))]),
            "Retry-After": RETRY_AFTER_SECONDS,
        }
        code = status.HTTP_202_ACCEPTED if submitted.created else status.HTTP_200_OK
        return Response(job_document(job, request), code, headers=headers)

    def _submit(self, request: Request) -> Submitted:
        owner = caller(request)
        with_files = request.content_type.startswith("multipart/")
        form = (requests.WitnessSubmission if with_files else requests.JobSubmission)(data=request.data)
        form.is_valid(raise_exception=True)
        given = dict(form.validated_data)
        circuit = find.find_circuit(owner, given.pop("circuit"))
        if self.reserved and "request_id" not in given:
            given["request_id"] = default_name(circuit, self.reserved)
        if with_files:
            witnesses = given.pop("witness")
            return submit_witnesses(owner, JobRequest(circuit, **given), witnesses)
        inputs = given.pop("inputs")
        return submit_inputs(owner, JobRequest(circuit, **given), inputs)


class JobView(APIView):
    """One job."""

    @extend_schema(operation_id="getJob", parameters=[requests.WaitQuery], responses=shapes.JobDocument)
    def get(self, request: Request, job: str) -> Response:
        query = requests.WaitQuery(data=request.query_params)
        query.is_valid(raise_exception=True)
        found = wait_for_end(find.find_job(caller(request), job), query.validated_data["wait"])
        headers = {} if found.terminal else {"Retry-After": RETRY_AFTER_SECONDS}
        return Response(job_document(found, request), headers=headers)

    @extend_schema(operation_id="changeJob", request=requests.JobChange, responses=shapes.JobDocument)
    def patch(self, request: Request, job: str) -> Response:
        form = requests.JobChange(data=request.data)
        form.is_valid(raise_exception=True)
        viewer = caller(request)
        changed = change_priority(
            find.find_job(viewer, job), form.validated_data["priority"], viewer.username
        )
        return Response(job_document(changed, request))


class JobCancelView(APIView):
    """The end of a job before its time."""

    @extend_schema(
        operation_id="cancelJob",
        parameters=[IDEMPOTENCY_KEY],
        request=None,
        responses={202: shapes.JobDocument},
    )
    @idempotent
    def post(self, request: Request, job: str) -> Response:
        cancelled = cancel_job(find.find_job(caller(request), job))
        return Response(job_document(cancelled, request), status.HTTP_202_ACCEPTED)


class JobProofView(APIView):
    """The proofs of a job that is done."""

    @extend_schema(
        operation_id="getProofs",
        parameters=[requests.ProofQuery],
        responses={
            (200, "application/json"): shapes.ProofsDocument,
            (200, "application/octet-stream"): OpenApiTypes.BINARY,
            (200, "text/plain"): OpenApiTypes.STR,
        },
    )
    def get(self, request: Request, job: str) -> HttpResponseBase:
        query = requests.ProofQuery(data=request.query_params)
        query.is_valid(raise_exception=True)
        given = query.validated_data
        found = find.find_job(caller(request), job)
        rows = proofs.proofs_of(found, given.get("partition"))
        if (form := given.get("form")) is not None:
            encoded = proofs.encode(rows, form)
            return HttpResponse(encoded.content, content_type=encoded.media_type)
        name = find.name_for(found, caller(request))
        document = {
            "job": name,
            "circuit": found.circuit_id,
            "proofs": rows,
            "concatenated": proofs.concatenated(found, rows),
        }
        return Response(shapes.ProofsDocument(document).data)


class VerifyView(APIView):
    """Whether a proof is valid."""

    required_scope = Scope.READ

    @extend_schema(
        operation_id="verifyProof", request=requests.VerifyRequest, responses=shapes.VerdictDocument
    )
    def post(self, request: Request) -> Response:
        form = requests.VerifyRequest(data=request.data)
        form.is_valid(raise_exception=True)
        given = form.validated_data
        written = given.get("form")
        if "circuit" in given:
            key = key_of(find.find_circuit(caller(request), given["circuit"]))
        else:
            key = read_verifying_key(given["verifying_key"], curve=given.get("curve"))
        if "proofs" in given:
            verdict = verify_proofs(key, given["proofs"], written)
        else:
            verdict = verify_proof(key, given["proof"], given.get("public"), written)
        return Response(verdict_document(verdict))


def verdict_document(verdict: BatchVerdict) -> dict[str, Any]:
    """A verdict as it is answered."""
    bad = [{"index": i, "failed": found.failed, "reason": found.reason} for i, found in verdict.bad]
    first = bad[0] if bad else None
    reason = verdict.reason if len(bad) > 1 or first is None else first["reason"]
    failed = None if first is None else first["failed"]
    return {"valid": verdict.valid, "failed": failed, "reason": reason, "bad": bad}


class NothingView(APIView):
    """Every address of the API that leads nowhere."""

    permission_classes = (AllowAny,)
    schema = None

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        raise NotFound("there is nothing at this address")


def job_document(job: Job, request: Request) -> dict[str, Any]:
    """A job with its partitions as they stand now."""
    document: dict[str, Any] = shapes.JobDocument(job, context={"request": request}).data
    return document
