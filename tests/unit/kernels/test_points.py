"""Point operations against py_ecc, and the checks of curve and subgroup."""

from random import Random
from typing import Any

import numpy as np
import pytest

from kernels.curves import BLS12_381, BN254, CURVES, Curve, Group
from kernels.points import (
    add,
    first_bad_point,
    fixed_base_multiply,
    from_integers,
    multiply,
    negate,
    to_integers,
)
from tests.unit.kernels.reference import Reference, multiples, unaligned, words

GROUPS = [(curve, group) for curve in CURVES for group in Group]


@pytest.fixture(params=GROUPS, ids=lambda pair: f"{pair[0].name}-{pair[1].name}")
def reference(request: pytest.FixtureRequest) -> Reference:
    return Reference(*request.param)


def edge_scalars(curve: Curve) -> list[int]:
    r, random = curve.r, Random(5)
    edges = [0, 1, 2, 3, 15, 16, 17, 31, 32, r - 1, r - 2, r, r + 1, (1 << 256) - 1, 1 << 255, 1 << 64]
    return [*edges, *(random.randrange(r) for _ in range(4))]


def sum_cases(reference: Reference) -> list[tuple[Any, Any]]:
    points, _ = multiples(reference.curve, reference.group, 6)
    p, q = points[2], points[5]
    return [(p, q), (p, p), (p, reference.negate(p)), (None, p), (p, None), (None, None), (q, p)]


def test_addition_with_every_special_case(reference: Reference) -> None:
    cases = sum_cases(reference)
    left, right = (reference.encode([case[i] for case in cases]) for i in (0, 1))
    found = add(reference.curve, reference.group, left, right)
    assert reference.decode(found) == [reference.add(p, q) for p, q in cases]


def test_addition_of_many_on_two_threads(reference: Reference) -> None:
    points, encoded = multiples(reference.curve, reference.group, 120)
    many = np.tile(encoded, (10, 1))
    found = add(reference.curve, reference.group, many, many[::-1].copy(), threads=2)
    expected = reference.encode([reference.multiply(points[0], 121)])
    assert (found == expected).all()
    assert np.array_equal(found, add(reference.curve, reference.group, many, many[::-1].copy(), threads=1))


def test_negation(reference: Reference) -> None:
    points, encoded = multiples(reference.curve, reference.group, 6)
    encoded = np.concatenate([encoded, np.zeros_like(encoded[:1])])
    found = negate(reference.curve, reference.group, encoded)
    assert reference.decode(found) == [*(reference.negate(p) for p in points), None]


def test_multiples_of_points(reference: Reference) -> None:
    curve, group = reference.curve, reference.group
    scalars = edge_scalars(curve)
    points, _ = multiples(curve, group, len(scalars))
    found = multiply(curve, group, reference.encode(points), words(scalars))
    assert reference.decode(found) == [
        reference.multiply(point, scalar) for point, scalar in zip(points, scalars, strict=True)
    ]


def test_multiples_of_infinity(reference: Reference) -> None:
    nothing = reference.encode([None, None])
    assert not multiply(reference.curve, reference.group, nothing, words([7, reference.curve.r - 1])).any()
    assert not fixed_base_multiply(reference.curve, reference.group, nothing[0], words([0, 1, 7])).any()


def test_multiples_of_points_outside_of_the_subgroup() -> None:
    for curve, group in GROUPS:
        reference = Reference(curve, group)
        point = reference.any_point()
        encoded, scalar = reference.encode([point]), 1 << 200 | 12345
        found = multiply(curve, group, encoded, words([scalar]))
        assert reference.decode(found) == [reference.multiply(point, scalar)]


@pytest.mark.parametrize("count", [0, 1, 2, 20, 700])
def test_fixed_base_for_every_table_width(reference: Reference, count: int) -> None:
    curve, group = reference.curve, reference.group
    base = from_integers(curve, group, reference.generator)
    scalars = (edge_scalars(curve) * (count // 20 + 1))[:count]
    found = fixed_base_multiply(curve, group, base, words(scalars), threads=2)
    expected = multiply(curve, group, np.tile(base, (count, 1)), words(scalars))
    assert np.array_equal(found, expected)


def test_the_generator_has_order_r(reference: Reference) -> None:
    curve, group = reference.curve, reference.group
    base = from_integers(curve, group, reference.generator)
    assert not fixed_base_multiply(curve, group, base, words([curve.r])).any()


def test_integers_to_words_and_back(reference: Reference) -> None:
    points, encoded = multiples(reference.curve, reference.group, 6)
    for point, row in zip(points, encoded, strict=True):
        assert np.array_equal(from_integers(reference.curve, reference.group, point), row)
        assert to_integers(reference.curve, reference.group, row) == point
    assert to_integers(reference.curve, reference.group, np.zeros_like(encoded[0])) is None
    assert not from_integers(reference.curve, reference.group, None).any()


@pytest.mark.parametrize("point", [(1, BN254.q), (-1, 2), ((1, 0), (2, 0)), (1,)])
def test_integers_that_are_no_point_of_g1_are_refused(point: Any) -> None:
    with pytest.raises(ValueError, match=r"coordinate"):
        from_integers(BN254, Group.G1, point)


def test_words_that_are_no_point_are_refused() -> None:
    with pytest.raises(ValueError, match="16 words"):
        to_integers(BN254, Group.G2, np.ones(8, dtype=np.uint64))


@pytest.mark.parametrize("subgroup", [False, True])
@pytest.mark.parametrize("threads", [1, 2])
def test_good_points(reference: Reference, subgroup: bool, threads: int) -> None:
    curve, group = reference.curve, reference.group
    _, encoded = multiples(curve, group, 120)
    many = np.tile(np.concatenate([encoded, np.zeros_like(encoded[:1])]), (5, 1))
    assert first_bad_point(curve, group, many, subgroup=subgroup, threads=threads) is None
    assert first_bad_point(curve, group, many[:0], subgroup=subgroup, threads=threads) is None


@pytest.mark.parametrize("threads", [1, 2])
def test_the_first_point_off_the_curve_is_named(reference: Reference, threads: int) -> None:
    curve, group = reference.curve, reference.group
    many = np.tile(multiples(curve, group, 120)[1], (10, 1))
    for at in (1199, 700, 699, 0):
        many[at, 0] ^= 1
        assert first_bad_point(curve, group, many, subgroup=False, threads=threads) == at


def test_a_coordinate_beyond_the_modulus_is_bad(reference: Reference) -> None:
    """x + q is x to the arithmetic, and all the same no legal encoding."""
    curve, group = reference.curve, reference.group
    for column in range(0, curve.point_words(group), curve.fq_words):
        encoded = multiples(curve, group, 2)[1].copy()
        row = encoded[1, column : column + curve.fq_words]
        value = int.from_bytes(row.tobytes(), "little") + curve.q
        encoded[1, column : column + curve.fq_words] = words([value], curve.fq_words)[0]
        assert first_bad_point(curve, group, encoded, subgroup=False) == 1


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_points_outside_of_the_subgroup(reference: Reference, seed: int) -> None:
    curve, group = reference.curve, reference.group
    point = reference.any_point(seed)
    assert reference.is_on_curve(point)
    encoded = np.concatenate([multiples(curve, group, 3)[1], reference.encode([point])])
    assert first_bad_point(curve, group, encoded, subgroup=False) is None
    whole = (curve, group) == (BN254, Group.G1)
    assert first_bad_point(curve, group, encoded, subgroup=True) == (None if whole else 3)


def small_order_points() -> list[tuple[Reference, Any]]:
    """Points of small orders that divide the cofactors, and sums of such a point with a good one."""
    found = []
    for curve, group, order in (
        (BLS12_381, Group.G1, 3),
        (BLS12_381, Group.G2, 13),
        (BN254, Group.G2, 10069),
    ):
        reference = Reference(curve, group)
        point = reference.multiply(reference.any_point(), cofactor(curve, group) // order * curve.r)
        if point is None:
            continue
        assert reference.multiply(point, order) is None
        found += [(reference, point), (reference, reference.add(point, reference.generator))]
    return found


def cofactor(curve: Curve, group: Group) -> int:
    if curve is BN254:
        return 2 * curve.q - curve.r
    z = curve.parameter
    if group is Group.G1:
        return (z - 1) ** 2 // 3
    return (z**8 - 4 * z**7 + 5 * z**6 - 4 * z**4 + 6 * z**3 - 4 * z**2 - 4 * z + 13) // 9


def test_points_of_small_order_are_not_in_the_subgroup() -> None:
    cases = small_order_points()
    assert len(cases) >= 4
    for reference, point in cases:
        curve, group = reference.curve, reference.group
        assert first_bad_point(curve, group, reference.encode([point]), subgroup=False) is None
        assert first_bad_point(curve, group, reference.encode([point]), subgroup=True) == 0


def test_the_point_of_order_three_of_bls12_381() -> None:
    reference = Reference(BLS12_381, Group.G1)
    encoded = reference.encode([(0, 2)])
    assert first_bad_point(BLS12_381, Group.G1, encoded, subgroup=False) is None
    assert first_bad_point(BLS12_381, Group.G1, encoded, subgroup=True) == 0
    tripled = multiply(BLS12_381, Group.G1, np.repeat(encoded, 4, axis=0), words([1, 2, 3, 4]))
    assert reference.decode(tripled) == [(0, 2), (0, BLS12_381.q - 2), None, (0, 2)]


def test_unaligned_words_and_bytes_are_read_alike(reference: Reference) -> None:
    curve, group = reference.curve, reference.group
    _, encoded = multiples(curve, group, 6)
    expected = add(curve, group, encoded, encoded)
    raw = np.frombuffer(encoded.tobytes(), dtype=np.uint8)
    for same in (unaligned(encoded), raw, unaligned(raw.reshape(6, -1).view(np.uint64))):
        assert np.array_equal(add(curve, group, same, same), expected)
        assert first_bad_point(curve, group, same) is None
        assert np.array_equal(
            fixed_base_multiply(curve, group, same[: len(same) // 6], words([2])), expected[:1]
        )


@pytest.mark.parametrize(
    ("array", "reason"),
    [
        (np.zeros((2, 7), dtype=np.uint64), "shape"),
        (np.zeros(16, dtype=np.uint64), "shape"),
        (np.zeros((2, 8), dtype=np.float64), "uint64"),
        (np.zeros((2, 16), dtype=np.uint64)[:, ::2], "contiguous"),
        (np.zeros(100, dtype=np.uint8), "whole number of points"),
        (b"bytes", "bytes"),
    ],
)
def test_malformed_points_are_refused(array: Any, reason: str) -> None:
    good = np.zeros((2, 8), dtype=np.uint64)
    for function in (
        lambda: first_bad_point(BN254, Group.G1, array),
        lambda: add(BN254, Group.G1, array, good),
        lambda: negate(BN254, Group.G1, array),
        lambda: multiply(BN254, Group.G1, array, words([1, 2])),
    ):
        with pytest.raises(ValueError, match=reason):
            function()


def test_lengths_that_differ_are_refused() -> None:
    points = np.zeros((2, 8), dtype=np.uint64)
    with pytest.raises(ValueError, match="2 and 1"):
        add(BN254, Group.G1, points, points[:1])
    with pytest.raises(ValueError, match="2 points but 3 scalars"):
        multiply(BN254, Group.G1, points, words([1, 2, 3]))
    with pytest.raises(ValueError, match="base"):
        fixed_base_multiply(BN254, Group.G1, points, words([1]))
    with pytest.raises(ValueError, match="threads"):
        add(BN254, Group.G1, points, points, threads=-1)
