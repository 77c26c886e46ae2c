"""Taking a job in: what can be known to be wrong is refused, then rows, files and messages are made."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.utils import timezone
from django.utils.crypto import salted_hmac

from proving import spool
from proving.choices import KINDS, CircuitState, InputForm, KindTraits, OnFailure, Priority, ProofKind
from proving.models import Circuit, Job, Partition, new_ulid
from proving.services import dispatch, tracing
from proving.services.artefacts import Upload, staged
from proving.services.errors import Refusal, ServiceError, conflict, invalid
from proving.services.given import check_inputs, check_witness
from proving.services.live_calls import tell_after_commit
from proving.services.room import check_room

REQUEST_ID = re.compile(r"(?!\.)[A-Za-z0-9._:-]{1,128}")
NAMING_ATTEMPTS = 5
CHUNK = 1 << 20


@dataclass(frozen=True, slots=True)
class JobRequest:
    """What a caller asks for, apart from the inputs themselves."""

    circuit: Circuit
    request_id: str | None = None
    priority: Priority | None = None
    label: str = ""
    deadline: datetime | None = None
    on_failure: OnFailure | None = None

    @property
    def kind(self) -> KindTraits:
        """The traits of the circuit's proof kind."""
        return KINDS[ProofKind(self.circuit.proof_kind)]


@dataclass(frozen=True, slots=True)
class Submitted:
    """The job, and whether this call made it: a repeated request is answered with the job it made before."""

    job: Job
    created: bool


@dataclass(frozen=True, slots=True)
class Given:
    """The partitions' inputs or witnesses: their digest for comparison, and how each gets into the spool."""

    form: InputForm
    digests: list[str]
    store: Callable[[str, int], None]


def submit_inputs(owner: User, request: JobRequest, inputs: Sequence[Any]) -> Submitted:
    """Make a job with one partition an input: objects of signal names and values, integers kept exact."""
    _check_request(request, len(inputs), "/inputs")
    if request.circuit.witness_generator is None:
        raise invalid(
            "/inputs", "no_witness_generator", "the circuit has no witness generator: send witness files"
        )
    check_inputs(request.circuit, inputs, "/inputs")
    texts = [json.dumps(document, separators=(",", ":")).encode() for document in inputs]
    digests = [_keyed_digest(text.decode()) for text in texts]

    def store(job_id: str, index: int) -> None:
        spool.store_input(job_id, index, texts[index])

    return _create(owner, request, Given(InputForm.INPUT, digests, store))


def submit_witnesses(owner: User, request: JobRequest, uploads: Sequence[Upload]) -> Submitted:
    """Make a job with one partition a witness file (.wtns)."""
    _check_request(request, len(uploads), "/witness")
    with staged(**{str(index): upload for index, upload in enumerate(uploads)}) as files:
        found = [files[str(index)] for index in range(len(uploads))]
        for index, file in enumerate(found):
            check_witness(request.circuit, file.path, f"/witness/{index}")
        digests = [_keyed_digest(file.sha256) for file in found]

        def store(job_id: str, index: int) -> None:
            with found[index].path.open("rb") as file:
                spool.store_witness_upload(job_id, index, iter(lambda: file.read(CHUNK), b""))

        return _create(owner, request, Given(InputForm.WITNESS, digests, store))


def _check_request(request: JobRequest, count: int, pointer: str) -> None:
    if request.circuit.state != CircuitState.ACTIVE:
        raise conflict("circuit_quarantined", "the circuit is quarantined", "/circuit")
    if not count:
        raise invalid(pointer, "no_partitions", "a job wants at least one")
    if count > settings.CUZKWEB_MAX_PARTITIONS:
        raise invalid(
            pointer, "too_many_partitions", f"{count} are more than {settings.CUZKWEB_MAX_PARTITIONS}"
        )
    _check_kind(request, count, pointer)
    if request.request_id is not None and not REQUEST_ID.fullmatch(request.request_id):
        wanted = "wants 1 to 128 of A-Z a-z 0-9 . _ : - and no dot at its start"
        raise invalid("/request_id", "bad_request_id", wanted)
    if request.deadline is not None and request.deadline <= timezone.now():
        raise invalid("/deadline", "deadline_passed", "the deadline has passed already")


def _check_kind(request: JobRequest, count: int, pointer: str) -> None:
    """Hold a request against what its circuit's proof kind allows."""
    kind, name = request.kind, request.circuit.proof_kind
    if kind.partition_counts and count not in kind.partition_counts:
        *others, last = map(str, kind.partition_counts)
        wanted = f"{', '.join(others)} or {last}" if others else last
        raise invalid(pointer, "partition_count", f"a {name} job has {wanted} partitions, not {count}")
    if kind.concatenated and request.on_failure == OnFailure.CONTINUE:
        refusal = f"{name} jobs are all or nothing: their other partitions are cancelled"
        raise invalid("/on_failure", "all_or_nothing", refusal)


def _keyed_digest(text: str) -> str:
    """A digest that nobody without the service's secret can search for the input behind it."""
    return salted_hmac("cuzkweb.request", text, algorithm="sha256").hexdigest()


def _request_digest(request: JobRequest, given: Given) -> str:
    deadline = request.deadline.isoformat() if request.deadline else None
    options = [request.priority, request.label, deadline, request.on_failure]
    parts = [request.circuit.pk, *options, given.form, given.digests]
    return _keyed_digest(json.dumps(parts))


def _create(owner: User, request: JobRequest, given: Given) -> Submitted:
    digest = _request_digest(request, given)
    for _ in range(NAMING_ATTEMPTS):
        try:
            with transaction.atomic():
                earlier = _earlier(owner, request)
                return (
                    _repeat(earlier, digest)
                    if earlier
                    else Submitted(_insert(owner, request, given, digest), created=True)
                )
        except IntegrityError:
            continue
    raise ServiceError(Refusal.UNAVAILABLE, "busy", "too many requests with this request_id at once")


def _earlier(owner: User, request: JobRequest) -> Job | None:
    if request.request_id is None:
        return None
    return Job.objects.filter(owner=owner, name=request.request_id).first()


def _repeat(job: Job, digest: str) -> Submitted:
    if job.request_digest != digest:
        raise conflict("request_id_taken", "another request has this request_id already", "/request_id")
    return Submitted(job, created=False)


def default_name(circuit: Circuit, tail: str) -> str:
    """What a job is called whose owner does not name it."""
    return f"{KINDS[ProofKind(circuit.proof_kind)].prefix}-{tail}"


def _insert(owner: User, request: JobRequest, given: Given, digest: str) -> Job:
    kind = request.kind
    check_room(owner, request.circuit, len(given.digests))
    name = request.request_id or default_name(request.circuit, new_ulid())
    taken = Job.objects.filter(pk=name).exists()
    job = Job.objects.create(
        id=f"{name}~{new_ulid()}" if taken else name,
        name=name,
        owner=owner,
        circuit=request.circuit,
        proof_kind=request.circuit.proof_kind,
        priority=request.priority or kind.priority,
        label=request.label,
        deadline=request.deadline,
        on_failure=request.on_failure or OnFailure.CANCEL,
        input_form=given.form,
        request_digest=digest,
        partition_count=len(given.digests),
        trace_parent=tracing.parent_here(),
    )
    Partition.objects.bulk_create(
        Partition(
            job=job, index=index, queued_at=job.submitted_at, max_attempts=settings.CUZKWEB_MAX_ATTEMPTS
        )
        for index in range(job.partition_count)
    )
    _fill_spool(job, given)
    tell_after_commit(job.pk, lambda: dispatch.enqueue_job(job))
    return job


def _fill_spool(job: Job, given: Given) -> None:
    """Rows are committed only when every file lies on the disk; without rows no file stays."""
    try:
        for index in range(job.partition_count):
            given.store(job.pk, index)
    except BaseException:
        spool.clear_job(job.pk)
        raise
