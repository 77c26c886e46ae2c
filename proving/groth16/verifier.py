"""Groth16 verification, of one proof or of many at once, with an answer that names what failed."""

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from kernels.curves import Curve, Group
from kernels.msm import msm
from kernels.pairing import PreparedPoint, miller_loop, prepare_point, prepared_product_is_one
from kernels.points import first_bad_point, from_integers, multiply, negate
from proving.groth16.assembly import combine, scalar_words
from proving.groth16.objects import G1, G2, Proof, VerifyingKey

Words = NDArray[np.uint64]
BATCH_COEFFICIENT_BITS = 128


class Check(StrEnum):
    """What a proof is checked for, in this order."""

    VERIFYING_KEY = "verifying_key"
    CURVE = "curve"
    PUBLIC_COUNT = "public_count"
    PUBLIC_RANGE = "public_range"
    ON_CURVE = "on_curve"
    SUBGROUP = "subgroup"
    PAIRING = "pairing"


@dataclass(frozen=True, slots=True)
class Verdict:
    """The outcome for one proof: `failed` names the first check that failed, None for a valid proof."""

    failed: Check | None = None
    detail: str = ""

    @property
    def valid(self) -> bool:
        """Whether the proof proves its public inputs."""
        return self.failed is None

    @property
    def reason(self) -> str:
        """One line for a person."""
        return "valid" if self.failed is None else self.detail


VALID = Verdict()
PAIRING_FAILED = Verdict(Check.PAIRING, "the pairing check fails")


@dataclass(frozen=True, slots=True)
class BatchVerdict:
    """The outcome for several proofs: the bad ones by index, each with its own verdict."""

    bad: tuple[tuple[int, Verdict], ...] = ()

    @property
    def valid(self) -> bool:
        """Whether every proof is valid."""
        return not self.bad

    @property
    def reason(self) -> str:
        """One line for a person."""
        return "; ".join(f"proof {index}: {verdict.reason}" for index, verdict in self.bad) or "valid"


@dataclass(frozen=True, slots=True, eq=False)
class PreparedKey:
    """A checked verifying key: G1 in Montgomery words, G2 by the lines of its points.

    `alpha_beta` is what the Miller loop of -alpha and beta gives.
    """

    curve: Curve
    minus_alpha: Words
    beta: PreparedPoint
    gamma: PreparedPoint
    delta: PreparedPoint
    ic: Words
    alpha_beta: Words


def verify(key: VerifyingKey, proof: Proof, public: Sequence[int]) -> Verdict:
    """Check one proof against a verifying key and its public inputs (plain integers, in wire order).

    Takes three Miller loops, two of them along the key's own lines, and one final exponentiation. Points at
    infinity are members of their groups; whether such a proof is valid is the pairing's to say.
    """
    prepared = prepare(key)
    if isinstance(prepared, Verdict):
        return prepared
    points = admit(key, proof, public)
    if isinstance(points, Verdict):
        return points
    a, b, c = points
    curve = key.curve
    statement = msm(curve, Group.G1, prepared.ic, scalar_words([1, *public]), 1)
    kept = [(minus(curve, statement), prepared.gamma), (minus(curve, c), prepared.delta)]
    holds = prepared_product_is_one(curve, [(a, b)], kept, prepared.alpha_beta)
    return VALID if holds else PAIRING_FAILED


def verify_batch(
    key: VerifyingKey, proofs: Sequence[Proof], publics: Sequence[Sequence[int]]
) -> BatchVerdict:
    """Check many proofs for one verifying key with one randomised pairing product.

    Of n proofs it takes n + 3 Miller loops and one final exponentiation. The coefficients are 128 random bits
    each. When the product fails, halves are checked until every bad proof is named. No proofs at all are a
    valid batch. Raises ValueError when the two lengths differ.
    """
    if len(proofs) != len(publics):
        raise ValueError(f"{len(proofs)} proofs came with {len(publics)} lists of public inputs")
    prepared = prepare(key)
    if isinstance(prepared, Verdict):
        return BatchVerdict(tuple((index, prepared) for index in range(len(proofs))))
    bad: list[tuple[int, Verdict]] = []
    admitted: list[Member] = []
    for index, (proof, public) in enumerate(zip(proofs, publics, strict=True)):
        points = admit(key, proof, public)
        if isinstance(points, Verdict):
            bad.append((index, points))
        else:
            admitted.append(Member(index, *points, tuple(public)))
    bad += [(member.index, PAIRING_FAILED) for member in failing(prepared, admitted)]
    return BatchVerdict(tuple(sorted(bad, key=lambda item: item[0])))


@dataclass(frozen=True, slots=True, eq=False)
class Member:
    """One proof of a batch whose points are in their groups."""

    index: int
    a: Words
    b: Words
    c: Words
    public: tuple[int, ...]


def failing(key: PreparedKey, members: list[Member]) -> list[Member]:
    """The members that the pairing refuses, found by halving."""
    if not members or product_holds(key, members):
        return []
    if len(members) == 1:
        return members
    middle = len(members) // 2
    return failing(key, members[:middle]) + failing(key, members[middle:])


def product_holds(key: PreparedKey, members: list[Member]) -> bool:
    """prod e(z_j A_j, B_j) = e(z alpha, beta) e(sum z_j IC(x_j), gamma) e(sum z_j C_j, delta)."""
    curve = key.curve
    weights = [1 + secrets.randbits(BATCH_COEFFICIENT_BITS) for _ in members]
    total = sum(weights) % curve.r
    columns = zip(*(member.public for member in members), strict=True)
    inputs = [sum(z * x for z, x in zip(weights, column, strict=True)) % curve.r for column in columns]
    statement = msm(curve, Group.G1, key.ic, scalar_words([total, *inputs]), 1)
    c = combine(curve, Group.G1, [(member.c, z) for member, z in zip(members, weights, strict=True)])
    alpha = combine(curve, Group.G1, [(key.minus_alpha, total)])
    a = multiply(curve, Group.G1, np.stack([member.a for member in members]), scalar_words(weights))
    fresh = [(scaled, member.b) for scaled, member in zip(a, members, strict=True)]
    kept = [(alpha, key.beta), (minus(curve, statement), key.gamma), (minus(curve, c), key.delta)]
    return prepared_product_is_one(curve, fresh, kept)


def admit(key: VerifyingKey, proof: Proof, public: Sequence[int]) -> tuple[Words, Words, Words] | Verdict:
    """The proof's points as words, once everything but the pairing is in order; else what is not."""
    curve = key.curve
    if proof.curve != curve:
        return Verdict(Check.CURVE, f"the proof is on {proof.curve.name}, the key on {curve.name}")
    if len(public) != key.public_count:
        return Verdict(Check.PUBLIC_COUNT, f"{len(public)} public inputs, key wants {key.public_count}")
    for index, value in enumerate(public):
        if not 0 <= value < curve.r:
            return Verdict(Check.PUBLIC_RANGE, f"public input {index} is not below the field's modulus")
    return admit_points(curve, proof)


def admit_points(curve: Curve, proof: Proof) -> tuple[Words, Words, Words] | Verdict:
    """The proof's points as words, once each is on its curve and in its subgroup."""
    words = []
    for name, group, point in (("A", Group.G1, proof.a), ("B", Group.G2, proof.b), ("C", Group.G1, proof.c)):
        outcome = point_words(curve, group, point)
        if isinstance(outcome, Check):
            return Verdict(outcome, f"{name} is not {PLACES[outcome]}")
        words.append(outcome)
    return words[0], words[1], words[2]


PLACES = {Check.ON_CURVE: "on the curve", Check.SUBGROUP: "in the subgroup of order r"}


def point_words(curve: Curve, group: Group, point: G1 | G2) -> Words | Check:
    """A point of plain integers as Montgomery words, or which membership check it fails."""
    if point is not None:
        values = coordinates(point)
        if not any(values) or not all(0 <= value < curve.q for value in values):
            return Check.ON_CURVE
    words = from_integers(curve, group, point)
    if first_bad_point(curve, group, words[np.newaxis], threads=1) is None:
        return words
    off = first_bad_point(curve, group, words[np.newaxis], subgroup=False, threads=1) is not None
    return Check.ON_CURVE if off else Check.SUBGROUP


def coordinates(point: tuple[int, int] | tuple[tuple[int, int], tuple[int, int]]) -> list[int]:
    """The integers of a finite point of either group."""
    return [value for part in point for value in (part if isinstance(part, tuple) else (part,))]


@lru_cache(maxsize=32)
def prepare(key: VerifyingKey) -> PreparedKey | Verdict:
    """The key's points as words, each checked once; a verdict that names the first bad one.

    alpha, beta, gamma and delta at infinity are refused: with such a key proofs can be forged.
    """
    curve = key.curve
    named: list[tuple[str, Group, G1 | G2]] = [
        ("alpha_g1", Group.G1, key.alpha_g1),
        ("beta_g2", Group.G2, key.beta_g2),
        ("gamma_g2", Group.G2, key.gamma_g2),
        ("delta_g2", Group.G2, key.delta_g2),
    ]
    named += [(f"ic[{index}]", Group.G1, point) for index, point in enumerate(key.ic)]
    words = []
    for position, (name, group, point) in enumerate(named):
        if point is None and position < 4:
            return Verdict(Check.VERIFYING_KEY, f"{name} of the verifying key is the point at infinity")
        outcome = point_words(curve, group, point)
        if isinstance(outcome, Check):
            return Verdict(Check.VERIFYING_KEY, f"{name} of the verifying key is not {PLACES[outcome]}")
        words.append(outcome)
    if not key.ic:
        return Verdict(Check.VERIFYING_KEY, "the verifying key has no IC points")
    minus_alpha = minus(curve, words[0])
    beta, gamma, delta = (prepare_point(curve, point) for point in words[1:4])
    alpha_beta = miller_loop(curve, minus_alpha, words[1])
    return PreparedKey(curve, minus_alpha, beta, gamma, delta, np.stack(words[4:]), alpha_beta)


def check_key(key: VerifyingKey) -> Verdict:
    """Whether every point of a verifying key is in its group, and none at infinity that must not be."""
    prepared = prepare(key)
    return prepared if isinstance(prepared, Verdict) else VALID


def same_multiple(curve: Curve, left: G1, right: G2) -> bool:
    """Whether a point of G1 is the same multiple of its generator as a point of G2, which is in its group."""
    point = point_words(curve, Group.G1, left)
    if isinstance(point, Check):
        return False
    g1, g2 = from_integers(curve, Group.G1, curve.g1), from_integers(curve, Group.G2, curve.g2)
    other = from_integers(curve, Group.G2, right)
    return prepared_product_is_one(curve, [(point, g2), (minus(curve, g1), other)], [])


def minus(curve: Curve, point: Words) -> Words:
    """The negative of a G1 point in affine Montgomery words."""
    return negate(curve, Group.G1, point[np.newaxis]).reshape(-1)
