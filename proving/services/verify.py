"""Checking proofs, for circuits that are registered and for verifying keys that a caller brings.

Proofs and keys come as snarkjs's JSON, or as text: hex or base64 of a binary form, or Solidity calldata.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Sequence
from typing import Any

from kernels.curves import Curve, curve_by_name
from proving.formats.calldata import is_calldata, proof_from_abi
from proving.formats.recognise import (
    CALLDATA,
    SNARKJS,
    Reading,
    key_from_content,
    proof_readings,
    verify_readings,
)
from proving.formats.snarkjs import (
    proof_from_json,
    public_from_json,
    publics_from_json,
    verifying_key_from_json,
)
from proving.groth16.objects import VerifyingKey
from proving.groth16.verifier import BatchVerdict, verify, verify_batch
from proving.models import Circuit
from proving.services.errors import invalid
from proving.services.reading import refusing_document

HEX = re.compile(r"(?:0x)?((?:[0-9a-fA-F]{2})+)")


def key_of(circuit: Circuit) -> VerifyingKey:
    """The verifying key of a registered circuit."""
    return verifying_key_from_json(circuit.verifying_key)


def read_verifying_key(document: Any, form: str | None = None, curve: str | None = None) -> VerifyingKey:
    """A verifying key that a caller brought. ServiceError names the place that is wrong."""
    with refusing_document("/verifying_key", "bad_verifying_key"):
        if not isinstance(document, str):
            return verifying_key_from_json(document)
        on = None if curve is None else curve_by_name(curve)
        content = decode_text(document, "/verifying_key", "bad_verifying_key")
        return key_from_content(content, form=form, curve=on).key


def verify_proof(
    key: VerifyingKey, proof: Any, public: Any = None, form: str | None = None, place: str = ""
) -> BatchVerdict:
    """Whether a proof, or those of all partitions in one text, proves its public signals.

    `public` is a list of signals, of several partitions a list of lists; calldata has its own. What is no
    proof document at all is a ServiceError, with pointers below `place`; all else is the verdict's to say.
    """
    with refusing_document(f"{place}/proof", "bad_proof"):
        readings = read_proof(proof, key.curve, form, f"{place}/proof")
    publics = read_publics(public, readings, f"{place}/public")
    try:
        return verify_readings(key, readings, publics)
    except ValueError as error:
        raise invalid(f"{place}/public", "partition_count", str(error)) from error


def verify_proofs(
    key: VerifyingKey, statements: Sequence[dict[str, Any]], form: str | None = None
) -> BatchVerdict:
    """Check many proofs for one key together; the bad ones are named by their place in the list.

    ServiceError for what is no proof document, or holds more than one proof.
    """
    readings: list[Reading] = []
    publics: list[list[int]] = []
    for index, statement in enumerate(statements):
        place = f"/proofs/{index}"
        with refusing_document(f"{place}/proof", "bad_proof"):
            found = read_proof(statement["proof"], key.curve, form, f"{place}/proof")
        public = read_publics(statement.get("public"), found, f"{place}/public")
        if len(found[0].proofs) != 1 or len(public) != 1:
            raise invalid(f"{place}/proof", "partition_count", "holds more than one proof")
        readings.append(best_reading(key, found, public[0]))
        publics.append(public[0])
    return verify_batch(key, [reading.proofs[0] for reading in readings], publics)


def best_reading(key: VerifyingKey, readings: Sequence[Reading], public: Sequence[int]) -> Reading:
    """The one reading of a proof; of several, the first that proves its signals."""
    if len(readings) == 1:
        return readings[0]
    valid = (reading for reading in readings if verify(key, reading.proofs[0], public).valid)
    return next(valid, readings[0])


def read_proof(document: Any, curve: Curve, form: str | None, pointer: str) -> list[Reading]:
    """Every way to read a proof. Raises FormatError, ServiceError."""
    if not isinstance(document, str) or form == SNARKJS:
        return [Reading(SNARKJS, (proof_from_json(document, curve=curve),))]
    if is_calldata(document.encode()):
        return proof_readings(document.encode(), curve, form=CALLDATA)
    content = decode_text(document, pointer, "bad_proof")
    if form == CALLDATA:
        proof, public = proof_from_abi(content)
        return [Reading(CALLDATA, (proof,), public)]
    return proof_readings(content, curve, form=form)


def read_publics(document: Any, readings: Sequence[Reading], pointer: str) -> list[list[int]]:
    """The public signals of each partition; those of calldata where the caller brought none."""
    own = readings[0].public
    if document is None and own is not None:
        return [list(own)]
    with refusing_document(pointer, "bad_public"):
        found = publics_from_json(document)
        if len(readings[0].proofs) == 1 and len(found) > 1:
            public_from_json(document)  # says what is wrong with a list of lists for one proof
    return found


def decode_text(text: str, pointer: str, code: str) -> bytes:
    """The bytes that a text stands for: hex, with 0x or without, else base64. ServiceError for other text."""
    stripped = text.strip()
    if (found := HEX.fullmatch(stripped)) is not None:
        return bytes.fromhex(found[1])
    try:
        return base64.b64decode(stripped, validate=True)
    except (binascii.Error, ValueError) as error:
        raise invalid(pointer, code, "text must be hex, base64 or calldata") from error
