"""cuzkweb convert: proofs and verifying keys from one form into another."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from cuzkweb.commands.refusals import Refused

if TYPE_CHECKING:
    from proving.formats.coats import FullVerifyingKey
    from proving.groth16.objects import Proof

FORMS = (
    "snarkjs",
    "bellman",
    "arkworks",
    "arkworks-uncompressed",
    "gnark",
    "gnark-raw",
    "waves",
    "calldata",
    "calldata-abi",
    "solidity",
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's flags."""
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument(
        "--vkey", type=Path, metavar="V", help="a verifying key, or a proving key that holds one"
    )
    what.add_argument("--proof", type=Path, metavar="P", help="a proof; of several partitions, all of them")
    parser.add_argument("--to", choices=FORMS, required=True, help="the form that is wanted")
    parser.add_argument("--out", type=Path, required=True, metavar="FILE", help="where it goes")
    parser.add_argument("--from", dest="form", metavar="F", help="the form that it has, where unclear")
    parser.add_argument(
        "--curve", choices=("bn254", "bls12-381"), help="the curve of a proof in a binary form"
    )
    parser.add_argument("--public", type=Path, metavar="Q", help="public signals (JSON), for calldata")
    parser.add_argument("--name", default="Verifier", help="name of the contract (solidity)")
    parser.set_defaults(usage_error=parser.error)


def run(options: argparse.Namespace) -> int:
    """Read, convert, write; a form that cannot hold the thing is refused."""
    from proving.formats.files import write_atomically

    try:
        content = convert_key(options) if options.vkey is not None else convert_proof(options)
    except ValueError as error:
        raise Refused(str(error)) from error
    write_atomically(options.out, [content])
    return 0


def convert_key(options: argparse.Namespace) -> bytes:
    """A verifying key in the form that is wanted; its points are checked first."""
    from proving.formats.coats import Coat, verifying_key_to_bytes
    from proving.formats.contract import verifier_contract
    from proving.formats.snarkjs import verifying_key_to_json
    from proving.groth16.verifier import check_key

    full = read_key(options)
    verdict = check_key(full.key)
    if not verdict.valid:
        raise Refused(f"{options.vkey}: {verdict.reason}")
    if options.to == "snarkjs":
        return json_bytes(verifying_key_to_json(full.key))
    if options.to == "solidity":
        return verifier_contract(full.key, options.name).encode()
    if options.to in {"calldata", "calldata-abi"}:
        raise Refused("calldata holds a proof, not a verifying key")
    return verifying_key_to_bytes(full, Coat(options.to))


def read_key(options: argparse.Namespace) -> "FullVerifyingKey":
    """The verifying key that is given, in the form that it has."""
    from kernels.curves import curve_by_name
    from proving.formats.recognise import key_from_content, read_any_key, read_bytes

    if options.form is None:
        return read_any_key(options.vkey).full
    curve = curve_by_name(options.curve) if options.curve else None
    return key_from_content(read_bytes(options.vkey), str(options.vkey), options.form, curve).full


def convert_proof(options: argparse.Namespace) -> bytes:
    """A proof in the form that is wanted; several partitions only in bellman's."""
    from proving.formats.calldata import proof_to_abi, proof_to_calldata
    from proving.formats.coats import Coat, proof_to_bytes
    from proving.formats.snarkjs import proof_to_json

    proofs, own_public = read_proofs(options)
    if options.to in {"bellman", "waves"}:
        return b"".join(proof_to_bytes(proof, Coat.BELLMAN) for proof in proofs)
    if len(proofs) != 1:
        if options.to != "snarkjs":
            raise Refused(f"{options.to} holds one proof, {options.proof} has {len(proofs)}")
        return json_bytes([proof_to_json(proof) for proof in proofs])
    proof = proofs[0]
    if options.to == "snarkjs":
        return json_bytes(proof_to_json(proof))
    if options.to == "solidity":
        raise Refused("a contract is made of a verifying key, not of a proof")
    if options.to in {"calldata", "calldata-abi"}:
        public = own_public if options.public is None else read_signals(options)
        if public is None:
            options.usage_error("calldata holds the public signals too: --public is missing")
        if options.to == "calldata":
            return proof_to_calldata(proof, public or ()).encode() + b"\n"
        return proof_to_abi(proof, public or ())
    return proof_to_bytes(proof, Coat(options.to))


def read_proofs(options: argparse.Namespace) -> tuple[tuple["Proof", ...], tuple[int, ...] | None]:
    """The proofs that are given, and the public signals that came with them."""
    from kernels.curves import CURVES, curve_by_name
    from proving.formats.errors import FormatError
    from proving.formats.recognise import Reading, proof_readings, read_bytes

    content, file = read_bytes(options.proof), str(options.proof)
    readings: list[Reading] = []
    complaints: list[FormatError] = []
    for curve in [curve_by_name(options.curve)] if options.curve else CURVES:
        try:
            readings += proof_readings(content, curve, file, options.form)
        except FormatError as error:
            complaints.append(error)
    readings = [reading for reading in readings if all(map(in_group, reading.proofs))] or readings
    distinct = {reading.proofs for reading in readings}
    if not readings:
        raise complaints[-1]
    if len(distinct) > 1:
        forms = ", ".join(reading.form for reading in readings)
        raise Refused(f"{file}: may be {forms}: say which with --from")
    return readings[0].proofs, readings[0].public


def in_group(proof: "Proof") -> bool:
    """Whether a proof's points are all in their groups."""
    from proving.groth16.verifier import Verdict, admit_points

    return not isinstance(admit_points(proof.curve, proof), Verdict)


def read_signals(options: argparse.Namespace) -> tuple[int, ...]:
    """The public signals that are given, each below the field's modulus."""
    from kernels.curves import BN254
    from proving.formats.snarkjs import read_public

    signals = tuple(read_public(options.public))
    if any(signal >= BN254.r for signal in signals):
        raise Refused(f"{options.public}: a public signal is not below the field's modulus")
    return signals


def json_bytes(document: object) -> bytes:
    """A document as snarkjs formats it."""
    import json

    return json.dumps(document, indent=1).encode()
