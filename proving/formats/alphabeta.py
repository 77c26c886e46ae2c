"""The pairing of alpha and beta as snarkjs keeps it in a verifying key (`vk_alphabeta_12`).

snarkjs ends its pairing with an exponentiation that saves work: on BN254 its result is the reduced pairing
to the power 2 z (6 z^2 + 3 z + 1), z the curve's parameter; on BLS12-381 the cube, as in `kernels.pairing`.
"""

from __future__ import annotations

from kernels.curves import BN254, Curve, Group
from kernels.field import base_field, from_montgomery
from kernels.pairing import pairing
from kernels.points import from_integers, multiply
from proving.formats.words import to_integers, to_words
from proving.groth16.objects import VerifyingKey

BN254_POWER = 2 * BN254.parameter * (6 * BN254.parameter**2 + 3 * BN254.parameter + 1)


def alphabeta_to_json(key: VerifyingKey) -> list[list[list[str]]]:
    """Two elements of Fq6, each three of Fq2, each two decimal strings.

    Raises ValueError when alpha or beta is not in its group.
    """
    curve = key.curve
    alpha = from_integers(curve, Group.G1, key.alpha_g1).reshape(1, -1)
    beta = from_integers(curve, Group.G2, key.beta_g2)
    if power(curve) != 1:
        alpha = multiply(curve, Group.G1, alpha, to_words([power(curve) % curve.r]))
    product = from_montgomery(base_field(curve), pairing(curve, alpha, beta))
    values = [str(value) for value in to_integers(product)]
    return [[values[start : start + 2] for start in range(half, half + 6, 2)] for half in (0, 6)]


def power(curve: Curve) -> int:
    """What snarkjs's pairing is a power of ours by."""
    return BN254_POWER if curve is BN254 else 1
