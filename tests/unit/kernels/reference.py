"""The same arithmetic elsewhere: Python integers and py_ecc."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from random import Random
from typing import Any

import numpy as np
from numpy.typing import NDArray
from py_ecc import optimized_bls12_381, optimized_bn128

from kernels.curves import BN254, Curve, Group

Words = NDArray[np.uint64]
Point = Any  # (x, y), ((x0, x1), (y0, y1)) or None

LIBRARIES = {"bn254": optimized_bn128, "bls12-381": optimized_bls12_381}


def words(values: Iterable[int], width: int = 4) -> Words:
    """Integers as (n, width) little-endian words."""
    packed = b"".join(value.to_bytes(8 * width, "little") for value in values)
    return np.frombuffer(packed, dtype="<u8").reshape(-1, width).copy()


def integers(array: Words) -> list[int]:
    """(n, width) words as integers."""
    return [int.from_bytes(row.tobytes(), "little") for row in array]


def montgomery(values: Iterable[int], modulus: int, width: int = 4) -> Words:
    return words([(value << (64 * width)) % modulus for value in values], width)


def plain(array: Words, modulus: int) -> list[int]:
    """(n, width) Montgomery words as integers."""
    radix_inverse = pow(1 << (64 * array.shape[1]), -1, modulus)
    return [value * radix_inverse % modulus for value in integers(array)]


@dataclass(frozen=True)
class Reference:
    """One group, computed by py_ecc; points are plain integers."""

    curve: Curve
    group: Group

    @property
    def library(self) -> Any:
        return LIBRARIES[self.curve.name]

    @property
    def generator(self) -> Point:
        return self.curve.g1 if self.group is Group.G1 else self.curve.g2

    def lift(self, point: Point) -> Any:
        one, zero = (self._coordinate(value) for value in (1, 0))
        if point is None:
            return (one, one, zero)
        return (*(self._coordinate(value) for value in point), one)

    def lower(self, point: Any) -> Point:
        if self.library.is_inf(point):
            return None
        x, y = self.library.normalize(point)
        if self.group is Group.G1:
            return int(x), int(y)
        return tuple(int(c) for c in x.coeffs), tuple(int(c) for c in y.coeffs)

    def _coordinate(self, value: Any) -> Any:
        if self.group is Group.G1:
            return self.library.FQ(value)
        return self.library.FQ2(value if isinstance(value, tuple) else (value, 0))

    def add(self, p: Point, q: Point) -> Point:
        return self.lower(self.library.add(self.lift(p), self.lift(q)))

    def multiply(self, point: Point, scalar: int) -> Point:
        return self.lower(self.library.multiply(self.lift(point), scalar))

    def negate(self, point: Point) -> Point:
        return self.lower(self.library.neg(self.lift(point)))

    def is_on_curve(self, point: Point) -> bool:
        b = self.library.b if self.group is Group.G1 else self.library.b2
        return bool(self.library.is_on_curve(self.lift(point), b))

    def encode(self, points: Sequence[Point]) -> Words:
        """Points as affine Montgomery words."""
        flat: list[int] = []
        for point in points:
            values = (0, 0) if point is None else point
            for value in values:
                flat.extend(value if isinstance(value, tuple) else (value,) * 1)
                if point is None and self.group is Group.G2:
                    flat.append(0)
        return montgomery(flat, self.curve.q, self.curve.fq_words).reshape(len(points), -1)

    def decode(self, array: Words) -> list[Point]:
        rows = array.reshape(-1, self.curve.point_words(self.group))
        return [self._decode_one(row) for row in rows]

    def _decode_one(self, row: Words) -> Point:
        if not row.any():
            return None
        values = plain(row.reshape(-1, self.curve.fq_words), self.curve.q)
        if self.group is Group.G1:
            return values[0], values[1]
        return (values[0], values[1]), (values[2], values[3])

    def any_point(self, seed: int = 0) -> Point:
        """A point of the curve outside of the subgroup of order r (but for BN254 G1, where there is none)."""
        random = Random(seed)
        while True:
            x = random.randrange(self.curve.q)
            point = self._point_at(x if self.group is Group.G1 else (x, random.randrange(self.curve.q)))
            if point is None:
                continue
            if (self.curve, self.group) == (BN254, Group.G1) or self.multiply(
                point, self.curve.r
            ) is not None:
                return point

    def _point_at(self, x: Any) -> Point:
        q = self.curve.q
        if self.group is Group.G1:
            square = (x**3 + self.curve.b1) % q
            root = pow(square, (q + 1) // 4, q)
            return (x, root) if root * root % q == square else None
        fq2 = self.library.FQ2
        square2 = fq2(x) ** 3 + fq2(self.curve.b2)
        root2 = square_root(fq2, square2, q)
        return None if root2 is None else (x, tuple(int(c) for c in root2.coeffs))


def square_root(fq2: Any, a: Any, q: int) -> Any:
    """A root of a in Fq2, q = 3 modulo 4, or None (Adj and Rodriguez-Henriquez, ePrint 2012/685)."""
    a1 = a ** ((q - 3) // 4)
    alpha, x0 = a1 * a1 * a, a1 * a
    root = fq2((0, 1)) * x0 if alpha == fq2((q - 1, 0)) else (fq2.one() + alpha) ** ((q - 1) // 2) * x0
    return root if root * root == a else None


@cache
def multiples(curve: Curve, group: Group, count: int) -> tuple[list[Point], Words]:
    """1 G, 2 G, ... count G and their encoding."""
    reference = Reference(curve, group)
    library, generator = reference.library, reference.lift(reference.generator)
    point, points = generator, []
    for _ in range(count):
        points.append(reference.lower(point))
        point = library.add(point, generator)
    return points, reference.encode(points)


def transform(values: Sequence[int], root: int, modulus: int) -> list[int]:
    """sum_j values[j] root^(i j), by halving."""
    if len(values) == 1:
        return list(values)
    even = transform(values[0::2], root * root % modulus, modulus)
    odd = transform(values[1::2], root * root % modulus, modulus)
    low, high, power = [], [], 1
    for e, o in zip(even, odd, strict=True):
        low.append((e + power * o) % modulus)
        high.append((e - power * o) % modulus)
        power = power * root % modulus
    return low + high


def evaluate_polynomial(coefficients: Sequence[int], x: int, modulus: int) -> int:
    value = 0
    for coefficient in reversed(coefficients):
        value = (value * x + coefficient) % modulus
    return value


def unaligned(array: NDArray[Any]) -> NDArray[Any]:
    """A copy of the array whose memory starts four bytes off a word."""
    raw = np.zeros(array.nbytes + 16, dtype=np.uint8)
    start = (-raw.ctypes.data) % 8 + 4
    raw[start : start + array.nbytes] = np.frombuffer(array.tobytes(), dtype=np.uint8)
    moved = raw[start : start + array.nbytes].view(array.dtype).reshape(array.shape)
    assert not moved.flags.aligned
    return moved
