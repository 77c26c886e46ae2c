"""Pairings: bilinear, not degenerate, and equal to those of py_ecc."""

from random import Random
from typing import Any

import numpy as np
import pytest

from kernels.curves import BLS12_381, BN254, CURVES, Curve, Group
from kernels.pairing import (
    miller_loop,
    pairing,
    pairing_product_is_one,
    prepare_point,
    prepared_product_is_one,
)
from kernels.points import from_integers, multiply, negate
from tests.unit.kernels.reference import LIBRARIES, Reference, Words, plain, words


def generators(curve: Curve) -> tuple[Words, Words]:
    g1, g2 = (
        from_integers(curve, group, point) for group, point in zip(Group, (curve.g1, curve.g2), strict=True)
    )
    return g1[np.newaxis], g2[np.newaxis]


def scaled(curve: Curve, group: Group, scalars: list[int]) -> Words:
    base = generators(curve)[group - 1]
    return multiply(
        curve, group, np.repeat(base, len(scalars), axis=0), words([s % curve.r for s in scalars])
    )


def in_tower_of_py_ecc(curve: Curve, value: Words) -> Any:
    """Ours, c_i = a_i + b_i u on w^i, in py_ecc's Fq[w]: there u = w^6 - k with xi = k + u."""
    k = curve.xi[0]
    flat = plain(value, curve.q)
    coefficients = [0] * 12
    for place, power in enumerate((0, 2, 4, 1, 3, 5)):  # 1, v, v^2, w, v w, v^2 w
        a, b = flat[2 * place : 2 * place + 2]
        coefficients[power] = (a - k * b) % curve.q
        coefficients[power + 6] = b
    return LIBRARIES[curve.name].FQ12(coefficients)


@pytest.mark.parametrize("scalars", [(1, 1), (123456789, 987654321)])
def test_the_value_is_that_of_py_ecc(curve: Curve, scalars: tuple[int, int]) -> None:
    library = LIBRARIES[curve.name]
    g1, g2 = (Reference(curve, group) for group in Group)
    p, q = (g.multiply(g.generator, s) for g, s in zip((g1, g2), scalars, strict=True))
    expected = library.pairing(g2.lift(q), g1.lift(p))
    found = in_tower_of_py_ecc(curve, pairing(curve, g1.encode([p]), g2.encode([q])))
    if curve is BN254:
        assert found == expected
    else:  # py_ecc takes |z| for z, which inverts the pairing; ours is the cube
        assert found == (expected**3).inv()


def test_it_is_not_degenerate_and_has_order_r(curve: Curve) -> None:
    value = in_tower_of_py_ecc(curve, pairing(curve, *generators(curve)))
    one = LIBRARIES[curve.name].FQ12.one()
    assert value != one
    assert value**curve.r == one


def test_it_is_bilinear(curve: Curve) -> None:
    random = Random(6)
    g1, g2 = generators(curve)
    for _ in range(4):
        a, b = random.randrange(curve.r), random.randrange(curve.r)
        p, q = scaled(curve, Group.G1, [a])[0], scaled(curve, Group.G2, [b])[0]
        expected = pairing(curve, scaled(curve, Group.G1, [a * b])[0], g2)
        assert np.array_equal(pairing(curve, p, q), expected)
        assert np.array_equal(pairing(curve, g1, scaled(curve, Group.G2, [a * b])), expected)


@pytest.mark.parametrize("count", [2, 3, 4, 9])
def test_products_that_are_one(curve: Curve, count: int) -> None:
    random = Random(count)
    a, b = ([random.randrange(curve.r) for _ in range(count)] for _ in range(2))
    rest = sum(x * y for x, y in zip(a[1:], b[1:], strict=True))
    a[0] = -rest * pow(b[0], -1, curve.r)
    g1, g2 = scaled(curve, Group.G1, a), scaled(curve, Group.G2, b)
    assert pairing_product_is_one(curve, g1, g2)
    g1[0] = scaled(curve, Group.G1, [a[0] + 1])[0]
    assert not pairing_product_is_one(curve, g1, g2)


def test_equal_and_opposite_pairs(curve: Curve) -> None:
    g1, g2 = generators(curve)
    minus = negate(curve, Group.G1, g1)
    assert pairing_product_is_one(curve, np.concatenate([g1, minus]), np.concatenate([g2, g2]))
    assert not pairing_product_is_one(curve, np.concatenate([g1, g1]), np.concatenate([g2, g2]))
    assert not pairing_product_is_one(curve, g1, g2)


def test_infinity_counts_as_one(curve: Curve) -> None:
    g1, g2 = generators(curve)
    for p, q in ((np.zeros_like(g1), g2), (g1, np.zeros_like(g2)), (np.zeros_like(g1), np.zeros_like(g2))):
        assert pairing_product_is_one(curve, p, q)
        minus = negate(curve, Group.G1, g1)
        assert pairing_product_is_one(curve, np.concatenate([g1, p, minus]), np.concatenate([g2, q, g2]))
        assert not pairing_product_is_one(curve, np.concatenate([g1, p]), np.concatenate([g2, q]))


def test_no_pairs(curve: Curve) -> None:
    g1, g2 = generators(curve)
    assert pairing_product_is_one(curve, g1[:0], g2[:0])


def test_bad_points_are_named(curve: Curve) -> None:
    g1, g2 = (np.repeat(g, 3, axis=0) for g in generators(curve))
    for array in (g1, g2):
        array[2, 0] ^= 1
        with pytest.raises(ValueError, match="pair 2 has a point off its curve"):
            pairing_product_is_one(curve, g1, g2)
        array[2, 0] ^= 1


@pytest.mark.parametrize(
    ("curve", "group"), [(BLS12_381, Group.G1), (BLS12_381, Group.G2), (BN254, Group.G2)]
)
def test_points_outside_of_the_subgroup_are_named(curve: Curve, group: Group) -> None:
    reference = Reference(curve, group)
    pair = list(generators(curve))
    pair[group - 1] = reference.encode([reference.any_point()])
    with pytest.raises(ValueError, match="pair 0 has a point off its curve or subgroup"):
        pairing(curve, *pair)


def test_lengths_that_differ_are_refused() -> None:
    for curve in CURVES:
        g1, g2 = generators(curve)
        with pytest.raises(ValueError, match="1 points of G1 but 2 of G2"):
            pairing_product_is_one(curve, g1, np.repeat(g2, 2, axis=0))


@pytest.mark.parametrize("split", [(4, 0, 0), (0, 4, 0), (1, 3, 0), (2, 1, 1), (1, 2, 1), (0, 0, 1)])
def test_products_with_kept_lines(curve: Curve, split: tuple[int, int, int]) -> None:
    """The same product, its pairs given as points, by lines, or as what a Miller loop gave."""
    random = Random(sum(split))
    count = sum(split)
    a, b = ([random.randrange(1, curve.r) for _ in range(count)] for _ in range(2))
    rest = sum(x * y for x, y in zip(a[1:], b[1:], strict=True))
    a[0] = -rest * pow(b[0], -1, curve.r) % curve.r
    g1, g2 = scaled(curve, Group.G1, a), scaled(curve, Group.G2, b)

    def holds() -> bool:
        pairs = list(zip(g1, g2, strict=True))
        fresh, kept, looped = (
            pairs[: split[0]],
            pairs[split[0] : split[0] + split[1]],
            pairs[count - split[2] :],
        )
        prepared = [(p, prepare_point(curve, q)) for p, q in kept]
        value = miller_loop(curve, *looped[0]) if split[2] else None
        return prepared_product_is_one(curve, fresh, prepared, value)

    if count > 1:
        assert holds()
    g1[0] = scaled(curve, Group.G1, [a[0] + 1])[0]
    assert not holds()


def test_infinity_counts_as_one_with_kept_lines(curve: Curve) -> None:
    g1, g2 = (g[0] for g in generators(curve))
    kept = prepare_point(curve, g2)
    minus = negate(curve, Group.G1, g1[np.newaxis])[0]
    nothing = np.zeros_like(g1), np.zeros_like(g2)
    assert prepared_product_is_one(curve, [(nothing[0], g2), (g1, nothing[1])], [(nothing[0], kept)])
    assert prepared_product_is_one(curve, [(g1, g2)], [(nothing[0], kept), (minus, kept)])
    assert not prepared_product_is_one(curve, [(g1, g2)], [(nothing[0], kept)])
    assert prepared_product_is_one(curve, [], [])


def test_only_points_of_the_group_are_prepared(curve: Curve) -> None:
    q = generators(curve)[1][0]
    with pytest.raises(ValueError, match="other than infinity"):
        prepare_point(curve, np.zeros_like(q))
    outside = Reference(curve, Group.G2).any_point()
    with pytest.raises(ValueError, match="off its curve or subgroup"):
        prepare_point(curve, Reference(curve, Group.G2).encode([outside]))
    q[0] ^= 1
    with pytest.raises(ValueError, match="off its curve or subgroup"):
        prepare_point(curve, q)


def test_lines_of_another_curve_are_refused() -> None:
    (p, q), (_, other) = ((g[0] for g in generators(curve)) for curve in CURVES)
    with pytest.raises(ValueError, match="another curve"):
        prepared_product_is_one(CURVES[0], [(p, q)], [(p, prepare_point(CURVES[1], other))])
