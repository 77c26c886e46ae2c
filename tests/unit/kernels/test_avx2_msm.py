"""Sums of multiples on the AVX2 engine: awkward points, awkward scalars, every window, threads."""

from concurrent.futures import ThreadPoolExecutor
from random import Random

import numpy as np
import pytest

from kernels import engine, points
from kernels.curves import BLS12_381, BN254, Curve, Group
from kernels.msm import Bases

from . import avx2
from .reference import Reference, Words, multiples, words

pytestmark = avx2.needs_avx2

COUNT = 400
THREADS = (1, 2)


@pytest.fixture(autouse=True)
def _engine() -> None:
    before = engine.engine_name()
    engine.use("avx2")
    yield
    engine.use(before)


@pytest.fixture(params=THREADS)
def threads(request: pytest.FixtureRequest) -> int:
    return request.param


def expected(curve: Curve, group: Group, factors: list[int], scalars: list[int]) -> Words:
    """The sum of scalars[i] factors[i] G."""
    reference = Reference(curve, group)
    total = sum(f * s for f, s in zip(factors, scalars, strict=True)) % curve.r
    return reference.encode([reference.multiply(reference.generator, total) if total else None])[0]


def choose_points(curve: Curve, group: Group, seed: str, distinct: int) -> tuple[list[int], Words]:
    """COUNT points from few distinct ones, their opposites and infinity, and their logarithms."""
    random = Random(seed)
    _, encoded = multiples(curve, group, 40)
    negated = points.negate(curve, group, encoded)
    factors, rows = [], []
    for _ in range(COUNT):
        i = random.randrange(distinct)
        kind = random.choice(["point", "point", "opposite", "infinity"])
        factors.append({"point": i + 1, "opposite": -(i + 1), "infinity": 0}[kind])
        rows.append({"point": encoded[i], "opposite": negated[i], "infinity": 0 * encoded[i]}[kind])
    return factors, np.array(rows)


SCALARS = {
    "random": lambda random, r: random.randrange(r),
    "bits": lambda random, r: random.randrange(2),
    "largest": lambda random, r: r - 1,
    "equal": lambda random, r: 0x0101010101010101010101010101010101010101010101010101010101010101,
    "mostly zero": lambda random, r: random.randrange(r) if random.random() < 0.02 else 0,
    "one word": lambda random, r: random.choice([2**64 - 1, random.randrange(2**64), 2, 1, 0]),
    "mixed": lambda random, r: random.choice([0, 1, random.randrange(2**32), random.randrange(r)]),
    "powers of two": lambda random, r: 1 << random.randrange(250),
    "full digits": lambda random, r: 2**250 - 1 - random.randrange(2),
}


@pytest.mark.parametrize("kind", SCALARS)
@pytest.mark.parametrize("distinct", [1, 40])
def test_awkward_sums(curve: Curve, group: Group, kind: str, distinct: int) -> None:
    seed = f"{kind} {distinct}"
    factors, bases = choose_points(curve, group, seed, distinct)
    random = Random(seed)
    scalars = [SCALARS[kind](random, curve.r) for _ in range(COUNT)]
    want = expected(curve, group, factors, scalars)
    with Bases(curve, group, bases) as loaded:
        for threads in THREADS:
            assert np.array_equal(loaded.msm(words(scalars), threads), want)


@pytest.mark.parametrize("window", [2, 3, 4, 5, 8, 13, 15, 16])
def test_every_window(curve: Curve, window: int) -> None:
    factors, bases = choose_points(curve, Group.G1, "windows", 40)
    random = Random(window)
    scalars = [random.choice([random.randrange(curve.r), curve.r - 1, 5]) for _ in range(COUNT)]
    want = expected(curve, Group.G1, factors, scalars)
    for threads in THREADS:
        got = avx2.multiply(curve, Group.G1, bases, words(scalars), window=window, threads=threads)
        assert np.array_equal(got, want)


@pytest.mark.parametrize("window", [2, 4, 8, 16])
def test_scalars_of_256_bits_carry_into_the_last_window(window: int) -> None:
    _, bases = multiples(BN254, Group.G1, 20)
    scalars = [2**256 - 1 - i for i in range(20)]
    got = avx2.multiply(BN254, Group.G1, bases, words(scalars), window=window, threads=1)
    assert np.array_equal(got, expected(BN254, Group.G1, list(range(1, 21)), scalars))


@pytest.mark.parametrize("count", [0, 1, 2, 23, 24, 63, 64, 65])
def test_few_points(curve: Curve, group: Group, count: int) -> None:
    _, bases = multiples(curve, group, 65)
    random = Random(count)
    scalars = [random.randrange(curve.r) for _ in range(count)]
    want = expected(curve, group, list(range(1, count + 1)), scalars)
    with Bases(curve, group, bases) as loaded:
        for threads in THREADS:
            assert np.array_equal(loaded.msm(words(scalars), threads), want)


def test_no_points(curve: Curve, group: Group) -> None:
    with Bases(curve, group, np.zeros((0, curve.point_words(group)), dtype=np.uint64)) as loaded:
        assert not loaded.msm(np.zeros((0, 4), dtype=np.uint64)).any()


@pytest.mark.parametrize("scalar", [0, 1, 2])
def test_everything_cancels(curve: Curve, group: Group, scalar: int, threads: int) -> None:
    _, encoded = multiples(curve, group, 40)
    bases = np.concatenate([encoded, points.negate(curve, group, encoded)])
    with Bases(curve, group, bases) as loaded:
        assert not loaded.msm(words([scalar] * 80), threads).any()


def test_points_at_infinity_only(curve: Curve, group: Group) -> None:
    with Bases(curve, group, np.zeros((80, curve.point_words(group)), dtype=np.uint64)) as loaded:
        assert not loaded.msm(words(range(80))).any()


def test_points_with_abscissa_zero() -> None:
    """(0, 2) is on BLS12-381, outside of the subgroup, and the one point that could be taken for infinity."""
    reference = Reference(BLS12_381, Group.G1)
    zero_x, opposite = (0, 2), (0, BLS12_381.q - 2)
    _, others = multiples(BLS12_381, Group.G1, 4)
    bases = np.concatenate([reference.encode([zero_x, opposite, zero_x, zero_x] * 5), others])
    scalars = [7, 11, 2, 5, *[3] * 16, 6, 7, 8, 9]
    signs = [1, -1, 1, 1] * 5
    total = reference.multiply(zero_x, sum(s * f for s, f in zip(scalars, signs, strict=False)) % 3)
    for factor, scalar in enumerate(scalars[20:], 1):
        total = reference.add(total, reference.multiply(reference.generator, factor * scalar))
    for window in (2, 4):
        got = avx2.multiply(BLS12_381, Group.G1, bases, words(scalars), window=window, threads=1)
        assert np.array_equal(got, reference.encode([total])[0])


def test_points_outside_of_the_subgroup(curve: Curve, group: Group) -> None:
    """Scalars are integers: they are not taken modulo r."""
    reference = Reference(curve, group)
    point = reference.any_point()
    scalars = [curve.r, curve.r - 1, 1, 0, 12345, 2, 3, 4, 5, 6] * 8
    bases = reference.encode([point] * len(scalars))
    with Bases(curve, group, bases) as loaded:
        got = loaded.msm(words(scalars))
    library = reference.library
    want = reference.lower(library.multiply(reference.lift(point), sum(scalars)))
    assert np.array_equal(got, reference.encode([want])[0])


def test_more_than_a_chunk_agrees_with_the_portable_engine(curve: Curve, group: Group, threads: int) -> None:
    """Enough points for several chunks of buckets, several lists of ones and full batches."""
    random = np.random.default_rng(3)
    count = 9000 if group is Group.G1 else 3000
    _, base = multiples(curve, group, 1)
    bases = points.fixed_base_multiply(curve, group, base, random_words(random, count))
    scalars = random_words(random, count)
    scalars[::3] = words([1])
    scalars[1::3, 1:] = 0
    with Bases(curve, group, bases, threads) as loaded:
        got = loaded.msm(scalars, threads)
    engine.use("portable")
    with Bases(curve, group, bases) as loaded:
        assert np.array_equal(got, loaded.msm(scalars))


def random_words(random: np.random.Generator, count: int) -> Words:
    drawn = random.integers(0, 2**64, (count, 4), dtype=np.uint64)
    drawn[:, 3] >>= np.uint64(3)
    return drawn


def test_threads_may_share_bases(curve: Curve, group: Group) -> None:
    """Sums that run at the same time do not share scratch memory."""
    _, bases = multiples(curve, group, 65)
    random = Random("shared")
    tasks = [[random.randrange(curve.r) for _ in range(65)] for _ in range(3)]
    wants = [expected(curve, group, list(range(1, 66)), scalars) for scalars in tasks]
    with Bases(curve, group, bases) as loaded, ThreadPoolExecutor(len(tasks)) as pool:
        for _ in range(4):
            sums = pool.map(lambda scalars: loaded.msm(words(scalars), 2), tasks)
            assert all(np.array_equal(got, want) for got, want in zip(sums, wants, strict=True))


def test_bases_say_their_size(curve: Curve, group: Group) -> None:
    _, bases = multiples(curve, group, 16)
    with Bases(curve, group, bases) as loaded:
        assert bases.nbytes <= loaded.nbytes <= bases.nbytes + 64
