"""A constraint system as a quadratic arithmetic program, and its polynomials at a point.

The program has a row for each constraint and one more for wire 0 and each public wire, where that wire
alone stands in A: it makes their polynomials independent. The domain is the next power of two.

snarkjs and bellman agree on all of that, but not on the root of unity whose powers the rows are, and so on
which row stands where in the domain, nor on the quotient's basis: snarkjs's is the Lagrange basis of the
coset on which its provers evaluate the quotient, bellman's are the powers of the variable.
"""

from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from kernels import field
from kernels.constraints import evaluate
from kernels.curves import Curve
from proving.groth16.lagrange import geometric, lagrange_basis, montgomery, power_of_two_power

Words = NDArray[np.uint64]
Records = NDArray[np.void]
RECORD = np.dtype([("matrix", "<u4"), ("row", "<u4"), ("wire", "<u4"), ("value", "<u8", (4,))])
A, B = 0, 1
BELLMAN_GENERATOR = 7


class RowOrder(StrEnum):
    """Whose powers of whose root of unity the rows of a program are."""

    SNARKJS = "snarkjs"
    BELLMAN = "bellman"


class Combinations(Protocol):
    """One linear combination of wires a constraint, as compressed rows."""

    @property
    def row_ptr(self) -> NDArray[np.int64]:
        """(constraints + 1,): where each row starts in the other two."""
        ...

    @property
    def columns(self) -> NDArray[np.uint32]:
        """(entries,): the wire of each entry."""
        ...

    @property
    def values(self) -> Words:
        """(entries, 4): the coefficient of each entry, plain and canonical."""
        ...


class ConstraintSystem(Protocol):
    """What a setup reads of a rank-1 constraint system: a * b = c on every row."""

    @property
    def curve(self) -> Curve:
        """The curve whose scalar field the system is over."""
        ...

    @property
    def wires(self) -> int:
        """All wires, the constant wire 0 included."""
        ...

    @property
    def public_count(self) -> int:
        """Public outputs and inputs: wires 1 to public_count."""
        ...

    @property
    def a(self) -> Combinations:
        """Left factors."""
        ...

    @property
    def b(self) -> Combinations:
        """Right factors."""
        ...

    @property
    def c(self) -> Combinations:
        """Products."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class Polynomials:
    """Values at a point, Montgomery words: A, B and C of every wire, each (wires, 4), and (domain, 4) of H.

    `h` is what a prover's quotient multiplies, before the division by delta: its values on the odd coset, or,
    one fewer, its coefficients.
    """

    a: Words
    b: Words
    c: Words
    h: Words


def domain_size(system: ConstraintSystem, order: RowOrder = RowOrder.SNARKJS) -> int:
    """The rows of the program, rounded up to a power of two; snarkjs never takes less than two.

    Raises ValueError when Fr has no such domain.
    """
    rows = constraint_count(system) + system.public_count + 1
    least = 1 if order is RowOrder.SNARKJS else 0
    size = 1 << max(least, (rows - 1).bit_length())
    if size.bit_length() - 1 > system.curve.two_adicity:
        raise ValueError(f"{rows} rows are more than the scalar field of {system.curve.name} has room for")
    return size


def constraint_count(system: ConstraintSystem) -> int:
    """The constraints of a system."""
    return len(system.a.row_ptr) - 1


def key_records(system: ConstraintSystem, order: RowOrder = RowOrder.SNARKJS) -> Records:
    """The coefficients of A and B as records of a proving key, values scaled by R^2 (R = 2^256).

    The rows are numbered by snarkjs's root of unity, whoever's order they stand in.
    """
    rows = constraint_count(system)
    public = np.zeros(system.public_count + 1, dtype=RECORD)
    public["wire"] = np.arange(len(public))
    public["row"] = rows + public["wire"]
    public["value"] = montgomery(system.curve, 1 << 256)
    records = np.concatenate(
        [matrix_records(system, system.a, A), public, matrix_records(system, system.b, B)]
    )
    reorder(system, records, order)
    return records


def reorder(system: ConstraintSystem, records: Records, order: RowOrder) -> None:
    """Turn the numbers of rows in an order into their places among the powers of snarkjs's root."""
    if order is RowOrder.BELLMAN:
        mask = domain_size(system, order) - 1
        rows = records["row"].astype(np.uint64) * np.uint64(bellman_exponent(system.curve) & mask)
        records["row"] = (rows & np.uint64(mask)).astype(np.uint32)


@lru_cache
def bellman_exponent(curve: Curve) -> int:
    """The power of snarkjs's root of unity that bellman's is, for the largest domain.

    Reduced modulo the size of a smaller domain it is the power there. Found bit by bit.
    """
    ours = curve.root_of_unity(curve.two_adicity)
    left = pow(BELLMAN_GENERATOR, (curve.r - 1) >> curve.two_adicity, curve.r)
    exponent = 0
    for bit in range(curve.two_adicity):
        if pow(left, 1 << (curve.two_adicity - 1 - bit), curve.r) != 1:
            exponent |= 1 << bit
            left = left * pow(ours, -(1 << bit), curve.r) % curve.r
    return exponent


def matrix_records(system: ConstraintSystem, combinations: Combinations, matrix: int) -> Records:
    """One matrix as records, row by row."""
    fr = field.scalar_field(system.curve)
    records = np.zeros(len(combinations.columns), dtype=RECORD)
    lengths = combinations.row_ptr[1:] - combinations.row_ptr[:-1]
    records["matrix"] = matrix
    records["row"] = np.repeat(np.arange(len(lengths), dtype=np.uint32), lengths)
    records["wire"] = combinations.columns
    records["value"] = field.to_montgomery(fr, field.to_montgomery(fr, combinations.values))
    return records


def encode_records(records: Records) -> NDArray[np.uint8]:
    """Records as the body of a zkey's coefficient section: a u32 count, then the records."""
    count = np.array([len(records)], dtype="<u4")
    return np.concatenate([count.view(np.uint8), records.view(np.uint8)])


def evaluate_at(
    system: ConstraintSystem,
    records: Records,
    order: RowOrder,
    tau: Words,
    threads: int = 0,
) -> Polynomials:
    """Every polynomial of the program at tau, (1, 4) Montgomery words; `records` are its key's, in `order`.

    Raises ZeroDivisionError when tau lies on the domain or its coset.
    """
    curve = system.curve
    log_domain = domain_size(system, order).bit_length() - 1
    basis = lagrange_basis(curve, log_domain, 1, tau)
    a, b = transposed_product(system, records, basis, threads)
    products = matrix_records(system, system.c, A)
    reorder(system, products, order)
    c, _ = transposed_product(system, products, basis, threads)
    quotient = quotient_basis if order is RowOrder.SNARKJS else monomial_basis
    return Polynomials(a, b, c, quotient(curve, log_domain, tau))


def transposed_product(
    system: ConstraintSystem, records: Records, basis: Words, threads: int
) -> tuple[Words, Words]:
    """For every wire the sum of its coefficients times the basis of their rows, in A and in B.

    The kernel that multiplies rows by a witness does it, with rows and wires in each other's places.
    """
    turned = records.copy()
    turned["row"], turned["wire"] = records["wire"], records["row"]
    plain = field.from_montgomery(field.scalar_field(system.curve), basis)
    try:
        return evaluate(system.curve, encode_records(turned), plain, system.wires, threads)
    finally:
        plain.fill(0)


def quotient_basis(curve: Curve, log_domain: int, tau: Words) -> Words:
    """Z(tau) / Z(coset) times the Lagrange basis of the coset at tau; Z(x) = x^n - 1 is constant there."""
    fr = field.scalar_field(curve)
    shift = curve.coset_shift(log_domain)
    basis = lagrange_basis(curve, log_domain, shift, tau)
    vanishing = field.sub(fr, power_of_two_power(curve, tau, log_domain), montgomery(curve, 1))
    on_coset = pow(shift, 1 << log_domain, curve.r) - 1
    factor = field.mul(fr, vanishing, montgomery(curve, pow(on_coset, -1, curve.r)))
    return field.mul(fr, basis, factor)


def monomial_basis(curve: Curve, log_domain: int, tau: Words) -> Words:
    """Z(tau) times the powers of tau from 0 to n - 2; Z(x) = x^n - 1."""
    fr = field.scalar_field(curve)
    vanishing = field.sub(fr, power_of_two_power(curve, tau, log_domain), montgomery(curve, 1))
    plain = int.from_bytes(field.from_montgomery(fr, tau).tobytes(), "little")
    return field.mul(fr, geometric(curve, 1, plain, log_domain), vanishing)[:-1]
