"""Points of BLS12-381 as Zcash, Filecoin and others write them.

Big-endian coordinates of 48 bytes; of an element of Fq2 c1 comes before c0. The three highest bits of the
first byte say: compressed (x alone), infinity (all other bits zero), and, of a compressed point, that y is
the larger of y and -y.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from kernels.curves import BLS12_381, Group
from kernels.field import base_field, first_not_canonical, from_montgomery, to_montgomery
from proving.formats.square_roots import Fq2, is_larger, negated, square_root, twist_y
from proving.groth16.objects import G1, G2

COORDINATE = 48
COMPRESSED, INFINITY, LARGER = 0x80, 0x40, 0x20
FLAGS = COMPRESSED | INFINITY | LARGER


def point_size(group: Group, *, compressed: bool) -> int:
    """Bytes of one point."""
    return COORDINATE * int(group) * (1 if compressed else 2)


def decode_g1(data: bytes) -> G1:
    """One G1 point of 48 (compressed) or 96 bytes. Its subgroup is not looked at. Raises ValueError."""
    coordinates = decode_coordinates(data, Group.G1)
    if coordinates is None:
        return None
    if len(coordinates) == 1:
        return lift_g1(coordinates[0], larger=bool(data[0] & LARGER))
    return coordinates[0], coordinates[1]


def decode_g2(data: bytes) -> G2:
    """One G2 point of 96 (compressed) or 192 bytes. Its subgroup is not looked at. Raises ValueError."""
    coordinates = decode_coordinates(data, Group.G2)
    if coordinates is None:
        return None
    x = coordinates[1], coordinates[0]
    if len(coordinates) == 2:
        return lift_g2(x, larger=bool(data[0] & LARGER))
    return x, (coordinates[3], coordinates[2])


def decode_coordinates(data: bytes, group: Group) -> list[int] | None:
    """The coordinates as they stand there, None for infinity. Raises ValueError for flags that lie."""
    compressed = bool(data[0] & COMPRESSED) if data else False
    if len(data) != point_size(group, compressed=compressed):
        form = "compressed" if compressed else "uncompressed"
        raise ValueError(f"{len(data)} bytes are no {form} point of {group.name}")
    body = bytes([data[0] & ~FLAGS]) + data[1:]
    if data[0] & INFINITY:
        if any(body) or data[0] & LARGER:
            raise ValueError("the point says that it is at infinity and has coordinates")
        return None
    if data[0] & LARGER and not compressed:
        raise ValueError("an uncompressed point bears a sign")
    values = [
        int.from_bytes(body[start : start + COORDINATE], "big") for start in range(0, len(body), COORDINATE)
    ]
    if any(value >= BLS12_381.q for value in values):
        raise ValueError("a coordinate is not below the modulus of the base field")
    return values


def lift_g1(x: int, *, larger: bool) -> G1:
    """The point with this x and the larger or smaller y. Raises ValueError where there is none."""
    curve = BLS12_381
    y = square_root((x * x * x + curve.b1) % curve.q, curve.q)
    if y is None:
        raise ValueError("no point of the curve has this x")
    return x, y if (y > curve.q - y) == larger else curve.q - y


def lift_g2(x: Fq2, *, larger: bool) -> G2:
    """As `lift_g1`; the larger y is the one with the larger c1, or c0 where c1 is zero."""
    y = twist_y(x, BLS12_381)
    if y is None:
        raise ValueError("no point of the curve has this x")
    return x, y if is_larger(y, BLS12_381.q) == larger else negated(y, BLS12_381.q)


def encode_g1(point: G1, *, compressed: bool) -> bytes:
    """One G1 point as 48 or 96 bytes."""
    return encode(Group.G1, point, compressed=compressed)


def encode_g2(point: G2, *, compressed: bool) -> bytes:
    """One G2 point as 96 or 192 bytes."""
    return encode(Group.G2, point, compressed=compressed)


def encode(group: Group, point: G1 | G2, *, compressed: bool) -> bytes:
    """One point of either group."""
    if point is None:
        return encode_coordinates(
            [0] * int(group) * (1 if compressed else 2), INFINITY, compressed=compressed
        )
    x, y = (part if isinstance(part, tuple) else (part,) for part in point)
    larger = is_larger((y[0], y[1]), BLS12_381.q) if len(y) == 2 else y[0] > BLS12_381.q - y[0]
    values = x[::-1] if compressed else (*x[::-1], *y[::-1])
    return encode_coordinates(values, LARGER if compressed and larger else 0, compressed=compressed)


def encode_coordinates(values: Sequence[int], flags: int, *, compressed: bool) -> bytes:
    """Coordinates in the order given, with the flags in the first byte."""
    body = b"".join(value.to_bytes(COORDINATE, "big") for value in values)
    return bytes([body[0] | flags | (COMPRESSED if compressed else 0)]) + body[1:]


def decode_array(group: Group, raw: NDArray[np.uint8]) -> NDArray[np.uint64]:
    """Uncompressed points, (n, 96 | 192) bytes, as (n, 2W | 4W) Montgomery words.

    Raises ValueError with the index of the first point that has a flag (infinity too) or a coordinate that
    is not below q. Curve and subgroup are not looked at.
    """
    flagged = np.flatnonzero(raw[:, 0] & FLAGS)
    if len(flagged):
        raise ValueError(f"point {flagged[0]} is at infinity or compressed")
    fq, order = base_field(BLS12_381), [0, 1] if group is Group.G1 else [1, 0, 3, 2]
    little = raw.reshape(-1, len(order), COORDINATE)[:, order, ::-1]
    words = np.ascontiguousarray(little).view("<u8").reshape(-1, fq.words)
    bad = first_not_canonical(fq, words)
    if bad is not None:
        raise ValueError(f"point {bad // len(order)}: a coordinate is not below the modulus")
    return to_montgomery(fq, words).reshape(len(raw), len(order) * fq.words)


def encode_array(group: Group, points: NDArray[np.uint64]) -> bytes:
    """Montgomery points that are not at infinity, (n, 2W | 4W) words, one after the other, uncompressed."""
    fq, order = base_field(BLS12_381), [0, 1] if group is Group.G1 else [1, 0, 3, 2]
    plain = from_montgomery(fq, np.ascontiguousarray(points).reshape(-1, fq.words))
    raw = plain.view(np.uint8).reshape(-1, len(order), COORDINATE)[:, order, ::-1]
    return np.ascontiguousarray(raw).tobytes()
