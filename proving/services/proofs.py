"""The proofs of a job that is done, in the form that its reader wants."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from typing import Any

from django.db.models import QuerySet

from kernels.curves import BLS12_381, curve_by_name
from proving.choices import KINDS, JobState, OnFailure, ProofKind
from proving.formats.calldata import proof_to_calldata
from proving.formats.coats import Coat, proof_to_bytes
from proving.formats.recognise import CALLDATA
from proving.formats.snarkjs import proof_from_json, public_from_json
from proving.models import Circuit, Job, Proof
from proving.services.errors import conflict, invalid, not_found

FORMS = [CALLDATA, *(str(coat) for coat in Coat if coat is not Coat.WAVES)]
"""The forms besides snarkjs's JSON."""


@dataclass(frozen=True, slots=True)
class Encoded:
    """Proofs as they go out: of several partitions one after the other, in index order."""

    content: bytes
    media_type: str


def proofs_of(job: Job, partition: int | None = None) -> QuerySet[Proof]:
    """The proofs of a job in index order; ServiceError while there are none to give.

    A job that failed and was to go on without its failed partitions gives those of the others.
    """
    partial = job.state == JobState.FAILED and job.on_failure == OnFailure.CONTINUE
    if job.state != JobState.DONE and not partial:
        raise conflict(f"job_{job.state}", f"there are no proofs: the job is {job.state}")
    proofs = job.proofs.order_by("index")
    if partition is not None:
        proofs = proofs.filter(index=partition)
        if not proofs:
            raise not_found("partition")
    return proofs


def natural_form(circuit: Circuit) -> Coat:
    """The form in which a kind with concatenated output hands its proofs on."""
    return Coat.BELLMAN if curve_by_name(circuit.curve) is BLS12_381 else Coat.ARKWORKS


def concatenated(job: Job, proofs: QuerySet[Proof]) -> dict[str, Any] | None:
    """All proofs as one text of bytes, for the kinds that hand them on so; None for others."""
    if not KINDS[ProofKind(job.proof_kind)].concatenated:
        return None
    form = natural_form(job.circuit)
    content = encode(proofs, str(form)).content
    return {"form": str(form), "size": len(content), "base64": base64.b64encode(content).decode()}


def encode(proofs: QuerySet[Proof], form: str) -> Encoded:
    """Proofs in a form of `FORMS`. ServiceError where the form has none for the circuit's curve."""
    try:
        if form == CALLDATA:
            lines = [
                proof_to_calldata(proof_from_json(row.proof), public_from_json(row.public)) for row in proofs
            ]
            return Encoded("".join(f"{line}\n" for line in lines).encode(), "text/plain; charset=utf-8")
        pieces = [proof_to_bytes(proof_from_json(row.proof), Coat(form)) for row in proofs]
    except ValueError as error:
        raise invalid("/form", "bad_form", str(error)) from error
    return Encoded(b"".join(pieces), "application/octet-stream")
