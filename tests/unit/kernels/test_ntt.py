"""Transforms and the quotient, on every engine, against Python integers."""

from random import Random

import numpy as np
import pytest

from kernels.curves import BN254, Curve
from kernels.ntt import ntt, quotient
from tests.unit.kernels.reference import (
    evaluate_polynomial,
    integers,
    montgomery,
    plain,
    transform,
    unaligned,
    words,
)

pytestmark = pytest.mark.usefixtures("engine_name")


def random_values(curve: Curve, count: int, seed: int = 0) -> list[int]:
    random = Random(count + seed)
    edges = [curve.r - 1, 0, 1]
    return [edges[i] if i < 3 and count > 8 else random.randrange(curve.r) for i in range(count)]


@pytest.mark.parametrize("log_n", range(12))
def test_forward(curve: Curve, log_n: int) -> None:
    values = random_values(curve, 1 << log_n)
    data = montgomery(values, curve.r)
    ntt(curve, data)
    assert plain(data, curve.r) == transform(values, curve.root_of_unity(log_n), curve.r)


@pytest.mark.parametrize("log_n", range(12))
def test_inverse(curve: Curve, log_n: int) -> None:
    values = random_values(curve, 1 << log_n)
    data = montgomery(values, curve.r)
    ntt(curve, data, inverse=True)
    back = transform(values, pow(curve.root_of_unity(log_n), -1, curve.r), curve.r)
    size_inverse = pow(1 << log_n, -1, curve.r)
    assert plain(data, curve.r) == [value * size_inverse % curve.r for value in back]


@pytest.mark.parametrize("log_n", [0, 1, 2, 5, 9, 10])
def test_coset(curve: Curve, log_n: int) -> None:
    shift = 7 + curve.r * 3
    values = random_values(curve, 1 << log_n)
    data = montgomery(values, curve.r)
    ntt(curve, data, coset_shift=shift)
    shifted = [value * pow(7, i, curve.r) % curve.r for i, value in enumerate(values)]
    assert plain(data, curve.r) == transform(shifted, curve.root_of_unity(log_n), curve.r)
    ntt(curve, data, inverse=True, coset_shift=shift)
    assert plain(data, curve.r) == values


@pytest.mark.parametrize("log_n", [12, 13, 15])
def test_large_transforms_by_direct_evaluation(curve: Curve, log_n: int) -> None:
    size = 1 << log_n
    values = random_values(curve, size)
    data = montgomery(values, curve.r)
    ntt(curve, data, threads=2)
    root = curve.root_of_unity(log_n)
    for index in (0, 1, 2, size // 2, size - 1, size // 3):
        found = plain(data[index : index + 1], curve.r)[0]
        assert found == evaluate_polynomial(values, pow(root, index, curve.r), curve.r)
    ntt(curve, data, inverse=True, threads=1)
    assert np.array_equal(data, montgomery(values, curve.r))


def test_special_inputs(curve: Curve) -> None:
    for log_n in (3, 8, 11):
        size = 1 << log_n
        constant = montgomery([5] + [0] * (size - 1), curve.r)
        ntt(curve, constant)
        assert plain(constant, curve.r) == [5] * size
        largest = montgomery([curve.r - 1] * size, curve.r)
        ntt(curve, largest)
        assert plain(largest, curve.r) == [(curve.r - size) % curve.r] + [0] * (size - 1)
        nothing = np.zeros((size, 4), dtype=np.uint64)
        ntt(curve, nothing, inverse=True, coset_shift=3)
        assert not nothing.any()


def test_results_are_canonical(curve: Curve) -> None:
    data = montgomery([curve.r - 1, 1] * 512, curve.r)
    for inverse in (False, True):
        ntt(curve, data, inverse=inverse)
        assert max(integers(data)) < curve.r


@pytest.mark.parametrize("log_n", [6, 9, 13])
def test_threads_do_not_change_the_result(curve: Curve, log_n: int) -> None:
    start = montgomery(random_values(curve, 1 << log_n), curve.r)
    results = []
    for threads in (1, 2, 3):
        data = start.copy()
        ntt(curve, data, threads=threads)
        ntt(curve, data, inverse=True, coset_shift=11, threads=threads)
        results.append(data)
    assert all(np.array_equal(results[0], other) for other in results[1:])


def test_every_root_of_unity_up_to_the_two_adicity_is_usable(curve: Curve) -> None:
    """A table of powers serves every size: a small transform after a large one uses its own root."""
    for log_n in (10, 3, 12, 1):
        data = montgomery([0, 1] + [0] * ((1 << log_n) - 2), curve.r)
        ntt(curve, data)
        root = curve.root_of_unity(log_n)
        assert plain(data, curve.r) == [pow(root, i, curve.r) for i in range(1 << log_n)]


def model_quotient(curve: Curve, a: list[int], b: list[int], log_n: int) -> list[int]:
    root, shift, r = curve.root_of_unity(log_n), curve.coset_shift(log_n), curve.r
    size_inverse = pow(1 << log_n, -1, r)

    def on_coset(evaluations: list[int]) -> list[int]:
        coefficients = transform(evaluations, pow(root, -1, r), r)
        return transform(
            [c * size_inverse * pow(shift, i, r) % r for i, c in enumerate(coefficients)], root, r
        )

    c = [x * y % r for x, y in zip(a, b, strict=True)]
    both = zip(on_coset(a), on_coset(b), on_coset(c), strict=True)
    return [(x * y - z) % r for x, y, z in both]


@pytest.mark.parametrize("log_n", range(12))
def test_quotient(curve: Curve, log_n: int) -> None:
    a, b = (random_values(curve, 1 << log_n, seed) for seed in (1, 2))
    found = quotient(curve, montgomery(a, curve.r), montgomery(b, curve.r), log_n, threads=1 + log_n % 2)
    assert integers(found) == model_quotient(curve, a, b, log_n)


def test_quotient_with_threads(curve: Curve) -> None:
    log_n = 13
    a, b = (montgomery(random_values(curve, 1 << log_n, seed), curve.r) for seed in (1, 2))
    first = quotient(curve, a.copy(), b.copy(), log_n, threads=1)
    assert np.array_equal(quotient(curve, a.copy(), b.copy(), log_n, threads=2), first)
    assert max(integers(first)) < curve.r


def test_quotient_of_zero(curve: Curve) -> None:
    a, b = (np.zeros((16, 4), dtype=np.uint64) for _ in range(2))
    assert not quotient(curve, a, b, 4).any()


@pytest.mark.parametrize("size", [0, 3, 5, 6, 7, 9, 100])
def test_sizes_that_are_no_powers_of_two_are_refused(size: int) -> None:
    with pytest.raises(ValueError, match=r"2\^k"):
        ntt(BN254, np.zeros((size, 4), dtype=np.uint64))


def test_what_is_changed_in_place_must_be_writable_and_aligned() -> None:
    data = words([1, 2, 3, 4])
    with pytest.raises(ValueError, match="aligned and writable"):
        ntt(BN254, unaligned(data))
    frozen = data.copy()
    frozen.flags.writeable = False
    with pytest.raises(ValueError, match="aligned and writable"):
        ntt(BN254, frozen)
    with pytest.raises(ValueError, match="contiguous"):
        ntt(BN254, np.zeros((8, 4), dtype=np.uint64)[::2])
    with pytest.raises(ValueError, match="shape"):
        ntt(BN254, np.zeros((4, 5), dtype=np.uint64))
    with pytest.raises(ValueError, match="uint64"):
        ntt(BN254, np.zeros((4, 4), dtype=np.int32))  # type: ignore[arg-type]


def test_a_zero_shift_is_refused(curve: Curve) -> None:
    for shift in (0, curve.r):
        with pytest.raises(ValueError, match="not zero"):
            ntt(curve, words([1, 2]), coset_shift=shift)


def test_malformed_quotients_are_refused() -> None:
    four = words([1, 2, 3, 4])
    with pytest.raises(ValueError, match="8 elements, not 4 and 4"):
        quotient(BN254, four, four.copy(), 3)
    with pytest.raises(ValueError, match="share memory"):
        quotient(BN254, four, four, 2)
    with pytest.raises(ValueError, match="log_n"):
        quotient(BN254, four, four.copy(), 29)
