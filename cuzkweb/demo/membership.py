"""Inputs for the demo circuit, membership.circom: members of one group, each with a path to its root.

The hash is the circuit's own, made for this demo and analysed by nobody. Not for production.
"""

from __future__ import annotations

import hashlib
from functools import lru_cache
from pathlib import Path

from kernels.curves import BN254

DEPTH = 10
ROUNDS = 110
MEMBERS = 64
HERE = Path(__file__).resolve().parent
CONSTRAINTS = HERE / "membership.r1cs"
GENERATOR = HERE / "membership.wasm"
MODULUS = BN254.r

Levels = tuple[tuple[int, ...], ...]


def example_inputs(index: int) -> dict[str, str | list[str]]:
    """Satisfying inputs, another for every index: a member of the group acting in a scope.

    The values are decimal strings, as an input file holds them.
    """
    scope, member = divmod(index, MEMBERS)
    siblings, sides = path_of(member)
    return {
        "root": str(root()),
        "scope": str(scope),
        "secret": str(secret_of(member)),
        "siblings": [str(sibling) for sibling in siblings],
        "sides": [str(side) for side in sides],
    }


def nullifier(secret: int, scope: int) -> int:
    """The circuit's public output for a member in a scope."""
    return digest(secret, (scope + 1) % MODULUS)


def secret_of(member: int) -> int:
    """A member's secret. Anyone can compute it: this is a demo."""
    return int.from_bytes(hashlib.sha512(f"cuzkweb demo member {member}".encode()).digest()) % MODULUS


def root() -> int:
    """The root of the group's tree."""
    return tree()[-1][0]


def path_of(member: int) -> tuple[list[int], list[int]]:
    """Siblings and sides from a member's leaf up to the root; side 1 means that the node is on the right."""
    levels, empty = tree(), empty_subtrees()
    siblings, sides = [], []
    for level in range(DEPTH):
        position = member >> level
        nodes = levels[level]
        sibling = position ^ 1
        siblings.append(nodes[sibling] if sibling < len(nodes) else empty[level])
        sides.append(position & 1)
    return siblings, sides


@lru_cache(maxsize=1)
def tree() -> Levels:
    """The tree's levels from leaves to root, without the empty subtrees to the right of the members."""
    empty = empty_subtrees()
    levels = [tuple(digest(secret_of(member), 0) for member in range(MEMBERS))]
    for level in range(DEPTH):
        nodes = levels[-1] if len(levels[-1]) % 2 == 0 else (*levels[-1], empty[level])
        levels.append(tuple(map(digest, nodes[::2], nodes[1::2])))
    return tuple(levels)


@lru_cache(maxsize=1)
def empty_subtrees() -> tuple[int, ...]:
    """The root of an empty subtree by its height; an empty leaf is 0."""
    nodes = [0]
    for _ in range(DEPTH):
        nodes.append(digest(nodes[-1], nodes[-1]))
    return tuple(nodes)


@lru_cache(maxsize=1)
def constants() -> tuple[int, ...]:
    """The constant of each round."""
    values = [0]
    for index in range(1, ROUNDS):
        values.append((pow(values[-1] + index, 5, MODULUS) + 7) % MODULUS)
    return tuple(values)


def digest(left: int, right: int) -> int:
    """The circuit's hash of two elements."""
    before, state = right, left
    for constant in constants():
        before, state = state, (before + pow(state + constant, 5, MODULUS)) % MODULUS
    return (state + left + right) % MODULUS
