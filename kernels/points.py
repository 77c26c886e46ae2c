"""Affine points in arrays, in Montgomery form.

(n, 2W) words x | y for G1, (n, 4W) words x.c0 | x.c1 | y.c0 | y.c1 for G2, W = `curve.fq_words`. All words
zero is the point at infinity. Arrays of points that are only read may be unaligned (a mapped file) and may
come as bytes. threads = 0 means all cores.
"""

import ctypes
from typing import Literal, overload

import numpy as np

from kernels.curves import Curve, Fq2, Group
from kernels.field import base_field, from_montgomery, to_montgomery
from kernels.native import (
    WORD_BYTES,
    RawPoints,
    Words,
    address,
    call,
    point_count,
    points,
    thread_count,
    words,
)

PlainG1 = tuple[int, int] | None
PlainG2 = tuple[Fq2, Fq2] | None


def first_bad_point(
    curve: Curve, group: Group, array: RawPoints, *, subgroup: bool = True, threads: int = 0
) -> int | None:
    """The index of the first point off its curve (with `subgroup`: off the subgroup of order r), or None.

    Infinity is good; a coordinate that is not below q is not. Raises ValueError for a malformed array.
    """
    raw = points(curve, group, array)
    count, found = point_count(curve, group, raw), ctypes.c_size_t()
    what = (curve.index, int(group), address(raw), count, int(subgroup))
    call("cuzk_points_check", *what, thread_count(threads), ctypes.byref(found))
    return None if found.value == count else found.value


def add(curve: Curve, group: Group, p: RawPoints, q: RawPoints, threads: int = 0) -> Words:
    """p[i] + q[i]. Raises ValueError when the arrays differ in length or are malformed."""
    left, right = points(curve, group, p, "p"), points(curve, group, q, "q")
    count = point_count(curve, group, left)
    if count != point_count(curve, group, right):
        raise ValueError(f"p and q differ in length: {count} and {point_count(curve, group, right)}")
    out = _empty(curve, group, count)
    operands = (address(left), address(right), count, address(out))
    call("cuzk_points_add", curve.index, int(group), *operands, thread_count(threads))
    return out


def negate(curve: Curve, group: Group, array: RawPoints) -> Words:
    """-p[i]."""
    raw = points(curve, group, array)
    out = _empty(curve, group, point_count(curve, group, raw))
    call("cuzk_points_negate", curve.index, int(group), address(raw), len(out), address(out))
    return out


def multiply(curve: Curve, group: Group, array: RawPoints, scalars: Words, threads: int = 0) -> Words:
    """scalars[i] p[i]; scalars are (n, 4) plain words, any integer below 2^256.

    Raises ValueError when the lengths differ or an array is malformed.
    """
    raw, factors = points(curve, group, array), words(scalars, curve.fr_words, "scalars")
    count = point_count(curve, group, raw)
    if count != len(factors):
        raise ValueError(f"{count} points but {len(factors)} scalars")
    out = _empty(curve, group, count)
    operands = (address(raw), address(factors), count, address(out))
    call("cuzk_points_multiply", curve.index, int(group), *operands, thread_count(threads))
    return out


def fixed_base_multiply(
    curve: Curve, group: Group, base: RawPoints, scalars: Words, threads: int = 0
) -> Words:
    """scalars[i] base for one point `base`, (words,) or (1, words); scalars are (n, 4) plain words.

    Quicker than `multiply` from a few dozen scalars on. Raises ValueError for malformed arrays.
    """
    raw = points(curve, group, base.reshape(1, -1), "base")
    if point_count(curve, group, raw) != 1:
        raise ValueError(f"base must be one point, not {point_count(curve, group, raw)}")
    factors = words(scalars, curve.fr_words, "scalars")
    out = _empty(curve, group, len(factors))
    operands = (address(raw), address(factors), len(factors), address(out))
    call("cuzk_fixed_base_multiply", curve.index, int(group), *operands, thread_count(threads))
    return out


@overload
def to_integers(curve: Curve, group: Literal[Group.G1], point: Words) -> PlainG1: ...
@overload
def to_integers(curve: Curve, group: Literal[Group.G2], point: Words) -> PlainG2: ...
@overload
def to_integers(curve: Curve, group: Group, point: Words) -> PlainG1 | PlainG2: ...
def to_integers(curve: Curve, group: Group, point: Words) -> PlainG1 | PlainG2:
    """One point, (2W | 4W,) words, as plain integers: (x, y) or ((x0, x1), (y0, y1)); infinity is None."""
    fq = base_field(curve)
    coordinates = np.ascontiguousarray(point).reshape(-1, fq.words)
    if coordinates.nbytes != curve.point_bytes(group):
        raise ValueError(f"a point has {curve.point_words(group)} words, not {coordinates.size}")
    if not coordinates.any():
        return None
    x0, *others = (int.from_bytes(row.tobytes(), "little") for row in from_montgomery(fq, coordinates))
    if group is Group.G1:
        return x0, others[0]
    x1, y0, y1 = others
    return (x0, x1), (y0, y1)


def from_integers(curve: Curve, group: Group, point: PlainG1 | PlainG2) -> Words:
    """The words of one point, (2W | 4W,), from plain integers; None is infinity.

    Raises ValueError for coordinates that are negative or not below q, and for a point of the other group.
    """
    if point is None:
        return np.zeros(curve.point_words(group), dtype=np.uint64)
    fq = base_field(curve)
    values = [value for coordinate in point for value in _components(coordinate)]
    if len(values) != 2 * int(group):
        raise ValueError(f"a point of {group.name} has {2 * int(group)} coordinates in Fq, not {len(values)}")
    if not all(0 <= value < curve.q for value in values):
        raise ValueError("a coordinate is not in 0 .. q - 1")
    packed = b"".join(value.to_bytes(WORD_BYTES * fq.words, "little") for value in values)
    return to_montgomery(fq, np.frombuffer(packed, dtype="<u8").reshape(-1, fq.words)).reshape(-1)


def _components(coordinate: int | Fq2) -> tuple[int, ...]:
    return (coordinate,) if isinstance(coordinate, int) else coordinate


def _empty(curve: Curve, group: Group, count: int) -> Words:
    return np.empty((count, curve.point_words(group)), dtype=np.uint64)
