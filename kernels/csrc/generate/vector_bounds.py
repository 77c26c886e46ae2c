"""The operations of vector_field.hpp on intervals: bounds of every limb and of the value, for one field.

Each operation here does what the C++ function of the same name does, and raises BoundError where that could
leave the room an instruction has. vector_formulas.py puts the engine's formulas together from them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor

from kernels.csrc.generate import vector_kernels
from kernels.csrc.generate.intervals import (
    SIGNED_32,
    UNSIGNED_32,
    UNSIGNED_64,
    BoundError,
    Interval,
    exactly,
    join,
    up_to,
)
from kernels.csrc.generate.vector_fields import BIAS, ESTIMATE_SHIFT, LIFT, VectorField


@dataclass(frozen=True, slots=True)
class Quad:
    """Four elements: what each limb and the whole value may be."""

    limbs: tuple[Interval, ...]
    value: Interval

    def __add__(self, other: "Quad") -> "Quad":
        limbs = tuple(a + b for a, b in zip(self.limbs, other.limbs, strict=True))
        return Quad(limbs, self.value + other.value)

    def __neg__(self) -> "Quad":
        return Quad(tuple(-limb for limb in self.limbs), -self.value)

    def __sub__(self, other: "Quad") -> "Quad":
        return self + -other

    def either_sign(self) -> "Quad":
        """`negated_where`."""
        return Quad(tuple(limb.symmetric() for limb in self.limbs), self.value.symmetric())


@dataclass(frozen=True, slots=True)
class ColumnSums:
    """Biased columns of a product before the last carries, and the value that they stand for."""

    columns: tuple[Interval, ...]
    value: Interval


def either(*quads: Quad) -> Quad:
    """What is one of the quads, lane by lane."""
    limbs = tuple(join(column) for column in zip(*(quad.limbs for quad in quads), strict=True))
    return Quad(limbs, join(quad.value for quad in quads))


class VectorArithmetic:
    """The operations for one field."""

    def __init__(self, field: VectorField) -> None:
        self.field = field

    def tidy(self, value: Interval) -> Quad:
        """Limbs after a carry: all but the highest in [0, base)."""
        limbs = [up_to(self.field.base - 1)] * (self.field.limbs - 1)
        return Quad((*limbs, value >> self.field.top_weight), value)

    def unpacked(self, limit: int) -> Quad:
        """An element from memory, not above `limit`."""
        return self.tidy(up_to(limit))

    def from_memory(self) -> Quad:
        return self.unpacked(self.field.reduced_limit)

    def canonical(self) -> Quad:
        return self.unpacked(self.field.modulus - 1)

    def any_words(self) -> Quad:
        """Words that nobody has checked."""
        return self.unpacked((1 << (64 * self.field.words)) - 1)

    def _finished(self, kernel: vector_kernels.Kernel, product: Interval) -> ColumnSums:
        field = self.field
        digit, rows = field.base - 1, field.base ** (field.limbs - 1)
        multiples = field.quotient_factor * (rows - 1) + digit * rows
        added = multiples * field.modulus
        value = Interval(product.low // field.radix, -(-(product.high + added) // field.radix))
        return ColumnSums(tuple(kernel.column_bounds()), value)

    def product(self, a: Quad, b: Quad) -> ColumnSums:
        return self._finished(vector_kernels.multiply([self.field], a.limbs, b.limbs), a.value * b.value)

    def product_sum(self, a: Quad, b: Quad, c: Quad, d: Quad) -> ColumnSums:
        kernel = vector_kernels.multiply_sum([self.field], a.limbs, b.limbs, c.limbs, d.limbs)
        return self._finished(kernel, a.value * b.value + c.value * d.value)

    def square(self, a: Quad) -> ColumnSums:
        return self._finished(vector_kernels.square([self.field], a.limbs), a.value.squared())

    def bare(self, x: Quad) -> tuple[ColumnSums, Quad]:
        """The biased columns of no product, to carry or reduce x by."""
        biases = [BIAS] + [BIAS - self.field.carry_bias] * (self.field.limbs - 2)
        return ColumnSums(tuple(exactly(bias) for bias in biases), exactly(0)), x

    def _carry(self, columns: Sequence[Interval]) -> None:
        carried = exactly(0)
        for j, column in enumerate(columns):
            carried = (column + carried).require(UNSIGNED_64, f"column {j} of a carry") >> self.field.bits

    def carried(self, sums: ColumnSums) -> Quad:
        self._carry(sums.columns)
        return self.tidy(sums.value)

    def normalised(self, x: Quad) -> Quad:
        sums, _ = self.bare(x)
        self._carry([column + limb for column, limb in zip(sums.columns, x.limbs[:-1], strict=True)])
        return self.tidy(x.value)

    def carried_reduced(self, sums: ColumnSums, extra: Quad) -> Quad:
        """sums + extra with the estimated multiple of the modulus taken away."""
        field = self.field
        value = sums.value + extra.value
        columns = [column + limb for column, limb in zip(sums.columns, extra.limbs[:-1], strict=True)]
        for j, column in enumerate(columns):
            column.require(UNSIGNED_64, f"column {j} of a reduction")
        self._carry(columns)
        # The head, with weight 2^top_weight, leaves out the carry into the last column and what lies below:
        # it is never too large. Two roundings, and a carry below 2^(64 - bits).
        omitted = Fraction(1 << (64 - field.bits), field.base) + 2
        weight = 1 << field.top_weight
        truth = Interval(floor(Fraction(value.low, weight)), ceil(Fraction(value.high, weight)))
        head = Interval(truth.low - ceil(omitted), truth.high) + exactly(LIFT * field.modulus_top)
        head.require(UNSIGNED_32, "head of a reduction")
        (exactly(field.estimate) * head).require(UNSIGNED_64, "estimate of a reduction")
        multiple = ((exactly(field.estimate) * head) >> ESTIMATE_SHIFT) - exactly(LIFT)
        multiple.require(SIGNED_32, "multiple of a reduction")
        limbs = field.split(field.modulus)
        self._carry([column - multiple * exactly(limb) for column, limb in zip(columns, limbs, strict=False)])
        rest = max(self._rest(bound, omitted) for bound in (value.low, value.high))
        if rest > field.reduced_limit:
            raise BoundError(f"a reduced value reaches {rest / field.modulus:.4f} times the modulus")
        return self.from_memory()

    def _rest(self, value: int, omitted: Fraction) -> int:
        """Most that is left of a value. Nothing negative: the multiple is at most floor(value / modulus)."""
        field = self.field
        head = Fraction(value, 1 << field.top_weight) + LIFT * field.modulus_top - omitted
        multiple = head * field.estimate / (1 << ESTIMATE_SHIFT) - 1 - LIFT
        return ceil(value - multiple * field.modulus)

    def reduced(self, x: Quad) -> Quad:
        return self.carried_reduced(*self.bare(x))

    def multiply(self, a: Quad, b: Quad) -> Quad:
        return self.carried(self.product(a, b))

    def nothing(self) -> Quad:
        return Quad(tuple(exactly(0) for _ in range(self.field.limbs)), exactly(0))
