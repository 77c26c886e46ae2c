"""The formulas of the AVX2 engine carried out on intervals: a BoundError here is an overflow there.

Each class or function follows the C++ of the same name step by step (coordinates.hpp, batch_addition.hpp,
ntt.hpp). Loops are covered by invariants: what a round leaves must be within what it was given.
"""

from typing import Generic, Protocol, TypeVar

from kernels.csrc.generate.intervals import BoundError, Interval
from kernels.csrc.generate.vector_bounds import Quad, VectorArithmetic, either
from kernels.csrc.generate.vector_fields import FIELDS, VectorField

E = TypeVar("E")


def within(outer: Quad, inner: Quad, what: str) -> Quad:
    """The outer bound, if the inner one lies in it."""
    pairs = zip([*outer.limbs, outer.value], [*inner.limbs, inner.value], strict=True)
    if not all(part in whole for whole, part in pairs):
        raise BoundError(f"{what} does not keep its own bound")
    return outer


def product_of_memory(arithmetic: VectorArithmetic) -> Quad:
    """The invariant of running products: limbs carried, value in [-p/8, 17p/8]."""
    p = arithmetic.field.modulus
    return arithmetic.tidy(Interval(-p // 8, 17 * p // 8))


class Coordinate(Protocol[E]):
    """Operations on one coordinate of four points."""

    field: VectorArithmetic

    def from_memory(self) -> E: ...
    def subtract(self, x: E, y: E) -> E: ...
    def either_sign(self, x: E) -> E: ...
    def tidy(self, x: E) -> E: ...
    def tidy_signed(self, x: E) -> E: ...
    def norm(self, x: E) -> Quad: ...
    def invert(self, x: E, norm_inverse: Quad) -> E: ...
    def multiply(self, x: E, y: E) -> E: ...
    def square_subtract(self, slope: E, a: E, b: E) -> E: ...
    def multiply_subtract(self, slope: E, d: E, y: E) -> E: ...
    def twice(self, x: E) -> E: ...
    def thrice_square(self, x: E) -> E: ...
    def either(self, x: E, y: E) -> E: ...


class PrimeCoordinate:
    """A coordinate in Fq."""

    def __init__(self, field: VectorArithmetic) -> None:
        self.field = field

    def from_memory(self) -> Quad:
        return self.field.from_memory()

    def subtract(self, x: Quad, y: Quad) -> Quad:
        return x - y

    def either_sign(self, x: Quad) -> Quad:
        return x.either_sign()

    def tidy(self, x: Quad) -> Quad:
        return self.field.normalised(x)

    def tidy_signed(self, x: Quad) -> Quad:
        return x

    def norm(self, x: Quad) -> Quad:
        return x

    def invert(self, x: Quad, norm_inverse: Quad) -> Quad:  # noqa: ARG002
        return norm_inverse

    def multiply(self, x: Quad, y: Quad) -> Quad:
        return self.field.multiply(x, y)

    def square_subtract(self, slope: Quad, a: Quad, b: Quad) -> Quad:
        return self.field.carried_reduced(self.field.square(slope), -(a + b))

    def multiply_subtract(self, slope: Quad, d: Quad, y: Quad) -> Quad:
        return self.field.carried_reduced(self.field.product(slope, d), -y)

    def twice(self, x: Quad) -> Quad:
        return x + x

    def thrice_square(self, x: Quad) -> Quad:
        squared = self.field.carried(self.field.square(x))
        return self.field.normalised(squared + squared + squared)

    def either(self, x: Quad, y: Quad) -> Quad:
        return either(x, y)


Pair = tuple[Quad, Quad]


class QuadraticCoordinate:
    """A coordinate in Fq[u]/(u^2 + 1)."""

    def __init__(self, field: VectorArithmetic, *, carries: bool) -> None:
        self.field = field
        self.carries = carries

    def from_memory(self) -> Pair:
        return self.field.from_memory(), self.field.from_memory()

    def subtract(self, x: Pair, y: Pair) -> Pair:
        return x[0] - y[0], x[1] - y[1]

    def either_sign(self, x: Pair) -> Pair:
        return x[0].either_sign(), x[1].either_sign()

    def tidy(self, x: Pair) -> Pair:
        return self.field.normalised(x[0]), self.field.normalised(x[1])

    def tidy_signed(self, x: Pair) -> Pair:
        return self.tidy(x) if self.carries else x

    def norm(self, x: Pair) -> Quad:
        return self.field.carried(self.field.product_sum(x[0], x[0], x[1], x[1]))

    def invert(self, x: Pair, norm_inverse: Quad) -> Pair:
        return self.field.multiply(x[0], norm_inverse), self.field.multiply(-x[1], norm_inverse)

    def multiply(self, x: Pair, y: Pair) -> Pair:
        return (
            self.field.carried(self.field.product_sum(x[0], y[0], x[1], -y[1])),
            self.field.carried(self.field.product_sum(x[0], y[1], x[1], y[0])),
        )

    def square_subtract(self, slope: Pair, a: Pair, b: Pair) -> Pair:
        f, (s0, s1) = self.field, slope
        return (
            f.carried_reduced(f.product(s0 + s1, s0 - s1), -(a[0] + b[0])),
            f.carried_reduced(f.product(s0 + s0, s1), -(a[1] + b[1])),
        )

    def multiply_subtract(self, slope: Pair, d: Pair, y: Pair) -> Pair:
        f = self.field
        return (
            f.carried_reduced(f.product_sum(slope[0], d[0], slope[1], -d[1]), -y[0]),
            f.carried_reduced(f.product_sum(slope[0], d[1], slope[1], d[0]), -y[1]),
        )

    def twice(self, x: Pair) -> Pair:
        return x[0] + x[0], x[1] + x[1]

    def thrice_square(self, x: Pair) -> Pair:
        f = self.field
        real = f.multiply(x[0] + x[1], x[0] - x[1])
        imaginary = f.multiply(x[0] + x[0], x[1])
        return f.normalised(real + real + real), f.normalised(imaginary + imaginary + imaginary)

    def either(self, x: Pair, y: Pair) -> Pair:
        return either(x[0], y[0]), either(x[1], y[1])


class BatchAddition(Generic[E]):
    """Both passes of batch_adder, for signed operands; unsigned ones are among them."""

    def __init__(self, coordinate: Coordinate[E]) -> None:
        self.coordinate = coordinate
        self.field = coordinate.field
        self.running = product_of_memory(self.field)

    def pass_forward(self, denominator: E) -> None:
        norm = self.coordinate.norm(denominator)
        within(self.running, self.field.canonical(), "the first product")
        within(self.running, self.field.multiply(self.running, norm), "the product of denominators")

    def pass_backward(self, denominator: E, numerator: E, x: E, other_x: E, y: E) -> None:
        coordinate, norm = self.coordinate, self.coordinate.norm(denominator)
        mine = within(self.running, self.field.multiply(self.running, self.running), "an inverse")
        within(self.running, self.field.multiply(self.running, norm), "the inverse of the rest")
        slope = coordinate.multiply(numerator, coordinate.invert(denominator, mine))
        sum_x = coordinate.square_subtract(slope, x, other_x)
        coordinate.multiply_subtract(slope, coordinate.subtract(x, sum_x), y)

    def invert_lanes(self) -> None:
        f, running = self.field, self.running
        pairs = within(running, f.multiply(running, running), "a pair of lanes")
        f.carried_reduced(f.product(pairs, pairs), f.nothing())
        inverted = within(running, f.multiply(f.canonical(), f.canonical()), "the inverse of all lanes")
        within(running, f.multiply(inverted, running), "the inverse of a lane")

    def check(self) -> None:
        c = self.coordinate
        x, y = c.from_memory(), c.either_sign(c.from_memory())
        self.invert_lanes()
        difference = c.subtract(x, x)
        self.pass_forward(difference)
        self.pass_backward(difference, c.tidy_signed(c.subtract(y, y)), x, x, y)
        twice_y = c.tidy(c.twice(y))
        self.pass_forward(twice_y)
        self.pass_backward(twice_y, c.thrice_square(x), x, x, y)


def signed_differences_need_carry(field: VectorField) -> bool:
    """Whether the difference of two signed Fq2 coordinates must be carried before it is multiplied."""
    try:
        BatchAddition(QuadraticCoordinate(VectorArithmetic(field), carries=False)).check()
    except BoundError:
        return True
    return False


def entering(field: VectorArithmetic) -> None:
    """Words from outside, whatever they are, times a constant, made canonical."""
    field.carried_reduced(field.product(field.any_words(), field.canonical()), field.nothing())
    make_canonical(field)


def make_canonical(field: VectorArithmetic) -> None:
    x, p = field.from_memory(), field.unpacked(field.field.modulus)
    field.normalised(x - p)


def radix_8_forward(field: VectorArithmetic, data: Quad) -> Quad:
    """Three stages of (u + w v, u - w v) without a carry."""
    for _ in range(3):
        turned = field.multiply(data, field.canonical())
        data = either(data + turned, data - turned)
    return data


def radix_8_inverse(field: VectorArithmetic, data: Quad) -> None:
    """Three stages of (u + v, (v - u) w), with one carry: where both are sums of four."""
    x = [data] * 8
    for stride in (1, 2, 4):
        for k in (k for k in range(8) if not k & stride):
            difference = x[k + stride] - x[k]
            if stride == 4 and k == 0:
                difference = field.normalised(difference)
            x[k] = x[k] + x[k + stride]
            x[k + stride] = field.multiply(difference, field.canonical())
    for outcome in x:
        field.reduced(outcome)


def first_radix_8(field: VectorArithmetic, data: Quad) -> None:
    """As both of the above in block 0: the first twiddle of a stage is 1, and -1 where it is undone."""
    forward, back = [data] * 8, [data] * 8
    for stride in (4, 2, 1):
        for k in (k for k in range(8) if not k & stride):
            plain = k < 2 * stride
            turned = forward[k + stride] if plain else field.multiply(forward[k + stride], field.canonical())
            forward[k], forward[k + stride] = forward[k] + turned, forward[k] - turned
    for stride in (1, 2, 4):
        for k in (k for k in range(8) if not k & stride):
            left, right = back[k], back[k + stride]
            plain = k < 2 * stride
            back[k] = left + right
            back[k + stride] = left - right if plain else field.multiply(right - left, field.canonical())
    for outcome in (*forward, *back):
        field.reduced(outcome)


def transform(field: VectorArithmetic) -> None:
    """What ntt.hpp does, from unchecked words or from memory."""
    for data in (field.any_words(), field.from_memory()):
        outcome = radix_8_forward(field, data)
        field.reduced(outcome)
        first_radix_8(field, data)
        scaled = field.multiply(field.normalised(outcome), field.canonical())
        radix_8_inverse(field, either(scaled, field.from_memory()))
    field.carried_reduced(field.product(field.canonical(), field.canonical()), field.nothing())  # twiddles
    make_canonical(field)


def quotient(field: VectorArithmetic) -> None:
    """a b before, and (a b - c) times a constant after the three transforms."""
    field.carried_reduced(field.product(field.any_words(), field.any_words()), field.nothing())
    memory = field.from_memory()
    difference = field.multiply(memory, memory) - memory
    field.carried_reduced(field.product(difference, field.canonical()), field.nothing())
    make_canonical(field)


def check_all() -> None:
    """Every formula on every field that the engine uses it with. Raises BoundError."""
    for field in FIELDS:
        arithmetic = VectorArithmetic(field)
        entering(arithmetic)
        if field.name.endswith("fr"):
            transform(arithmetic)
            quotient(arithmetic)
        else:
            BatchAddition(PrimeCoordinate(arithmetic)).check()
            carries = signed_differences_need_carry(field)
            BatchAddition(QuadraticCoordinate(arithmetic, carries=carries)).check()
