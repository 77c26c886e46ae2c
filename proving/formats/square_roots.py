"""Square roots in Fq and Fq2 for compressed points. Both primes q here are 3 modulo 4."""

from __future__ import annotations

from kernels.curves import Curve

Fq2 = tuple[int, int]


def square_root(value: int, q: int) -> int | None:
    """One of the two roots in Fq, or None for a non-residue."""
    root = pow(value, (q + 1) // 4, q)
    return root if root * root % q == value % q else None


def fq2_square_root(value: Fq2, q: int) -> Fq2 | None:
    """One of the two roots in Fq2 = Fq[u]/(u^2 + 1), or None for a non-residue."""
    c0, c1 = value
    norm = square_root((c0 * c0 + c1 * c1) % q, q)
    if norm is None:
        return None
    half = pow(2, -1, q)
    for sign in (norm, -norm):
        real = square_root((c0 + sign) * half % q, q)
        if real is None:
            continue
        imaginary = c1 * half * pow(real, -1, q) % q if real else square_root(-c0 % q, q)
        if imaginary is not None and squared((real, imaginary), q) == (c0 % q, c1 % q):
            return real, imaginary
    return None


def twist_y(x: Fq2, curve: Curve) -> Fq2 | None:
    """One of the two y with (x, y) on the curve that G2 lies on, or None."""
    return fq2_square_root(right_side(x, curve), curve.q)


def right_side(x: Fq2, curve: Curve) -> Fq2:
    """x^3 + b over Fq2."""
    (c0, c1), q = x, curve.q
    s0, s1 = squared(x, q)
    return (s0 * c0 - s1 * c1 + curve.b2[0]) % q, (s0 * c1 + s1 * c0 + curve.b2[1]) % q


def squared(value: Fq2, q: int) -> Fq2:
    """value^2."""
    c0, c1 = value
    return (c0 * c0 - c1 * c1) % q, 2 * c0 * c1 % q


def negated(value: Fq2, q: int) -> Fq2:
    """-value."""
    return -value[0] % q, -value[1] % q


def is_larger(value: Fq2, q: int) -> bool:
    """Whether a value is larger than its negative, comparing c1 first, then c0."""
    c0, c1 = value
    return c1 > q - c1 if c1 else c0 > q - c0
