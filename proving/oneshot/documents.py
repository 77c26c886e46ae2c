"""The JSON of snarkjs for one proof, as `proving.formats.snarkjs` writes it."""

import os
from pathlib import Path

from kernels import direct
from proving.oneshot.prover import Proof, Statement

Document = str | list["Document"] | dict[str, "Document"]


def write_statement(statement: Statement, proof: Path, public: Path) -> None:
    """Write public signals and proof, each whole or not at all. Raises OSError."""
    write(public, [str(value) for value in statement.public])
    write(proof, proof_document(statement.proof))


def proof_document(proof: Proof) -> dict[str, Document]:
    """A proof as snarkjs writes it."""
    return {
        "pi_a": g1(direct.coordinates(proof.curve, proof.a)),
        "pi_b": g2(direct.coordinates(proof.curve, proof.b)),
        "pi_c": g1(direct.coordinates(proof.curve, proof.c)),
        "protocol": "groth16",
        "curve": proof.curve.snarkjs_name,
    }


def g1(point: list[int]) -> Document:
    """x, y, z."""
    return [*map(str, point), "1"] if any(point) else ["0", "1", "0"]


def g2(point: list[int]) -> Document:
    """x, y, z, each c0 and c1."""
    if not any(point):
        return [["0", "0"], ["1", "0"], ["0", "0"]]
    x0, x1, y0, y1 = map(str, point)
    return [[x0, x1], [y0, y1], ["1", "0"]]


def encode(document: Document, depth: int = 1) -> str:
    """JSON with one space of indentation, of text that needs no escapes."""
    if isinstance(document, str):
        return f'"{document}"'
    if isinstance(document, dict):
        items, ends = [f'"{name}": {encode(item, depth + 1)}' for name, item in document.items()], "{}"
    else:
        items, ends = [encode(item, depth + 1) for item in document], "[]"
    if not items:
        return ends
    space = "\n" + depth * " "
    return f"{ends[0]}{space}{f',{space}'.join(items)}{space[:-1]}{ends[1]}"


def write(path: Path, document: Document) -> None:
    """Write to a new file beside `path` and rename it over `path`, without waiting for the disk."""
    name = path.with_name(f".{path.name}.{os.urandom(8).hex()}")
    descriptor = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)
    try:
        with os.fdopen(descriptor, "wb") as handle:
            handle.write(encode(document).encode())
            os.fchmod(handle.fileno(), 0o644)
        name.replace(path)
    except BaseException:
        name.unlink(missing_ok=True)
        raise
