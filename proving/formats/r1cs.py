"""Constraint systems (`.r1cs`) of circom: rows <A, w> * <B, w> = <C, w> over the wires of a witness."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from kernels import field
from kernels.constraints import evaluate
from kernels.curves import Curve
from proving.formats.container import Container, Section, encode_container, open_container, take_scalar_field
from proving.formats.files import write_atomically
from proving.formats.words import first_not_below

MAGIC = b"r1cs"
SECTIONS = {1: "header", 2: "constraints", 3: "labels", 4: "custom gates", 5: "custom gate uses"}
MATRICES = "ABC"
FR_WORDS = 4
RECORD = np.dtype([("matrix", "<u4"), ("row", "<u4"), ("wire", "<u4"), ("value", "<u8", (FR_WORDS,))])
TERM_WORDS = 9  # a term in 32-bit words: the wire, then 32 bytes of value


@dataclass(frozen=True, slots=True, eq=False)
class Matrix:
    """One of A, B, C by rows: row i holds the terms row_ptr[i] to row_ptr[i + 1].

    row_ptr (rows + 1,) int64; columns (terms,) uint32, wires; values (terms, 4) uint64, plain and canonical.
    """

    row_ptr: NDArray[np.int64]
    columns: NDArray[np.uint32]
    values: NDArray[np.uint64]

    @property
    def term_rows(self) -> NDArray[np.int64]:
        """The row of each term, (terms,) int64."""
        return np.repeat(np.arange(len(self.row_ptr) - 1), np.diff(self.row_ptr))


@dataclass(frozen=True, slots=True, eq=False)
class R1cs:
    """A constraint system. Wires: the constant one, outputs, public inputs, private inputs, the rest."""

    curve: Curve
    wires: int
    outputs: int
    public_inputs: int
    private_inputs: int
    labels: int
    constraints: int
    a: Matrix
    b: Matrix
    c: Matrix

    @property
    def public_count(self) -> int:
        """Public signals of a proof: outputs and public inputs."""
        return self.outputs + self.public_inputs

    @property
    def matrices(self) -> tuple[Matrix, Matrix, Matrix]:
        """A, B and C."""
        return self.a, self.b, self.c


@dataclass(frozen=True, slots=True)
class Header:
    """Section 1: the sizes of the system."""

    curve: Curve
    wires: int
    outputs: int
    public_inputs: int
    private_inputs: int
    labels: int
    constraints: int


def read_r1cs(path: Path | str) -> R1cs:
    """Read a constraint system and check it.

    Refuses custom gates (Groth16 has none), wires out of bounds and coefficients that are not below r.
    Raises FormatError, or OSError when there is no file.
    """
    container = open_container(path, MAGIC, (1,), SECTIONS)
    header = read_counts(container)
    refuse_custom_gates(container)
    a, b, c = read_matrices(container.section(2), header)
    return R1cs(
        curve=header.curve,
        wires=header.wires,
        outputs=header.outputs,
        public_inputs=header.public_inputs,
        private_inputs=header.private_inputs,
        labels=header.labels,
        constraints=header.constraints,
        a=a,
        b=b,
        c=c,
    )


def read_counts(container: Container) -> Header:
    """Section 1, its numbers held against each other."""
    section = container.section(1)
    curve = take_scalar_field(section)
    wires, outputs, public_inputs, private_inputs = (
        section.take_u32(f"the number of {what}")
        for what in ("wires", "outputs", "public inputs", "private inputs")
    )
    labels = section.take_integer(8, "the number of labels")
    constraints = section.take_u32("the number of constraints")
    section.finish()
    public = outputs + public_inputs  # private inputs that no constraint uses have no wire
    if 1 + public > wires:
        raise section.refusal(f"{wires} wires cannot hold the constant and {public} public signals")
    return Header(curve, wires, outputs, public_inputs, private_inputs, labels, constraints)


def refuse_custom_gates(container: Container) -> None:
    """Custom gates are PLONK's: a Groth16 proof would say nothing about them."""
    for number in (4, 5):
        if number in container.sections:
            section = container.section(number)
            if len(section.body) > 4 or section.take_integer(len(section.body), "the count"):
                raise section.refusal("the circuit uses custom gates, which Groth16 cannot prove")


def read_matrices(section: Section, header: Header) -> tuple[Matrix, Matrix, Matrix]:
    """The body of section 2 as three matrices, every index and value in bounds."""
    words = as_words32(section)
    starts = np.array(find_combinations(section, words, 3 * header.constraints), dtype=np.int64)
    a, b, c = (gather_terms(words, starts[matrix::3]) for matrix in range(3))
    for name, matrix in zip(MATRICES, (a, b, c), strict=True):
        check_terms(section, name, matrix, header)
    return a, b, c


def as_words32(section: Section) -> NDArray[np.uint32]:
    """A body of 32-bit words."""
    if len(section.body) % 4:
        raise section.refusal(f"{len(section.body)} bytes are not a whole number of 32-bit words")
    return section.take(len(section.body), "the constraints").view("<u4")


def find_combinations(section: Section, words: NDArray[np.uint32], count: int) -> list[int]:
    """Where each linear combination begins, in words: its number of terms stands there."""
    if count > len(words):
        raise section.refusal(f"too short for {count // 3} constraints")
    counts = memoryview(words)  # type: ignore[arg-type]
    limit = len(words)
    position = 0
    starts: list[int] = []
    try:
        for _ in range(count):
            starts.append(position)
            position += 1 + TERM_WORDS * counts[position]
    except IndexError:
        position = limit + 1
    if position > limit:
        row, matrix = divmod(len(starts) - 1, 3)
        raise section.refusal(f"constraint {row}, {MATRICES[matrix]}: the section ends within it")
    if position < limit:
        raise section.refusal(f"{4 * (limit - position)} bytes after the last constraint")
    return starts


def gather_terms(words: NDArray[np.uint32], starts: NDArray[np.int64]) -> Matrix:
    """Collect the terms of the combinations that begin at the given words."""
    lengths = words[starts].astype(np.int64)
    row_ptr = np.concatenate(([0], np.cumsum(lengths)))
    first = np.repeat(starts + 1 - TERM_WORDS * row_ptr[:-1], lengths)
    terms = first + TERM_WORDS * np.arange(row_ptr[-1])
    values = np.empty((len(terms), 2 * FR_WORDS), dtype="<u4")
    for word in range(2 * FR_WORDS):
        values[:, word] = words[terms + 1 + word]
    return Matrix(row_ptr, words[terms], values.view("<u8"))


def check_terms(section: Section, name: str, matrix: Matrix, header: Header) -> None:
    """Refuse wires that the system has not and values that are not below r."""
    bad = np.flatnonzero(matrix.columns >= header.wires)
    if len(bad):
        wire = int(matrix.columns[bad[0]])
        raise section.refusal(f"{locate(name, matrix, int(bad[0]))}: wire {wire} of {header.wires}")
    over = first_not_below(matrix.values, header.curve.r)
    if over is not None:
        reason = f"the coefficient is not below the scalar field of {header.curve.name}"
        raise section.refusal(f"{locate(name, matrix, over)}: {reason}")


def locate(name: str, matrix: Matrix, term: int) -> str:
    """How an error calls a term: its constraint and its matrix."""
    row = int(np.searchsorted(matrix.row_ptr, term, side="right")) - 1
    return f"constraint {row}, {name}"


def write_r1cs(path: Path | str, r1cs: R1cs) -> None:
    """Write a constraint system as circom does, wires labelled by their own numbers. Raises OSError."""
    write_atomically(path, encode_r1cs(r1cs))


def encode_r1cs(r1cs: R1cs) -> list[bytes | memoryview]:
    """The pieces of an r1cs file."""
    header = struct.pack("<I", 8 * FR_WORDS) + r1cs.curve.r.to_bytes(8 * FR_WORDS, "little")
    header += struct.pack(
        "<IIIIQI",
        r1cs.wires,
        r1cs.outputs,
        r1cs.public_inputs,
        r1cs.private_inputs,
        r1cs.labels,
        r1cs.constraints,
    )
    labels = np.arange(r1cs.wires, dtype="<u8").tobytes()
    return encode_container(MAGIC, 1, [(2, [encode_matrices(r1cs)]), (1, [header]), (3, [labels])])


def encode_matrices(r1cs: R1cs) -> bytes:
    """The body of section 2."""
    lengths = np.stack([np.diff(matrix.row_ptr) for matrix in r1cs.matrices], axis=1).reshape(-1)
    starts = np.concatenate(([0], np.cumsum(1 + TERM_WORDS * lengths)))
    words = np.zeros(starts[-1], dtype="<u4")
    words[starts[:-1]] = lengths
    for index, matrix in enumerate(r1cs.matrices):
        scatter_terms(words, starts[index:-1:3], matrix)
    return words.tobytes()


def scatter_terms(words: NDArray[np.uint32], starts: NDArray[np.int64], matrix: Matrix) -> None:
    """Lay the terms of one matrix where its combinations begin."""
    first = np.repeat(starts + 1 - TERM_WORDS * matrix.row_ptr[:-1], np.diff(matrix.row_ptr))
    terms = first + TERM_WORDS * np.arange(len(matrix.columns))
    words[terms] = matrix.columns
    values = np.ascontiguousarray(matrix.values, dtype="<u8").view("<u4").reshape(-1, 2 * FR_WORDS)
    for word in range(2 * FR_WORDS):
        words[terms + 1 + word] = values[:, word]


def first_unsatisfied(r1cs: R1cs, witness: NDArray[np.uint64], threads: int = 0) -> int | None:
    """The first constraint that a witness breaks, or None.

    `witness` is (wires, 4) uint64, plain and canonical. Raises ValueError for another number of wires.
    """
    if len(witness) != r1cs.wires:
        raise ValueError(f"the witness has {len(witness)} values, the constraint system {r1cs.wires} wires")
    if not r1cs.constraints:
        return None
    a, b = multiply(r1cs, [r1cs.a, r1cs.b], witness, threads)
    c, _ = multiply(r1cs, [r1cs.c], witness, threads)
    # Products with plain coefficients lack a factor R each: a b stands at R^-3, c is brought there.
    fr = field.scalar_field(r1cs.curve)
    products = field.mul(fr, a, b)
    expected = field.from_montgomery(fr, field.from_montgomery(fr, c))
    broken = np.flatnonzero((products != expected).any(axis=1))
    return int(broken[0]) if len(broken) else None


def multiply(
    r1cs: R1cs, matrices: list[Matrix], witness: NDArray[np.uint64], threads: int
) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """One or two matrices times a witness, divided by R: (constraints, 4) words each."""
    records = np.concatenate([coefficient_records(matrix, index) for index, matrix in enumerate(matrices)])
    count = np.array([len(records)], dtype="<u4").view(np.uint8)
    section = np.concatenate([count, records.view(np.uint8)])
    return evaluate(r1cs.curve, section, witness, r1cs.constraints, threads)


def coefficient_records(matrix: Matrix, index: int) -> NDArray[np.void]:
    """The terms of a matrix as a key's coefficients, their values plain."""
    records = np.zeros(len(matrix.columns), dtype=RECORD)
    records["matrix"] = index
    records["row"] = matrix.term_rows
    records["wire"] = matrix.columns
    records["value"] = matrix.values
    return records
