"""Lagrange bases of a (shifted) domain at a point, for whole domains at once.

All arrays are (n, 4) Montgomery words of Fr.
"""

import numpy as np
from numpy.typing import NDArray

from kernels import field
from kernels.curves import Curve

Words = NDArray[np.uint64]


def montgomery(curve: Curve, value: int) -> Words:
    """A plain integer of Fr as (1, 4) Montgomery words."""
    packed = (value % curve.r << 256) % curve.r
    return np.frombuffer(packed.to_bytes(32, "little"), dtype="<u8").reshape(1, 4).copy()


def power_of_two_power(curve: Curve, base: Words, log_exponent: int) -> Words:
    """base^(2^log_exponent), elementwise."""
    fr = field.scalar_field(curve)
    for _ in range(log_exponent):
        base = field.mul(fr, base, base)
    return base


def geometric(curve: Curve, first: int, ratio: int, log_n: int) -> Words:
    """first * ratio^i for i below 2^log_n; `first` and `ratio` are plain integers."""
    fr = field.scalar_field(curve)
    series = np.empty((1 << log_n, 4), dtype=np.uint64)
    series[:1] = montgomery(curve, first)
    filled, step = 1, montgomery(curve, ratio)
    while filled < len(series):
        series[filled : 2 * filled] = field.mul(fr, series[:filled], step)
        filled, step = 2 * filled, field.mul(fr, step, step)
    return series


def lagrange_basis(curve: Curve, log_n: int, shift: int, point: Words) -> Words:
    """L_i(point) for the domain shift * w^i of 2^log_n points, in natural order.

    L_i(t) = ((t/shift)^n - 1) / n * x_i / (t - x_i) with x_i = shift * w^i. `point` is (1, 4), `shift` a
    plain integer. Raises ZeroDivisionError when the point lies on the domain.
    """
    fr = field.scalar_field(curve)
    size = 1 << log_n
    nodes = geometric(curve, shift, curve.root_of_unity(log_n), log_n)
    distances = field.sub(fr, point, nodes)
    if not distances.any(axis=1).all():
        raise ZeroDivisionError("the point lies on the domain")
    scaled = field.mul(fr, point, montgomery(curve, pow(shift, -1, curve.r)))
    vanishing = field.sub(fr, power_of_two_power(curve, scaled, log_n), montgomery(curve, 1))
    factor = field.mul(fr, vanishing, montgomery(curve, pow(size, -1, curve.r)))
    basis = field.mul(fr, nodes, field.inverse(fr, distances))
    return field.mul(fr, basis, factor)
