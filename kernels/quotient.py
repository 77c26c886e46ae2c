"""The quotient of a proof in the basis that its key has: both speak of the same polynomial.

Keys of snarkjs hold H for the values on the odd coset, keys of bellman for the coefficients.
"""

from enum import StrEnum

import numpy as np

from kernels import field
from kernels.curves import Curve
from kernels.native import Words
from kernels.ntt import ntt, quotient


class QuotientBasis(StrEnum):
    """What the scalars of the H query are."""

    ODD_COSET = "odd coset"
    MONOMIAL = "monomial"


def quotient_scalars(
    basis: QuotientBasis, curve: Curve, a: Words, b: Words, log_n: int, *, threads: int = 0
) -> Words:
    """What the H query of a key is multiplied by, (n, 4) or (n - 1, 4) plain words.

    a and b are evaluations on the domain of n = 2^log_n points, (n, 4) Montgomery words, and are DESTROYED.
    """
    if basis is QuotientBasis.ODD_COSET:
        return quotient(curve, a, b, log_n, threads)
    return quotient_coefficients(curve, a, b, log_n, threads)


def quotient_coefficients(curve: Curve, a: Words, b: Words, log_n: int, threads: int = 0) -> Words:
    """The coefficients of (A B - C) / Z, plain, (n - 1, 4): C has the values a[i] b[i], Z(x) = x^n - 1.

    a and b are as `kernels.ntt.quotient` takes them, and are DESTROYED. Seven transforms: on the odd coset
    Z is constant, so that the division is a product with one scalar.
    """
    fr = field.scalar_field(curve)
    values = quotient(curve, a, b, log_n, threads)
    shift = curve.coset_shift(log_n)
    vanishing = pow(shift, 1 << log_n, curve.r) - 1
    factor = (pow(vanishing, -1, curve.r) << 512) % curve.r  # over R once in the product, Montgomery after it
    packed = np.frombuffer(factor.to_bytes(8 * fr.words, "little"), dtype="<u8").reshape(1, fr.words)
    coefficients = field.mul(fr, values, packed.copy())
    ntt(curve, coefficients, inverse=True, coset_shift=shift, threads=threads)
    return field.from_montgomery(fr, coefficients)[:-1]
