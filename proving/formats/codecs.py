"""Single points as the libraries write them: one codec a curve and convention, compressed or not.

Zcash       BLS12-381; also what arkworks and gnark write for it
arkworks    BN254: little-endian, c0 before c1, flags in the last byte
gnark       BN254: big-endian, c1 before c0, flags in the first byte
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from kernels.curves import BLS12_381, BN254, Curve, Group
from proving.formats import zcash_points
from proving.formats.square_roots import is_larger, negated, square_root, twist_y
from proving.groth16.objects import G1, G2

WIDTH = 32
FLAGS = 0xC0


class Codec(Protocol):
    """Encodes and decodes single points of one curve. Subgroups are not looked at."""

    @property
    def curve(self) -> Curve:
        """The curve of the points."""
        ...

    def size(self, group: Group, *, compressed: bool) -> int:
        """Bytes of one point."""
        ...

    def encode(self, group: Group, point: G1 | G2, *, compressed: bool) -> bytes:
        """One point."""
        ...

    def decode(self, group: Group, data: bytes, *, compressed: bool) -> G1 | G2:
        """One point, its y found where it is compressed. Raises ValueError."""
        ...


class Zcash:
    """Zcash's convention on BLS12-381."""

    curve = BLS12_381

    def size(self, group: Group, *, compressed: bool) -> int:
        """See Codec."""
        return zcash_points.point_size(group, compressed=compressed)

    def encode(self, group: Group, point: G1 | G2, *, compressed: bool) -> bytes:
        """See Codec."""
        return zcash_points.encode(group, point, compressed=compressed)

    def decode(self, group: Group, data: bytes, *, compressed: bool) -> G1 | G2:
        """See Codec."""
        if len(data) != self.size(group, compressed=compressed):
            raise ValueError(f"{len(data)} bytes are no point of {group.name}")
        if bool(data[0] & zcash_points.COMPRESSED) != compressed:
            raise ValueError("the point is not " + ("compressed" if compressed else "uncompressed"))
        return zcash_points.decode_g1(data) if group is Group.G1 else zcash_points.decode_g2(data)


@dataclass(frozen=True, slots=True)
class FlagBits:
    """What the two highest bits of the flagged byte mean: of a compressed point, and at infinity."""

    smaller: int
    larger: int
    infinity: int


@dataclass(frozen=True, slots=True)
class Bn254Codec:
    """BN254 points of 32-byte coordinates with two bits for flags.

    `little` is arkworks's order of bytes and coefficients, else gnark's. Where `marks_long` is set an
    uncompressed point may bear flags as well (arkworks), else infinity is plain zeros (gnark).
    """

    little: bool
    bits: FlagBits
    marks_long: bool

    @property
    def curve(self) -> Curve:
        """See Codec."""
        return BN254

    def size(self, group: Group, *, compressed: bool) -> int:
        """See Codec."""
        return WIDTH * int(group) * (1 if compressed else 2)

    def encode(self, group: Group, point: G1 | G2, *, compressed: bool) -> bytes:
        """See Codec."""
        if point is None:
            flags = self.bits.infinity if compressed or self.marks_long else 0
            return self._pack([0] * (int(group) * (1 if compressed else 2)), flags)
        x, y = (coordinate if isinstance(coordinate, tuple) else (coordinate,) for coordinate in point)
        sign = self.bits.larger if sign_of(y) else self.bits.smaller
        if compressed:
            return self._pack(self._ordered(x), sign)
        return self._pack([*self._ordered(x), *self._ordered(y)], sign if self.marks_long else 0)

    def decode(self, group: Group, data: bytes, *, compressed: bool) -> G1 | G2:
        """See Codec."""
        if len(data) != self.size(group, compressed=compressed):
            raise ValueError(f"{len(data)} bytes are no point of {group.name}")
        flags, values = self._unpack(data)
        if any(value >= BN254.q for value in values):
            raise ValueError("a coordinate is not below the modulus of the base field")
        if self._is_infinity(flags, values, compressed=compressed):
            return None
        if compressed and flags not in {self.bits.smaller, self.bits.larger}:
            raise ValueError("the point bears flags of no compressed point")
        if not compressed and flags and not self.marks_long:
            raise ValueError("an uncompressed point bears flags")
        parts = [
            tuple(self._ordered(values[start : start + int(group)]))
            for start in range(0, len(values), int(group))
        ]
        if not compressed:
            return joined(parts[0], parts[1])
        return lift(parts[0], larger=flags == self.bits.larger)

    def _is_infinity(self, flags: int, values: Sequence[int], *, compressed: bool) -> bool:
        if flags == self.bits.infinity and (compressed or self.marks_long):
            if any(values):
                raise ValueError("the point says that it is at infinity and has coordinates")
            return True
        return not compressed and not self.marks_long and not flags and not any(values)

    def _ordered(self, coefficients: Sequence[int]) -> list[int]:
        return list(coefficients) if self.little else list(coefficients)[::-1]

    def _pack(self, values: Sequence[int], flags: int) -> bytes:
        order = "little" if self.little else "big"
        body = bytearray(b"".join(value.to_bytes(WIDTH, order) for value in values))  # type: ignore[arg-type]
        body[-1 if self.little else 0] |= flags
        return bytes(body)

    def _unpack(self, data: bytes) -> tuple[int, list[int]]:
        place = len(data) - 1 if self.little else 0
        body = bytearray(data)
        flags = body[place] & FLAGS
        body[place] &= ~FLAGS & 0xFF
        order = "little" if self.little else "big"
        return flags, [
            int.from_bytes(body[start : start + WIDTH], order)  # type: ignore[arg-type]
            for start in range(0, len(body), WIDTH)
        ]


def sign_of(y: Sequence[int]) -> bool:
    """Whether y is the larger of y and -y; of an element of Fq2 its c1 decides, c0 where c1 is zero."""
    return is_larger((y[0], y[1]), BN254.q) if len(y) == 2 else y[0] > BN254.q - y[0]


def joined(x: Sequence[int], y: Sequence[int]) -> G1 | G2:
    """A point from its coordinates, one or two integers each."""
    return (x[0], y[0]) if len(x) == 1 else ((x[0], x[1]), (y[0], y[1]))


def lift(x: Sequence[int], *, larger: bool) -> G1 | G2:
    """The BN254 point with this x and the larger or smaller y. Raises ValueError where there is none."""
    q = BN254.q
    if len(x) == 1:
        root = square_root((x[0] ** 3 + BN254.b1) % q, q)
        if root is None:
            raise ValueError("no point of the curve has this x")
        return x[0], root if (root > q - root) == larger else q - root
    pair = twist_y((x[0], x[1]), BN254)
    if pair is None:
        raise ValueError("no point of the curve has this x")
    return (x[0], x[1]), pair if is_larger(pair, q) == larger else negated(pair, q)


ZCASH = Zcash()
ARKWORKS_BN254 = Bn254Codec(little=True, bits=FlagBits(0x00, 0x80, 0x40), marks_long=True)
GNARK_BN254 = Bn254Codec(little=False, bits=FlagBits(0x80, 0xC0, 0x40), marks_long=False)
