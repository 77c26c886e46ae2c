"""Pairings e: G1 x G2 -> the subgroup of order r of Fq12.

Fq12 = Fq6[w]/(w^2 - v), Fq6 = Fq2[v]/(v^3 - xi), Fq2 = Fq[u]/(u^2 + 1), xi = 9 + u (BN254) or 1 + u
(BLS12-381).
"""

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kernels.curves import Curve, Group
from kernels.native import RawPoints, Words, address, call, point_count, points, words
from kernels.points import first_bad_point


@dataclass(frozen=True, slots=True, eq=False)
class PreparedPoint:
    """A point of G2 that is paired often: the lines of its Miller loop, (steps, 4W) Montgomery words."""

    curve: Curve
    lines: Words


def pairing_product_is_one(curve: Curve, g1: RawPoints, g2: RawPoints) -> bool:
    """Whether the product of e(g1[i], g2[i]) is one; points are (n, 2W) and (n, 4W) affine Montgomery
    words.

    A pair with a point at infinity counts as one, no pair at all too. Raises ValueError when the arrays
    differ in length, and for a point off its curve or subgroup, naming its pair.
    """
    return _product(curve, g1, g2)[1]


def pairing(curve: Curve, p: RawPoints, q: RawPoints) -> Words:
    """e(p, q) for one point of each group ((2W,) and (4W,), or with a leading 1); for BLS12-381 its CUBE.

    Twelve elements of Fq, (12, W) Montgomery words: the coefficients of 1, v, v^2, w, v w, v^2 w, of each
    the parts of 1 and u. (The cube is as good a pairing, and cheaper.) Raises ValueError as
    `pairing_product_is_one`.
    """
    return _product(curve, p.reshape(1, -1), q.reshape(1, -1))[0]


def prepare_point(curve: Curve, q: RawPoints) -> PreparedPoint:
    """Keep the lines of one point of G2, (4W,) or (1, 4W) affine Montgomery words.

    Raises ValueError for infinity and for a point off its curve or subgroup.
    """
    raw = points(curve, Group.G2, q.reshape(1, -1), "q")
    if point_count(curve, Group.G2, raw) != 1 or not raw.any():
        raise ValueError("one point other than infinity is wanted")
    if first_bad_point(curve, Group.G2, raw, threads=1) is not None:
        raise ValueError("the point is off its curve or subgroup")
    count = ctypes.c_size_t()
    call("cuzk_pairing_line_count", curve.index, ctypes.byref(count))
    lines = np.empty((count.value, curve.point_words(Group.G2)), dtype=np.uint64)
    call("cuzk_pairing_lines", curve.index, address(raw), address(lines))
    return PreparedPoint(curve, lines)


def miller_loop(curve: Curve, p: RawPoints, q: RawPoints) -> Words:
    """What the Miller loop of one pair of finite points gives, (12, W) words: its part of a later product.

    The points must be in their groups: that is not checked.
    """
    left = points(curve, Group.G1, p.reshape(1, -1), "p")
    right = points(curve, Group.G2, q.reshape(1, -1), "q")
    out = np.empty((12, curve.fq_words), dtype=np.uint64)
    call("cuzk_miller_loop", curve.index, address(left), address(right), address(out))
    return out


def prepared_product_is_one(
    curve: Curve,
    pairs: Sequence[tuple[Words, Words]],
    prepared: Sequence[tuple[Words, PreparedPoint]],
    looped: Words | None = None,
) -> bool:
    """Whether a product of pairings is one: of pairs, of points of G1 with prepared ones, and of `looped`.

    One final exponentiation, and a Miller loop for each pair; `looped` is what `miller_loop` gave for pairs
    of an earlier time. Points, (2W,) and (4W,) affine Montgomery words, must be in their groups: that is not
    checked. A pair with a point at infinity counts as one.
    """
    left = _stack(curve, Group.G1, [p for p, _ in pairs])
    right = _stack(curve, Group.G2, [q for _, q in pairs])
    others = _stack(curve, Group.G1, [p for p, _ in prepared])
    if any(point.curve != curve for _, point in prepared):
        raise ValueError("a prepared point is on another curve")
    lines = (ctypes.c_void_p * len(prepared))(*(address(point.lines) for _, point in prepared))
    factor = None if looped is None else address(words(looped, curve.fq_words, "looped"))
    is_one = ctypes.c_int()
    fresh = (address(left), address(right), len(pairs))
    kept = (address(others), lines, len(prepared), factor)
    call("cuzk_prepared_product", curve.index, *fresh, *kept, ctypes.byref(is_one))
    return bool(is_one.value)


def _stack(curve: Curve, group: Group, single: Sequence[Words]) -> Words:
    """Points as one array, (n, words)."""
    width = curve.point_words(group)
    return words(
        np.concatenate([*single, np.empty(0, dtype=np.uint64)]).reshape(-1, width), width, group.name
    )


def _product(curve: Curve, g1: RawPoints, g2: RawPoints) -> tuple[Words, bool]:
    left, right = points(curve, Group.G1, g1, "g1"), points(curve, Group.G2, g2, "g2")
    count = point_count(curve, Group.G1, left)
    if count != point_count(curve, Group.G2, right):
        raise ValueError(f"{count} points of G1 but {point_count(curve, Group.G2, right)} of G2")
    out = np.empty((12, curve.fq_words), dtype=np.uint64)
    is_one, bad = ctypes.c_int(), ctypes.c_size_t()
    results = (address(out), ctypes.byref(is_one), ctypes.byref(bad))
    call("cuzk_pairing_product", curve.index, address(left), address(right), count, *results)
    if bad.value != count:
        raise ValueError(f"pair {bad.value} has a point off its curve or subgroup")
    return out, bool(is_one.value)
