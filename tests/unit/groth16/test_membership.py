"""A point outside of its group is found and named, wherever it stands among many."""

import numpy as np
import pytest

from kernels.curves import BLS12_381, BN254, CURVES, Curve, Group
from kernels.points import fixed_base_multiply, from_integers, multiply
from proving.formats.square_roots import square_root, twist_y
from proving.groth16 import membership
from proving.groth16.membership import TRIALS, WORTH_TRIALS, first_outside
from tests.unit.groth16.reference import words

COUNT = WORTH_TRIALS + 3


def many(curve: Curve, group: Group) -> np.ndarray:
    base = from_integers(curve, group, curve.g1 if group is Group.G1 else curve.g2)
    points = fixed_base_multiply(curve, group, base, words(range(COUNT)), 2)
    points[::5] = 0
    return points


def outside(curve: Curve, group: Group) -> np.ndarray:
    """A point of the curve that r does not send to infinity: the first x that has a y will do."""
    for x in range(1, 100):
        if group is Group.G1:
            y = square_root(x**3 + curve.b1, curve.q)
            point = None if y is None else (x, y)
        else:
            root = twist_y((x, 0), curve)
            point = None if root is None else ((x, 0), root)
        if point is not None:
            found = from_integers(curve, group, point).reshape(1, -1)
            assert multiply(curve, group, found, words([curve.r])).any()
            return found
    raise AssertionError


@pytest.mark.parametrize("group", Group)
@pytest.mark.parametrize("curve", CURVES, ids=lambda curve: curve.name)
def test_members_and_infinities_pass(curve: Curve, group: Group) -> None:
    assert first_outside(curve, group, many(curve, group)) is None


CASES = [(BN254, Group.G2), (BLS12_381, Group.G1), (BLS12_381, Group.G2)]


@pytest.mark.parametrize(("curve", "group"), CASES, ids=str)
@pytest.mark.parametrize("place", [0, 1777, COUNT - 1])
def test_one_outside_is_named(curve: Curve, group: Group, place: int) -> None:
    points = many(curve, group)
    points[place] = outside(curve, group)
    assert first_outside(curve, group, points) == place


@pytest.mark.parametrize(("curve", "group"), CASES, ids=str)
def test_two_outside_that_cancel_each_other_are_found(curve: Curve, group: Group) -> None:
    from kernels.points import negate

    points = many(curve, group)
    points[3] = outside(curve, group)
    points[900] = negate(curve, group, points[3:4])
    assert first_outside(curve, group, points) == 3


def test_a_point_off_the_curve_is_named() -> None:
    points = many(BN254, Group.G2)
    points[11, 0] ^= np.uint64(1)
    assert first_outside(BN254, Group.G2, points) == 11


def test_good_points_are_not_tested_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    tested = []
    genuine = membership.first_bad_point

    def spy(curve, group, points, *, subgroup, threads):
        if subgroup:
            tested.append(len(points))
        return genuine(curve, group, points, subgroup=subgroup, threads=threads)

    monkeypatch.setattr(membership, "first_bad_point", spy)
    assert first_outside(BN254, Group.G2, many(BN254, Group.G2)) is None
    assert tested == [TRIALS[BN254.name, Group.G2].count]


def test_ten_trials_of_sixteen_bits_are_enough_for_the_least_prime_factor() -> None:
    cofactor = 2 * BN254.q - BN254.r
    least = next(p for p in range(2, 1 << 16) if cofactor % p == 0)
    assert least == 10069
    trials = TRIALS[BN254.name, Group.G2]
    worst = -(-(1 << trials.bits) // least) / (1 << trials.bits)
    assert worst**trials.count < 2**-128
