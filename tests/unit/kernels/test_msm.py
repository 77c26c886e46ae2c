"""Multi-scalar multiplication, on every engine, against sums that py_ecc and integers give."""

from collections.abc import Callable
from random import Random

import numpy as np
import pytest

from kernels.curves import BN254, CURVES, Curve, Group
from kernels.msm import Bases, msm
from tests.unit.kernels.reference import Reference, Words, multiples, unaligned, words

GROUPS = [(curve, group) for curve in CURVES for group in Group]
POINTS = 64

pytestmark = pytest.mark.usefixtures("engine_name")


@pytest.fixture(params=GROUPS, ids=lambda pair: f"{pair[0].name}-{pair[1].name}")
def reference(request: pytest.FixtureRequest) -> Reference:
    return Reference(*request.param)


def tiled(reference: Reference, count: int) -> tuple[Words, list[int]]:
    """`count` points and their logarithms: few different ones, with infinity and opposites."""
    points, encoded = multiples(reference.curve, reference.group, POINTS)
    rows = np.concatenate(
        [encoded, np.zeros_like(encoded[:1]), reference.encode([reference.negate(points[4])])]
    )
    logarithms = [*range(1, POINTS + 1), 0, -5]
    times = count // len(rows) + 1
    return np.tile(rows, (times, 1))[:count].copy(), (logarithms * times)[:count]


def check(reference: Reference, count: int, draw: Callable[[Random, Curve], int], threads: int = 1) -> None:
    random = Random(count)
    points, logarithms = tiled(reference, count)
    scalars = [draw(random, reference.curve) for _ in range(count)]
    total = sum(k * s for k, s in zip(logarithms, scalars, strict=True)) % reference.curve.r
    found = msm(reference.curve, reference.group, points, words(scalars), threads)
    assert reference.decode(found) == [reference.multiply(reference.generator, total)]


def full(random: Random, curve: Curve) -> int:
    return random.randrange(curve.r)


def bits(random: Random, _: Curve) -> int:
    return random.randrange(2)


def small(random: Random, _: Curve) -> int:
    return random.randrange(1 << 16)


def minus_one(_: Random, curve: Curve) -> int:
    return curve.r - 1


def zero(_: Random, __: Curve) -> int:
    return 0


def one(_: Random, __: Curve) -> int:
    return 1


def same(_: Random, curve: Curve) -> int:
    return curve.r // 3


def powers(random: Random, curve: Curve) -> int:
    return 1 << random.randrange(curve.r.bit_length() - 1)


def just_below_powers(random: Random, curve: Curve) -> int:
    return (1 << random.randrange(1, curve.r.bit_length())) - 1


def realistic(random: Random, curve: Curve) -> int:
    return random.choice((0, 0, 1, 1, curve.r - 1, random.randrange(1 << 32), random.randrange(curve.r)))


SCALARS = [full, bits, small, minus_one, zero, one, same, powers, just_below_powers, realistic]


@pytest.mark.parametrize("count", [1, 2, 3, 7, 33, 130])
def test_random_scalars(reference: Reference, count: int) -> None:
    check(reference, count, full)


@pytest.mark.parametrize("draw", SCALARS, ids=lambda draw: draw.__name__)
def test_every_kind_of_scalars(reference: Reference, draw: Callable[[Random, Curve], int]) -> None:
    check(reference, 200, draw, threads=2)


@pytest.mark.parametrize("draw", [full, realistic, same, minus_one], ids=lambda draw: draw.__name__)
def test_many_points_that_repeat(draw: Callable[[Random, Curve], int]) -> None:
    """Thousands of points, few of them different: equal and opposite points meet in the buckets."""
    check(Reference(BN254, Group.G1), 5000, draw, threads=2)


@pytest.mark.parametrize("group", list(Group))
def test_many_points_of_either_group(curve: Curve, group: Group) -> None:
    check(Reference(curve, group), 2100, full, threads=2)


def test_all_points_equal(reference: Reference) -> None:
    random, curve = Random(1), reference.curve
    points = np.repeat(multiples(curve, reference.group, 1)[1], 300, axis=0)
    for scalars in ([curve.r - 1] * 300, [random.randrange(curve.r) for _ in range(300)]):
        found = msm(curve, reference.group, points, words(scalars))
        assert reference.decode(found) == [reference.multiply(reference.generator, sum(scalars) % curve.r)]


def test_points_that_cancel(reference: Reference) -> None:
    curve, group = reference.curve, reference.group
    points, encoded = multiples(curve, group, 50)
    both = np.concatenate([encoded, reference.encode([reference.negate(point) for point in points])])
    scalars = [Random(2).randrange(curve.r) for _ in range(50)] * 2
    assert not msm(curve, group, both, words(scalars)).any()


def test_all_points_at_infinity(reference: Reference) -> None:
    nothing = np.zeros((40, reference.curve.point_words(reference.group)), dtype=np.uint64)
    scalars = words([full(Random(i), reference.curve) for i in range(40)])
    assert not msm(reference.curve, reference.group, nothing, scalars).any()


def test_no_points(reference: Reference) -> None:
    width = reference.curve.point_words(reference.group)
    found = msm(reference.curve, reference.group, np.empty((0, width), dtype=np.uint64), words([]))
    assert found.shape == (width,)
    assert not found.any()


def test_fewer_scalars_than_points(reference: Reference) -> None:
    curve, group = reference.curve, reference.group
    points, _ = tiled(reference, 60)
    scalars = words([full(Random(i), curve) for i in range(60)])
    with Bases(curve, group, points) as bases:
        assert len(bases) == 60
        for count in (0, 1, 2, 31, 60):
            expected = msm(curve, group, points[:count], scalars[:count])
            assert np.array_equal(bases.msm(scalars[:count]), expected)


def test_threads_do_not_change_the_result(reference: Reference) -> None:
    points, _ = tiled(reference, 1000)
    random = Random(4)
    scalars = words([realistic(random, reference.curve) for _ in range(1000)])
    with Bases(reference.curve, reference.group, points, threads=2) as bases:
        first = bases.msm(scalars, threads=1)
        for threads in (2, 3, 0):
            assert np.array_equal(bases.msm(scalars, threads=threads), first)


def test_unaligned_points_and_bytes(reference: Reference) -> None:
    curve, group = reference.curve, reference.group
    points, _ = tiled(reference, 70)
    scalars = words([full(Random(i), curve) for i in range(70)])
    expected = msm(curve, group, points, scalars)
    assert np.array_equal(msm(curve, group, unaligned(points), unaligned(scalars)), expected)
    raw = np.frombuffer(points.tobytes(), dtype=np.uint8)
    assert np.array_equal(msm(curve, group, raw, scalars), expected)


def test_the_copy_is_the_engines_own() -> None:
    points, _ = tiled(Reference(BN254, Group.G1), 70)
    scalars = words([full(Random(i), BN254) for i in range(70)])
    expected = msm(BN254, Group.G1, points, scalars)
    with Bases(BN254, Group.G1, points) as bases:
        assert bases.nbytes >= points.nbytes
        points[:] = 0
        assert np.array_equal(bases.msm(scalars), expected)


def test_closed_bases_say_so() -> None:
    bases = Bases(BN254, Group.G1, tiled(Reference(BN254, Group.G1), 3)[0])
    bases.close()
    bases.close()
    with pytest.raises(ValueError, match="closed"):
        bases.msm(words([1]))
    with pytest.raises(ValueError, match="closed"):
        _ = bases.nbytes


def test_malformed_arguments_are_refused() -> None:
    points, _ = tiled(Reference(BN254, Group.G1), 3)
    with Bases(BN254, Group.G1, points) as bases:
        with pytest.raises(ValueError, match="4 scalars for 3 points"):
            bases.msm(words([1, 2, 3, 4]))
        with pytest.raises(ValueError, match="shape"):
            bases.msm(np.zeros((2, 3), dtype=np.uint64))
        with pytest.raises(ValueError, match="threads"):
            bases.msm(words([1]), threads=-2)
    with pytest.raises(ValueError, match="shape"):
        Bases(BN254, Group.G2, points)
