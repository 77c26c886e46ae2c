"""Single points between a key file's Montgomery words and plain integers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from kernels.curves import Curve
from proving.formats.words import to_integers, to_words
from proving.groth16.objects import G1, G2


def read_g1(curve: Curve, row: NDArray[np.uint64]) -> G1:
    """One G1 point from (2W,) Montgomery words; all zeros is infinity. Raises ValueError off the curve."""
    return read_g1_points(curve, row.reshape(1, -1))[0]


def read_g1_points(curve: Curve, rows: NDArray[np.uint64]) -> tuple[G1, ...]:
    """G1 points from (n, 2W) Montgomery words. Raises ValueError, with the index, off the curve."""
    values = plain_integers(curve, rows)
    points: list[G1] = []
    for index in range(len(rows)):
        x, y = values[2 * index : 2 * index + 2]
        if not x and not y:
            points.append(None)
            continue
        if (y * y - x * x * x - curve.b1) % curve.q:
            raise ValueError(f"point {index} is not on the curve")
        points.append((x, y))
    return tuple(points)


def read_g2(curve: Curve, row: NDArray[np.uint64]) -> G2:
    """One G2 point from (4W,) Montgomery words; all zeros is infinity. Raises ValueError off the curve."""
    values = plain_integers(curve, row.reshape(1, -1))
    if not any(values):
        return None
    x, y = (values[0], values[1]), (values[2], values[3])
    if not is_on_twist(curve, x, y):
        raise ValueError("the point is not on the curve")
    return x, y


def is_on_twist(curve: Curve, x: tuple[int, int], y: tuple[int, int]) -> bool:
    """Whether y^2 = x^3 + b over Fq2."""
    (x0, x1), (y0, y1), (b0, b1) = x, y, curve.b2
    square0, square1 = x0 * x0 - x1 * x1, 2 * x0 * x1
    cube0, cube1 = square0 * x0 - square1 * x1, square0 * x1 + square1 * x0
    return not (y0 * y0 - y1 * y1 - cube0 - b0) % curve.q and not (2 * y0 * y1 - cube1 - b1) % curve.q


def plain_integers(curve: Curve, rows: NDArray[np.uint64]) -> list[int]:
    """The coordinates of points, row by row, out of Montgomery form. Raises ValueError for one >= q."""
    radix_inverse = pow(1 << (64 * curve.fq_words), -1, curve.q)
    values = to_integers(np.ascontiguousarray(rows).reshape(-1, curve.fq_words))
    if any(value >= curve.q for value in values):
        raise ValueError("a coordinate is not below the modulus of the base field")
    return [value * radix_inverse % curve.q for value in values]


def write_g1(curve: Curve, point: G1) -> bytes:
    """One G1 point as Montgomery bytes; zeros for infinity."""
    return montgomery_bytes(curve, point or (0, 0))


def write_g2(curve: Curve, point: G2) -> bytes:
    """One G2 point as Montgomery bytes; zeros for infinity."""
    x, y = point or ((0, 0), (0, 0))
    return montgomery_bytes(curve, (*x, *y))


def montgomery_bytes(curve: Curve, coordinates: Sequence[int]) -> bytes:
    """Coordinates in Montgomery form, little-endian."""
    shift = 64 * curve.fq_words
    return to_words(((value << shift) % curve.q for value in coordinates), curve.fq_words).tobytes()
