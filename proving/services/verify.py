"""Checking proofs, for circuits that are registered and for verifying keys that a caller brings."""

from __future__ import annotations

from typing import Any

from proving.formats.snarkjs import proof_from_json, public_from_json, verifying_key_from_json
from proving.groth16.objects import VerifyingKey
from proving.groth16.verifier import Verdict, verify
from proving.models import Circuit
from proving.services.reading import refusing_document


def key_of(circuit: Circuit) -> VerifyingKey:
    """The verifying key of a registered circuit."""
    return verifying_key_from_json(circuit.verifying_key)


def read_verifying_key(document: Any) -> VerifyingKey:
    """A verifying key that a caller brought. ServiceError names the place that is wrong."""
    with refusing_document("/verifying_key", "bad_verifying_key"):
        return verifying_key_from_json(document)


def verify_proof(key: VerifyingKey, proof: Any, public: Any) -> Verdict:
    """Whether a proof, as snarkjs writes it, proves its public signals.

    What is no proof document at all is a ServiceError; everything else is the verdict's to say.
    """
    with refusing_document("/proof", "bad_proof"):
        parsed_proof = proof_from_json(proof, curve=key.curve)
    with refusing_document("/public", "bad_public"):
        parsed_public = public_from_json(public)
    return verify(key, parsed_proof, parsed_public)
