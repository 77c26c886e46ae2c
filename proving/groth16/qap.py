"""A constraint system as snarkjs's quadratic arithmetic program, and its polynomials at a point.

The program has a row for each constraint and one more for wire 0 and each public wire, where that wire
alone stands in A: it makes their polynomials independent. The domain is the next power of two. The
quotient's basis is the Lagrange basis of the coset on which provers evaluate it.
"""

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from kernels import field
from kernels.constraints import evaluate
from kernels.curves import Curve
from proving.groth16.lagrange import lagrange_basis, montgomery, power_of_two_power

Words = NDArray[np.uint64]
Records = NDArray[np.void]
RECORD = np.dtype([("matrix", "<u4"), ("row", "<u4"), ("wire", "<u4"), ("value", "<u8", (4,))])
A, B = 0, 1


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

    `h` is what a prover's quotient evaluations a b - c multiply, before the division by delta.
    """

    a: Words
    b: Words
    c: Words
    h: Words


def domain_size(system: ConstraintSystem) -> int:
    """The rows of the program, rounded up to a power of two. Raises ValueError when Fr has no such domain."""
    rows = constraint_count(system) + system.public_count + 1
    size = 1 << max(1, (rows - 1).bit_length())
    if size.bit_length() - 1 > system.curve.two_adicity:
        raise ValueError(f"{rows} rows are more than the scalar field of {system.curve.name} has room for")
    return size


def constraint_count(system: ConstraintSystem) -> int:
    """The constraints of a system."""
    return len(system.a.row_ptr) - 1


def key_records(system: ConstraintSystem) -> Records:
    """The coefficients of A and B as records of a proving key, values scaled by R^2 (R = 2^256)."""
    rows = constraint_count(system)
    public = np.zeros(system.public_count + 1, dtype=RECORD)
    public["wire"] = np.arange(len(public))
    public["row"] = rows + public["wire"]
    public["value"] = montgomery(system.curve, 1 << 256)
    return np.concatenate([matrix_records(system, system.a, A), public, matrix_records(system, system.b, B)])


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
    system: ConstraintSystem, records: Records, log_domain: int, tau: Words, threads: int = 0
) -> Polynomials:
    """Every polynomial of the program at tau, (1, 4) Montgomery words.

    Raises ZeroDivisionError when tau lies on the domain or its coset.
    """
    curve = system.curve
    basis = lagrange_basis(curve, log_domain, 1, tau)
    a, b = transposed_product(system, records, basis, threads)
    c, _ = transposed_product(system, matrix_records(system, system.c, A), basis, threads)
    return Polynomials(a, b, c, quotient_basis(curve, log_domain, tau))


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
