"""What a file is, and what is wrong with it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from proving.formats import r1cs, snarkjs, wasm_module, wtns, zkey
from proving.formats.calldata import is_calldata
from proving.formats.describe_binary import describe_binary_forms
from proving.formats.description import Description, key_points, misplaced, proof_points
from proving.formats.errors import FormatError
from proving.formats.recognise import is_utf8
from proving.groth16.proving_key import ProvingKey
from proving.groth16.verifier import check_key

MAX_LISTED = 20


def describe(path: Path | str) -> Description:
    """Recognise a file by its content and check all of it. Raises OSError when it cannot be read."""
    with Path(path).open("rb") as handle:
        head = handle.read(16)
    kind, examine = recognise(head)
    try:
        return examine(Path(path), kind)
    except FormatError as error:
        return Description(str(path), kind, problems=(f"{error.place}: {error.reason}",))


def describe_binary(path: Path, kind: str) -> Description:
    """A file without a magic word: bellman parameters, a verifying key or a proof."""
    return describe_binary_forms(path) or describe_unknown(path, kind)


def recognise(head: bytes) -> tuple[str, Callable[[Path, str], Description]]:
    """What a file's first bytes say that it is, and what looks closer."""
    known = {
        b"zkey": ("proving key (zkey)", describe_zkey),
        b"wtns": ("witness (wtns)", describe_witness),
        b"r1cs": ("constraint system (r1cs)", describe_r1cs),
        b"ptau": ("powers of tau (ptau)", describe_other),
        b"\0asm": ("WebAssembly module", describe_module),
    }
    if head[:4] in known:
        return known[head[:4]]
    if is_calldata(head):
        return "calldata", describe_binary
    if head.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] in (b"{", b"["):
        return "JSON", describe_json
    return ("unknown", describe_binary) if head else ("empty file", describe_unknown)


def describe_zkey(path: Path, kind: str) -> Description:
    """A proving key: sizes, ceremony, and whether every point lies in its group."""
    key = zkey.read_zkey(path)
    contributions = zkey.read_contributions(path)
    infinities = (
        f"{name} {int((~array.any(axis=1)).sum())} of {len(array)}"
        for name, (_, _, array) in zip(("A", "B1", "B2", "C", "H"), zkey.point_arrays(key), strict=True)
    )
    facts = (
        ("protocol", "Groth16"),
        ("curve", key.curve.name),
        ("variables", str(key.variable_count)),
        ("constraints", str(zkey.constraint_rows(key))),
        ("public signals", str(key.public_count)),
        ("domain", f"{key.domain_size} (2^{key.log_domain})"),
        ("points at infinity", ", ".join(infinities)),
        ("contributions", str(len(contributions))),
        ("names", ", ".join(entry.name or "(unnamed)" for entry in contributions[:MAX_LISTED]) or "none"),
        ("trust", trust(key, len(contributions))),
    )
    problems = tuple(
        f"{place}: point {index} is not in the group of {key.curve.name}"
        for place, index in zkey.misplaced_points(key)
    )
    verdict = check_key(key.verifying_key)
    return Description(str(path), kind, facts, problems + (() if verdict.valid else (verdict.reason,)))


def trust(key: ProvingKey, contributions: int) -> str:
    """What the ceremony's record says about a key's secrets."""
    if key.insecure:
        return "INSECURE: a development key, one machine knew its secrets"
    if not contributions:
        return "no contribution: whoever made the key may know its secrets"
    return f"{contributions} contributions to its randomness (not verified here)"


def describe_witness(path: Path, kind: str) -> Description:
    """A witness: its curve and length. Its values stay unsaid."""
    witness = wtns.read_witness(path)
    return Description(str(path), kind, (("curve", witness.curve.name), ("values", str(len(witness.values)))))


def describe_r1cs(path: Path, kind: str) -> Description:
    """A constraint system: its sizes."""
    system = r1cs.read_r1cs(path)
    rows = system.constraints + system.public_count + 1
    facts = (
        ("curve", system.curve.name),
        ("constraints", str(system.constraints)),
        ("wires", str(system.wires)),
        ("outputs", str(system.outputs)),
        ("public inputs", str(system.public_inputs)),
        ("private inputs", str(system.private_inputs)),
        ("domain of a key", f"2^{max(1, (rows - 1).bit_length())}"),
    )
    return Description(str(path), kind, facts)


def describe_module(path: Path, kind: str) -> Description:
    """A WebAssembly module: whether it is a witness generator, and whose."""
    content = path.read_bytes()
    names = wasm_module.read_names(str(path), content)
    exports = set(names.exports)
    if {"getWitness", "setInputSignal", "readSharedRWMemory"} <= exports:
        compiler = "circom 2"
    elif {"getWitnessBuffer", "setSignal", "getSignalOffset32"} <= exports:
        compiler = "circom 1"
    else:
        return Description(str(path), kind, problems=("exports: not a witness generator of circom",))
    curve = wasm_module.find_curve(content)
    facts = (("compiler", compiler), ("curve", "unknown" if curve is None else curve.name))
    return Description(str(path), "witness generator (wasm)", facts)


def describe_json(path: Path, kind: str) -> Description:
    """A JSON document: a proof, a verifying key, public signals or inputs."""
    try:
        document = snarkjs.read_json(path)
    except FormatError:
        binary = None if is_utf8(path.read_bytes()) else describe_binary_forms(path)
        if binary is None:
            raise
        return binary
    if isinstance(document, list):
        return describe_public(path, document)
    if "vk_alpha_1" in document:
        return describe_verifying_key(path, document)
    if "pi_a" in document or "protocol" in document:
        return describe_proof(path, document)
    names = ", ".join(list(document)[:MAX_LISTED])
    return Description(str(path), f"{kind}, perhaps inputs of a circuit", (("members", names or "none"),))


def describe_public(path: Path, document: Any) -> Description:
    """Public signals: how many."""
    kind = "public signals (JSON)"
    try:
        values = snarkjs.public_from_json(document, str(path))
    except FormatError as error:
        return Description(str(path), kind, problems=(f"{error.place}: {error.reason}",))
    return Description(str(path), kind, (("signals", str(len(values))),))


def describe_verifying_key(path: Path, document: Any) -> Description:
    """A verifying key: its curve and number of public signals."""
    kind = "verifying key (JSON)"
    try:
        key = snarkjs.verifying_key_from_json(document, str(path))
    except FormatError as error:
        return Description(str(path), kind, problems=(f"{error.place}: {error.reason}",))
    facts = (("curve", key.curve.name), ("public signals", str(key.public_count)))
    return Description(str(path), kind, facts, misplaced(key.curve, key_points(key)))


def describe_proof(path: Path, document: Any) -> Description:
    """A proof: its curve."""
    kind = "proof (JSON)"
    try:
        proof = snarkjs.proof_from_json(document, str(path))
    except FormatError as error:
        return Description(str(path), kind, problems=(f"{error.place}: {error.reason}",))
    return Description(
        str(path), kind, (("curve", proof.curve.name),), misplaced(proof.curve, proof_points(proof))
    )


def describe_other(path: Path, kind: str) -> Description:
    """A file that is known but has no use here."""
    return Description(str(path), kind, problems=("file: nothing here reads it; it is for making keys",))


def describe_unknown(path: Path, kind: str) -> Description:
    """A file that nothing here reads."""
    return Description(str(path), kind, problems=("header: no kind of file that is known here",))
