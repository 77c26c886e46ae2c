"""Whether many points lie on their curve and in the subgroup of order r, quicker than one by one.

A trial sums the points with fresh random coefficients and tests the sum. A point outside adds something whose
order divides the cofactor, and it is overlooked only when the coefficients wipe that out. With coefficients
of 16 bits the chance is about one in the least prime factor of the cofactor, 10069 for G2 of BN254; with
coefficients 0 and 1 it is at most a half for any cofactor, which is better where the least factors are 3 and
13, as on BLS12-381. (The sums that a multi-scalar multiplication takes cost a few additions a point; the test
of a single point costs a hundred doublings.)
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kernels.curves import BLS12_381, BN254, Curve, Group
from kernels.msm import Bases
from kernels.points import first_bad_point

WORTH_TRIALS = 2048


@dataclass(frozen=True, slots=True)
class Trials:
    """How many sums are tested, with coefficients of how many bits."""

    count: int
    bits: int


TRIALS = {
    (BN254.name, Group.G2): Trials(10, 16),  # overlooks with a chance below 2^-128
    (BLS12_381.name, Group.G1): Trials(64, 1),  # at most 2^-64
    (BLS12_381.name, Group.G2): Trials(64, 1),
}


def first_outside(curve: Curve, group: Group, points: NDArray[np.uint64], threads: int = 0) -> int | None:
    """The index of the first point that is not in its group of order r, or None.

    `points` are affine Montgomery words, (n, 2W | 4W); infinity is a member. Many points are tested together:
    whoever made them has a chance of less than 2^-64 that one outside is overlooked.
    """
    trials = TRIALS.get((curve.name, group))
    if trials is None or len(points) < WORTH_TRIALS:
        return first_bad_point(curve, group, points, subgroup=True, threads=threads)
    off_curve = first_bad_point(curve, group, points, subgroup=False, threads=threads)
    if off_curve is None and sums_are_inside(curve, group, points, trials, threads):
        return None
    return first_bad_point(curve, group, points, subgroup=True, threads=threads)


def sums_are_inside(
    curve: Curve, group: Group, points: NDArray[np.uint64], trials: Trials, threads: int
) -> bool:
    """Whether random sums of points that lie on the curve are all in the subgroup."""
    with Bases(curve, group, points, threads) as bases:
        sums = [bases.msm(random_scalars(len(points), trials.bits), threads) for _ in range(trials.count)]
    return first_bad_point(curve, group, np.stack(sums), subgroup=True, threads=threads) is None


def random_scalars(count: int, bits: int) -> NDArray[np.uint64]:
    """Uniform scalars of 1 or 16 bits from the operating system, (count, 4) plain words."""
    scalars = np.zeros((count, 4), dtype=np.uint64)
    if bits == 1:
        drawn = np.frombuffer(secrets.token_bytes(-(-count // 8)), dtype=np.uint8)
        scalars[:, 0] = np.unpackbits(drawn)[:count]
    else:
        scalars[:, 0] = np.frombuffer(secrets.token_bytes(2 * count), dtype="<u2")
    return scalars
