"""What a file without a magic word is: bellman parameters, a verifying key or proofs of some library."""

from __future__ import annotations

from pathlib import Path

from kernels.curves import CURVES
from proving.formats.bellman import QUERIES, Parameters, misplaced_queries, read_parameters
from proving.formats.calldata import is_calldata
from proving.formats.description import Description, key_points, misplaced, proof_points
from proving.formats.errors import FormatError
from proving.formats.recognise import MAX_BYTES, Reading, key_from_content, proof_readings
from proving.groth16.verifier import check_key

SURELY_PARAMETERS = 1 << 20
"""Bytes from which on a file of points is taken for parameters, so that what is wrong with them is told."""


def describe_binary_forms(path: Path) -> Description | None:
    """A description, or None for what is no such file."""
    size = path.stat().st_size
    try:
        parameters = read_parameters(path)
    except FormatError as error:
        if size >= SURELY_PARAMETERS and error.place != "verifying key":
            return Description(str(path), "bellman parameters", problems=(f"{error.place}: {error.reason}",))
    else:
        return describe_parameters(path, parameters)
    if size > MAX_BYTES:
        return None
    content = path.read_bytes()
    return describe_proofs(path, content) or describe_key(path, content)


def describe_parameters(path: Path, parameters: Parameters) -> Description:
    """bellman parameters: sizes, ceremony, and whether every point lies in its group."""
    ic = parameters.verifying_key.key.ic
    ceremony = parameters.contributions
    counts = ", ".join(f"{name} {len(getattr(parameters, name))}" for name, _ in QUERIES)
    facts = (
        ("protocol", "Groth16"),
        ("curve", "bls12-381"),
        ("variables", str(parameters.variable_count)),
        ("public signals", str(len(ic) - 1)),
        ("domain", f"{parameters.domain_size} (2^{parameters.domain_size.bit_length() - 1})"),
        ("points", counts),
        ("contributions", "no record" if ceremony is None else str(ceremony)),
    )
    try:
        problems = tuple(
            f"{name} query: point {index} is not in the group of bls12-381"
            for name, index in misplaced_queries(parameters)
        )
    except FormatError as error:
        problems = (f"{error.place}: {error.reason}",)
    return Description(str(path), "bellman parameters", facts, problems)


def describe_proofs(path: Path, content: bytes) -> Description | None:
    """Proofs in a binary form, or calldata. Forms whose points are in their groups go first."""
    found: list[tuple[Reading, tuple[str, ...]]] = []
    for curve in CURVES:
        try:
            readings = proof_readings(content, curve, str(path))
        except FormatError:
            continue
        for reading in readings:
            wrong = [misplaced(curve, proof_points(proof)) for proof in reading.proofs]
            found.append((reading, tuple(problem for problems in wrong for problem in problems)))
    if not found:
        return None
    sound = [item for item in found if not item[1]] or found
    reading, problems = sound[0]
    forms = ", or ".join(dict.fromkeys(f"{item.form} ({item.proofs[0].curve.name})" for item, _ in sound))
    facts = [("form", forms), ("proofs", str(len(reading.proofs)))]
    if reading.public is not None:
        facts.append(("public signals", str(len(reading.public))))
    kind = "proof (calldata)" if is_calldata(content) else "proof (binary)"
    return Description(str(path), kind, tuple(facts), problems)


def describe_key(path: Path, content: bytes) -> Description | None:
    """A verifying key in a binary form."""
    try:
        reading = key_from_content(content, str(path))
    except FormatError:
        return None
    key = reading.key
    facts = (("form", reading.form), ("curve", key.curve.name), ("public signals", str(key.public_count)))
    verdict = check_key(key)
    problems = misplaced(key.curve, key_points(key)) or (() if verdict.valid else (verdict.reason,))
    return Description(str(path), "verifying key (binary)", facts, problems)
