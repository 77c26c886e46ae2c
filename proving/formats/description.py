"""What is said about a file."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeAlias

from kernels.curves import Curve, Group
from kernels.points import first_bad_point, from_integers
from proving.groth16.objects import G1, G2, Proof, VerifyingKey

Facts: TypeAlias = tuple[tuple[str, str], ...]
NamedPoint: TypeAlias = tuple[str, Group, G1 | G2]


@dataclass(frozen=True, slots=True)
class Description:
    """A file's kind, facts about it, and what is wrong with it: "place: reason" each."""

    file: str
    kind: str
    facts: Facts = ()
    problems: tuple[str, ...] = ()

    def __str__(self) -> str:
        lines = [f"{self.file}: {self.kind}"]
        width = max((len(name) for name, _ in self.facts), default=0)
        lines += [f"  {name.ljust(width)}  {value}" for name, value in self.facts]
        lines += [f"  wrong: {problem}" for problem in self.problems]
        return "\n".join(lines)


def misplaced(curve: Curve, points: Iterable[NamedPoint]) -> tuple[str, ...]:
    """Which of some named points are not in their group."""
    return tuple(
        f"{name}: the point is not in the group of {curve.name}"
        for name, group, point in points
        if first_bad_point(curve, group, from_integers(curve, group, point).reshape(1, -1), subgroup=True)
        is not None
    )


def proof_points(proof: Proof) -> list[NamedPoint]:
    """The points of a proof by the names that snarkjs has for them."""
    return [("pi_a", Group.G1, proof.a), ("pi_b", Group.G2, proof.b), ("pi_c", Group.G1, proof.c)]


def key_points(key: VerifyingKey) -> list[NamedPoint]:
    """The points of a verifying key by the names that snarkjs has for them."""
    points: list[NamedPoint] = [
        ("vk_alpha_1", Group.G1, key.alpha_g1),
        *((f"IC[{index}]", Group.G1, point) for index, point in enumerate(key.ic)),
    ]
    points += [
        ("vk_beta_2", Group.G2, key.beta_g2),
        ("vk_gamma_2", Group.G2, key.gamma_g2),
        ("vk_delta_2", Group.G2, key.delta_g2),
    ]
    return points
