"""Circuits of any size with a witness, made without a compiler: for benchmarks and tests of large keys."""

from __future__ import annotations

import random
from enum import StrEnum
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from kernels.curves import Curve
from proving.formats.r1cs import Matrix, R1cs
from proving.formats.words import to_words
from proving.formats.wtns import Witness

BLOCK_BITS = 250
OUTPUT, FACTOR, START = 1, 2, 3

Terms: TypeAlias = list[tuple[int, int]]


class ChainKind(StrEnum):
    """What the witness is made of."""

    DENSE = "dense"  # full-width values, every wire in A and B
    BITS = "bits"  # nearly all zeros and ones, as in hashes like SHA-256
    MIX = "mix"  # half of each, as where signatures are checked beside hashes


def chain_circuit(
    curve: Curve, constraints: int, kind: ChainKind | str = ChainKind.DENSE, seed: int = 1
) -> tuple[R1cs, Witness]:
    """A satisfied constraint system with that many constraints and one public output.

    "dense" is the chain s[i + 1] = (s[i] + k) (s[i] + i); "bits" takes numbers of 250 bits apart; "mix" has
    half its rows from each. The same seed gives the same witness. Raises ValueError for fewer than two
    constraints (four for "mix") or another kind.
    """
    least = 4 if ChainKind(kind) is ChainKind.MIX else 2
    if constraints < least:
        raise ValueError(f"such a chain has at least {least} constraints")
    source = random.Random(seed)  # noqa: S311 - a reproducible witness, no secret
    match ChainKind(kind):
        case ChainKind.DENSE:
            return dense_chain(curve, constraints, source)
        case ChainKind.BITS:
            return bit_chain(curve, constraints, source)
        case ChainKind.MIX:
            dense = constraints // 2
            return joined(dense_chain(curve, dense, source), bit_chain(curve, constraints - dense, source))


def dense_chain(curve: Curve, constraints: int, source: random.Random) -> tuple[R1cs, Witness]:
    """Wires: one, the output s[n], k, s[0], s[1] ... s[n - 1]."""
    state = np.arange(START, START + constraints, dtype=np.uint32)
    following = np.append(state[1:], np.uint32(OUTPUT))
    rows = np.arange(constraints)
    system = build(
        curve,
        wires=constraints + START,
        private_inputs=2,
        a=interleave(state, np.full_like(state, FACTOR), unit(constraints), unit(constraints)),
        b=without_zeros(interleave(state, np.zeros_like(state), unit(constraints), small(rows))),
        c=single(following, unit(constraints)),
    )
    factor, value = source.randrange(curve.r), source.randrange(curve.r)
    values = [value]
    for index in range(constraints):
        values.append((values[-1] + factor) * (values[-1] + index) % curve.r)
    return system, Witness(curve, to_words([1, values[-1], factor, *values[:-1]]))


def bit_chain(curve: Curve, constraints: int, source: random.Random) -> tuple[R1cs, Witness]:
    """Blocks of rows b (b - 1) = 0, each ended by a row that sums the block's bits to a number.

    Wires: one, the first number (the output), the other numbers, the bits.
    """
    lengths = block_lengths(constraints)
    numbers = [source.getrandbits(length) for length in lengths]
    first_bit = 1 + len(numbers)
    bits = [
        number >> place & 1
        for number, length in zip(numbers, lengths, strict=True)
        for place in range(length)
    ]
    a: list[Terms] = []
    b: list[Terms] = []
    c: list[Terms] = []
    wire = first_bit
    for index, length in enumerate(lengths):
        for place in range(length):
            a.append([(wire + place, 1)])
            b.append([(wire + place, 1), (0, curve.r - 1)])
            c.append([])
        a.append([(wire + place, 1 << place) for place in range(length)])
        b.append([(0, 1)])
        c.append([(1 + index, 1)])
        wire += length
    system = build(
        curve,
        wires=first_bit + len(bits),
        private_inputs=len(numbers) - 1,
        a=from_terms(a),
        b=from_terms(b),
        c=from_terms(c),
    )
    return system, Witness(curve, to_words([1, *numbers, *bits]))


def joined(first: tuple[R1cs, Witness], second: tuple[R1cs, Witness]) -> tuple[R1cs, Witness]:
    """Both systems side by side: one wire one, the first's output, the second's as private inputs."""
    (left, left_witness), (right, right_witness) = first, second
    shift = left.wires - 1
    system = build(
        left.curve,
        wires=left.wires + right.wires - 1,
        private_inputs=left.private_inputs + right.private_inputs + 1,
        a=stacked(left.a, right.a, shift),
        b=stacked(left.b, right.b, shift),
        c=stacked(left.c, right.c, shift),
    )
    values = np.concatenate([left_witness.values, right_witness.values[1:]])
    return system, Witness(left.curve, values)


def stacked(top: Matrix, bottom: Matrix, shift: int) -> Matrix:
    """The rows of both; all wires of the lower one but wire 0 move up by `shift`."""
    columns = np.where(bottom.columns == 0, 0, bottom.columns + np.uint32(shift)).astype(np.uint32)
    return Matrix(
        np.concatenate([top.row_ptr, bottom.row_ptr[1:] + top.row_ptr[-1]]),
        np.concatenate([top.columns, columns]),
        np.concatenate([top.values, bottom.values]),
    )


def block_lengths(constraints: int) -> list[int]:
    """How many bits each block has, so that bits and sums make that many rows."""
    whole, rest = divmod(constraints, BLOCK_BITS + 1)
    if rest == 1:  # a block has at least one bit: the last whole one gives up one row
        return [*[BLOCK_BITS] * (whole - 1), BLOCK_BITS - 1, 1]
    return [BLOCK_BITS] * whole + ([rest - 1] if rest else [])


def build(curve: Curve, *, wires: int, private_inputs: int, a: Matrix, b: Matrix, c: Matrix) -> R1cs:
    """A system of three matrices with one public output."""
    return R1cs(
        curve=curve,
        wires=wires,
        outputs=1,
        public_inputs=0,
        private_inputs=private_inputs,
        labels=wires,
        constraints=len(a.row_ptr) - 1,
        a=a,
        b=b,
        c=c,
    )


def unit(count: int) -> NDArray[np.uint64]:
    """The value one, (count, 4)."""
    return small(np.ones(count, dtype=np.int64))


def small(values: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Non-negative 63-bit values as (n, 4) words."""
    words = np.zeros((len(values), 4), dtype="<u8")
    words[:, 0] = values
    return words


def single(columns: NDArray[np.uint32], values: NDArray[np.uint64]) -> Matrix:
    """One term a row."""
    return Matrix(np.arange(len(columns) + 1), columns, values)


def interleave(
    first: NDArray[np.uint32],
    second: NDArray[np.uint32],
    first_values: NDArray[np.uint64],
    second_values: NDArray[np.uint64],
) -> Matrix:
    """Two terms a row."""
    columns = np.stack([first, second], axis=1).reshape(-1)
    values = np.stack([first_values, second_values], axis=1).reshape(-1, 4)
    return Matrix(2 * np.arange(len(first) + 1), columns, values)


def without_zeros(matrix: Matrix) -> Matrix:
    """The same matrix without its terms of value zero."""
    kept = matrix.values.any(axis=1)
    before = np.concatenate(([0], np.cumsum(kept)))
    return Matrix(before[matrix.row_ptr], matrix.columns[kept], matrix.values[kept])


def from_terms(rows: list[Terms]) -> Matrix:
    """A matrix from lists of (wire, value) a row."""
    row_ptr = np.concatenate(([0], np.cumsum([len(row) for row in rows])))
    terms = [term for row in rows for term in row]
    columns = np.array([wire for wire, _ in terms], dtype=np.uint32)
    return Matrix(row_ptr, columns, to_words(value for _, value in terms))
