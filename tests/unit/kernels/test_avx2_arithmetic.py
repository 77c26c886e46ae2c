"""Vector arithmetic with limbs at the extremes of their bounds, against Python integers."""

from collections.abc import Sequence
from random import Random

import pytest

from kernels.csrc.generate.vector_fields import FIELDS, VectorField

from .avx2 import LANES, Operation, apply, needs_avx2

pytestmark = needs_avx2

ROUNDS = 150


@pytest.fixture(params=FIELDS, ids=lambda field: field.name)
def field(request: pytest.FixtureRequest) -> VectorField:
    return request.param


def value(field: VectorField, limbs: Sequence[int]) -> int:
    return sum(limb << (field.bits * i) for i, limb in enumerate(limbs))


def extreme_quad(field: VectorField, random: Random, low: int, high: int) -> list[list[int]]:
    """Four elements whose limbs lean to the ends of [low, high]; the first two lie there altogether."""

    def limb() -> int:
        return random.choice([low, high, low, high, 0, random.randint(low, high)])

    quad = [[limb() for _ in range(field.limbs)] for _ in range(LANES)]
    if random.random() < 0.5:
        quad[0], quad[1] = [low] * field.limbs, [high] * field.limbs
    return quad


def assert_product(field: VectorField, exact: int, outcome: Sequence[int]) -> None:
    """The outcome is exact / R modulo p, carried, and between exact / R and exact / R + 2p."""
    got = value(field, outcome)
    assert got * field.radix % field.modulus == exact % field.modulus
    assert all(0 <= limb < field.base for limb in outcome[:-1])
    assert exact <= got * field.radix <= exact + 2 * field.modulus * field.radix


def extreme_operands(field: VectorField, seed: str, *units: int) -> list[list[list[list[int]]]]:
    random = Random(f"{seed} {field.name}")
    rounds = []
    for _ in range(ROUNDS):
        quads = [extreme_quad(field, random, -unit * field.base, unit * field.base) for unit in units]
        rounds.append(quads)
    return rounds


def test_products(field: VectorField) -> None:
    for a, b in extreme_operands(field, "product", 2, 1):
        for x, y, outcome in zip(a, b, apply(field, Operation.PRODUCT, a, b), strict=True):
            assert_product(field, value(field, x) * value(field, y), outcome)


def test_products_with_both_operands_swapped(field: VectorField) -> None:
    for a, b in extreme_operands(field, "swapped", 1, 2):
        for x, y, outcome in zip(a, b, apply(field, Operation.PRODUCT, a, b), strict=True):
            assert_product(field, value(field, x) * value(field, y), outcome)


def test_products_of_a_sum_of_three_and_a_carried_factor(field: VectorField) -> None:
    random = Random(field.name)
    for _ in range(ROUNDS):
        a = extreme_quad(field, random, -2 * field.base, 3 * field.base)
        b = extreme_quad(field, random, 0, field.base - 1)
        b = [[*limbs[:-1], limbs[-1] % (field.modulus_top + 1)] for limbs in b]
        for x, y, outcome in zip(a, b, apply(field, Operation.PRODUCT, a, b), strict=True):
            assert_product(field, value(field, x) * value(field, y), outcome)


def test_sums_of_two_products(field: VectorField) -> None:
    for a, b, c, d in extreme_operands(field, "sum", 1, 1, 1, 1):
        outcomes = apply(field, Operation.PRODUCT_SUM, a, b, c, d)
        for w, x, y, z, outcome in zip(a, b, c, d, outcomes, strict=True):
            exact = value(field, w) * value(field, x) + value(field, y) * value(field, z)
            assert_product(field, exact, outcome)


def test_squares(field: VectorField) -> None:
    for (a,) in extreme_operands(field, "square", 1):
        for x, outcome in zip(a, apply(field, Operation.SQUARE, a), strict=True):
            assert_product(field, value(field, x) ** 2, outcome)


def reducible_quad(field: VectorField, random: Random, least: int, most: int) -> list[list[int]]:
    """Elements worth least to most times p, in limbs up to three bits too large in either sign."""
    quad = []
    for _ in range(LANES):
        number = random.choice(
            [least * field.modulus, most * field.modulus, random.randint(least, most) * field.modulus]
        )
        number += random.choice([0, -1, 1, random.randrange(field.modulus)])
        limbs = field.split(number)
        for i in range(field.limbs - 1):
            borrowed = random.choice([-7, 0, 7, random.randint(-7, 7)])
            limbs[i] += borrowed * field.base
            limbs[i + 1] -= borrowed
        assert value(field, limbs) == number
        quad.append(limbs)
    return quad


@pytest.mark.parametrize(("least", "most"), [(0, 16), (-8, 8)])
def test_reduction(field: VectorField, least: int, most: int) -> None:
    random = Random(f"{field.name} {least}")
    for _ in range(ROUNDS):
        a = reducible_quad(field, random, least, most)
        for x, outcome in zip(a, apply(field, Operation.REDUCED, a), strict=True):
            got = value(field, outcome)
            assert got % field.modulus == value(field, x) % field.modulus
            assert 0 <= got <= field.reduced_limit
            assert all(0 <= limb < field.base for limb in outcome)


def test_a_product_and_a_summand_reduced_together(field: VectorField) -> None:
    random = Random(field.name)
    for _ in range(ROUNDS):
        a = extreme_quad(field, random, 0, field.base - 1)
        a = [[*limbs[:-1], limbs[-1] % (field.modulus_top + 1)] for limbs in a]
        b, c = reducible_quad(field, random, 0, 1), reducible_quad(field, random, -4, 4)
        b = apply(field, Operation.NORMALISED, b)
        outcomes = apply(field, Operation.PRODUCT_PLUS, a, b, c)
        for x, y, z, outcome in zip(a, b, c, outcomes, strict=True):
            exact = value(field, x) * value(field, y) + value(field, z) * field.radix
            got = value(field, outcome)
            assert got * field.radix % field.modulus == exact % field.modulus
            assert 0 <= got <= field.reduced_limit


def test_carries_keep_the_value(field: VectorField) -> None:
    random = Random(field.name)
    for _ in range(ROUNDS):
        a = reducible_quad(field, random, -8, 8)
        for x, outcome in zip(a, apply(field, Operation.NORMALISED, a), strict=True):
            assert value(field, outcome) == value(field, x)
            assert all(0 <= limb < field.base for limb in outcome[:-1])


def test_canonical_form_and_memory(field: VectorField) -> None:
    p = field.modulus
    numbers = [0, 1, p - 1, p, p + 1, field.reduced_limit, p // 2, p + (field.reduced_limit - p) // 2]
    for i in range(0, len(numbers), LANES):
        quad = [field.split(number) for number in numbers[i : i + LANES]]
        canonical = apply(field, Operation.CANONICAL, quad)
        assert [value(field, limbs) for limbs in canonical] == [x % p for x in numbers[i : i + LANES]]
        assert apply(field, Operation.PACKED, quad) == quad
