"""Points, proofs and verifying keys as plain integers: the values that pass between the parts.

Points are affine. G1 is (x, y); G2 is ((x.c0, x.c1), (y.c0, y.c1)); None is the point at infinity.
No value here is in Montgomery form.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from kernels.curves import Curve

Fq2: TypeAlias = tuple[int, int]
G1: TypeAlias = tuple[int, int] | None
G2: TypeAlias = tuple[Fq2, Fq2] | None


@dataclass(frozen=True, slots=True)
class Proof:
    """A Groth16 proof: A and C in G1, B in G2."""

    curve: Curve
    a: G1
    b: G2
    c: G1


@dataclass(frozen=True, slots=True)
class VerifyingKey:
    """What a verifier needs: alpha, beta, gamma, delta and one IC point a public input, plus one."""

    curve: Curve
    alpha_g1: G1
    beta_g2: G2
    gamma_g2: G2
    delta_g2: G2
    ic: tuple[G1, ...]

    @property
    def public_count(self) -> int:
        """Number of public inputs that a proof for this key carries."""
        return len(self.ic) - 1
