"""Pairings e: G1 x G2 -> the subgroup of order r of Fq12.

Fq12 = Fq6[w]/(w^2 - v), Fq6 = Fq2[v]/(v^3 - xi), Fq2 = Fq[u]/(u^2 + 1), xi = 9 + u (BN254) or 1 + u
(BLS12-381).
"""

import ctypes

import numpy as np

from kernels.curves import Curve, Group
from kernels.native import RawPoints, Words, address, call, point_count, points


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
