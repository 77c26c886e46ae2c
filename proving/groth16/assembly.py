"""From a device's raw sums to a proof: blinding and assembly.

A = alpha + sum_a + r delta,  B = beta + sum_b2 + s delta  and
C = sum_c + sum_h + s A + r B1 - r s delta, where B1 = beta + sum_b1 + s delta in G1: the
terms in r s delta cancel, so C needs no delta of its own beside the one in A.
"""

import secrets
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from kernels.curves import Curve, Group
from kernels.device import ProverSums
from kernels.msm import msm
from kernels.points import from_integers, to_integers
from proving.groth16.objects import Proof
from proving.groth16.proving_key import ProvingKey

Words = NDArray[np.uint64]


def draw_scalar(curve: Curve) -> int:
    """A uniform element of Fr from the operating system's randomness."""
    return secrets.randbelow(curve.r)


def scalar_words(scalars: Sequence[int]) -> Words:
    """Canonical integers below 2^256 as (n, 4) plain little-endian words."""
    packed = b"".join(scalar.to_bytes(32, "little") for scalar in scalars)
    return np.frombuffer(packed, dtype="<u8").reshape(-1, 4).copy()


def combine(curve: Curve, group: Group, terms: Sequence[tuple[Words, int]]) -> Words:
    """The sum of scalar * point over `terms`: affine Montgomery words; scalars are plain and below r."""
    points = np.stack([point for point, _ in terms])
    return msm(curve, group, points, scalar_words([scalar for _, scalar in terms]), 1)


def assemble(key: ProvingKey, sums: ProverSums, r: int, s: int) -> Proof:
    """The proof from the raw sums and the blinding scalars r and s, both plain and below r of Fr.

    It is not verified here.
    """
    curve = key.curve
    alpha, beta1, delta1 = (
        from_integers(curve, Group.G1, point) for point in (key.alpha_g1, key.beta_g1, key.delta_g1)
    )
    beta2, delta2 = (from_integers(curve, Group.G2, point) for point in (key.beta_g2, key.delta_g2))
    a = combine(curve, Group.G1, [(alpha, 1), (sums.a, 1), (delta1, r)])
    b = combine(curve, Group.G2, [(beta2, 1), (sums.b2, 1), (delta2, s)])
    c = combine(curve, Group.G1, [(sums.c, 1), (sums.h, 1), (a, s), (beta1, r), (sums.b1, r)])
    return Proof(
        curve,
        to_integers(curve, Group.G1, a),
        to_integers(curve, Group.G2, b),
        to_integers(curve, Group.G1, c),
    )
