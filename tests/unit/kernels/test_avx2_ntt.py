"""Transforms and the quotient on the AVX2 engine, for every size from one element on."""

from random import Random

import numpy as np
import pytest

from kernels import engine
from kernels.curves import Curve
from kernels.ntt import ntt, quotient

from .avx2 import needs_avx2
from .reference import integers, montgomery, plain, transform

pytestmark = needs_avx2


@pytest.fixture(autouse=True)
def _engine() -> None:
    before = engine.engine_name()
    engine.use("avx2")
    yield
    engine.use(before)


@pytest.fixture(params=[1, 2, 3])
def threads(request: pytest.FixtureRequest) -> int:
    return request.param


def draw(curve: Curve, log_n: int, seed: int = 0) -> list[int]:
    """Values that lean to the ends of the field."""
    random = Random(f"{log_n} {seed}")
    ends = [0, 1, curve.r - 1]
    return [random.choice([*ends, *[random.randrange(curve.r)] * 5]) for _ in range(1 << log_n)]


@pytest.mark.parametrize("log_n", range(11))
def test_forward_and_inverse(curve: Curve, log_n: int, threads: int) -> None:
    values = draw(curve, log_n)
    data = montgomery(values, curve.r)
    ntt(curve, data, threads=threads)
    assert plain(data, curve.r) == transform(values, curve.root_of_unity(log_n), curve.r)
    assert all(word < curve.r for word in integers(data))
    ntt(curve, data, inverse=True, threads=threads)
    assert np.array_equal(data, montgomery(values, curve.r))


@pytest.mark.parametrize("extreme", [0, -1])
def test_all_elements_extreme(curve: Curve, extreme: int) -> None:
    values = [extreme % curve.r] * 512
    data = montgomery(values, curve.r)
    ntt(curve, data)
    assert plain(data, curve.r) == [512 * extreme % curve.r] + [0] * 511


@pytest.mark.parametrize("log_n", range(10))
def test_quotient(curve: Curve, log_n: int, threads: int) -> None:
    a, b = draw(curve, log_n, 1), draw(curve, log_n, 2)
    c = [x * y % curve.r for x, y in zip(a, b, strict=True)]
    got = quotient(curve, montgomery(a, curve.r), montgomery(b, curve.r), log_n, threads)
    moved_a, moved_b, moved_c = (move_to_coset(curve, values, log_n) for values in (a, b, c))
    want = [(x * y - z) % curve.r for x, y, z in zip(moved_a, moved_b, moved_c, strict=True)]
    assert integers(got) == want


def move_to_coset(curve: Curve, values: list[int], log_n: int) -> list[int]:
    root, shift, r = curve.root_of_unity(log_n), curve.coset_shift(log_n), curve.r
    size_inverse = pow(1 << log_n, -1, r)
    coefficients = [x * size_inverse % r for x in transform(values, pow(root, -1, r), r)]
    return transform([x * pow(shift, i, r) % r for i, x in enumerate(coefficients)], root, r)


@pytest.mark.parametrize("log_n", [12, 14, 15])
def test_larger_sizes_agree_with_the_portable_engine(curve: Curve, log_n: int, threads: int) -> None:
    random = np.random.default_rng(log_n)
    a, b = (random.integers(0, 2**64, (1 << log_n, 4), dtype=np.uint64) for _ in range(2))
    a[:, 3] %= np.uint64(curve.r >> 192)
    b[:, 3] %= np.uint64(curve.r >> 192)
    outcomes = []
    for name in ("avx2", "portable"):
        engine.use(name)
        data = a.copy()
        ntt(curve, data, threads=threads)
        inverse = a.copy()
        ntt(curve, inverse, inverse=True, threads=threads)
        outcomes.append((data, inverse, quotient(curve, a.copy(), b.copy(), log_n, threads)))
    for ours, theirs in zip(*outcomes, strict=True):
        assert np.array_equal(ours, theirs)
