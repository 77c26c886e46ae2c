"""Development keys: a Groth16 setup by one machine that draws the secrets itself.

Whoever knows the secrets can forge proofs, so such a key is marked insecure wherever it goes.
"""

import secrets

import numpy as np
from numpy.typing import NDArray

from kernels import field
from kernels.curves import Curve, Group
from kernels.device import KeyPoints
from kernels.points import fixed_base_multiply, from_integers, to_integers
from kernels.quotient import QuotientBasis
from proving.groth16.lagrange import montgomery
from proving.groth16.objects import G1, G2
from proving.groth16.proving_key import ProvingKey
from proving.groth16.qap import (
    ConstraintSystem,
    Polynomials,
    RowOrder,
    domain_size,
    encode_records,
    evaluate_at,
    key_records,
)

Words = NDArray[np.uint64]
H_BASES = {RowOrder.SNARKJS: QuotientBasis.ODD_COSET, RowOrder.BELLMAN: QuotientBasis.MONOMIAL}


class ToxicWaste:
    """The secrets of a setup and what gives them away; `forget` overwrites them, as far as Python can."""

    def __init__(self, curve: Curve) -> None:
        self._arrays: list[Words] = []
        self.tau, self.alpha, self.beta, self.gamma, self.delta = (
            self.keep(montgomery(curve, 1 + secrets.randbelow(curve.r - 1))) for _ in range(5)
        )

    def keep(self, array: Words) -> Words:
        """Remember an array to overwrite."""
        self._arrays.append(array)
        return array

    def forget(self) -> None:
        """Overwrite every array that was kept."""
        for array in self._arrays:
            array.fill(0)


def setup(system: ConstraintSystem, threads: int = 0, order: RowOrder = RowOrder.SNARKJS) -> ProvingKey:
    """A fresh insecure key for a constraint system, as snarkjs or bellman would make it.

    `threads` = 0 uses every available core.

    Raises ValueError where the field has no domain that is large enough.
    """
    waste = ToxicWaste(system.curve)
    try:
        return make_key(system, waste, threads, order)
    finally:
        waste.forget()


def make_key(
    system: ConstraintSystem, waste: ToxicWaste, threads: int, order: RowOrder = RowOrder.SNARKJS
) -> ProvingKey:
    """The key that belongs to given secrets."""
    curve = system.curve
    records = key_records(system, order)
    log_domain = domain_size(system, order).bit_length() - 1
    polynomials = evaluate_at(system, records, order, waste.tau, threads)
    for array in (polynomials.a, polynomials.b, polynomials.c, polynomials.h):
        waste.keep(array)
    statement, private = fold(system, polynomials, waste)
    g1, g2 = (Multiplier(curve, group, threads) for group in (Group.G1, Group.G2))
    points = KeyPoints(
        curve=curve,
        log_domain=log_domain,
        public_count=system.public_count,
        a=g1.many(polynomials.a),
        b1=g1.many(polynomials.b),
        b2=g2.many(polynomials.b),
        c=g1.many(private),
        h=g1.many(waste.keep(divided(curve, polynomials.h, waste.delta))),
        h_basis=H_BASES[order],
    )
    single1 = g1.many(np.concatenate([waste.alpha, waste.beta, waste.delta]))
    single2 = g2.many(np.concatenate([waste.beta, waste.gamma, waste.delta]))
    alpha1, beta1, delta1 = (to_integers(curve, Group.G1, point) for point in single1)
    beta2, gamma2, delta2 = (to_integers(curve, Group.G2, point) for point in single2)
    return ProvingKey(
        curve=curve,
        variable_count=system.wires,
        public_count=system.public_count,
        domain_size=1 << log_domain,
        coefficients=encode_records(records),
        points=points,
        alpha_g1=alpha1,
        beta_g1=beta1,
        beta_g2=beta2,
        gamma_g2=gamma2,
        delta_g1=delta1,
        delta_g2=delta2,
        ic=tuple(to_integers(curve, Group.G1, point) for point in g1.many(statement)),
        key_id=secrets.token_hex(32),
        contributions=1,
        insecure=True,
    )


def fold(system: ConstraintSystem, polynomials: Polynomials, waste: ToxicWaste) -> tuple[Words, Words]:
    """beta A + alpha B + C of each wire: over gamma for wire 0 and public ones, over delta for the rest."""
    curve = system.curve
    fr = field.scalar_field(curve)
    left = field.mul(fr, polynomials.a, waste.beta)
    right = field.mul(fr, polynomials.b, waste.alpha)
    folded = waste.keep(field.add(fr, field.add(fr, left, right), polynomials.c))
    public = system.public_count + 1
    statement, private = (
        divided(curve, folded[:public], waste.gamma),
        divided(curve, folded[public:], waste.delta),
    )
    return waste.keep(statement), waste.keep(private)


def divided(curve: Curve, values: Words, divisor: Words) -> Words:
    """Every value over one divisor."""
    fr = field.scalar_field(curve)
    return field.mul(fr, values, field.inverse(fr, divisor))


class Multiplier:
    """Multiples of a group's generator by Montgomery scalars."""

    def __init__(self, curve: Curve, group: Group, threads: int) -> None:
        self._curve, self._group, self._threads = curve, group, threads
        generator: G1 | G2 = curve.g1 if group is Group.G1 else curve.g2
        self._base = from_integers(curve, group, generator)

    def many(self, scalars: Words) -> Words:
        """(n, 4) scalars as (n, 2W or 4W) affine Montgomery points."""
        plain = field.from_montgomery(field.scalar_field(self._curve), scalars)
        try:
            return fixed_base_multiply(self._curve, self._group, self._base, plain, self._threads)
        finally:
            plain.fill(0)
