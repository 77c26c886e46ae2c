"""Field operations against Python integers."""

from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernels import field
from kernels.curves import BLS12_381, BN254
from kernels.field import Field
from tests.unit.kernels.reference import integers, montgomery, plain, unaligned, words

FIELDS = [make(curve) for curve in (BN254, BLS12_381) for make in (field.scalar_field, field.base_field)]


@pytest.fixture(params=FIELDS, ids=lambda one: f"{one.curve.name}-{one.name}")
def chosen(request: pytest.FixtureRequest) -> Field:
    return request.param


def interesting(one: Field) -> list[int]:
    p, random = one.modulus, Random(3)
    edges = [0, 1, 2, 3, p - 1, p - 2, p // 2, p // 2 + 1, (1 << 64) - 1, 1 << 64, 1 << (p.bit_length() - 1)]
    return [*edges, *(random.randrange(p) for _ in range(40))]


def pairs(one: Field) -> tuple[list[int], list[int]]:
    values = interesting(one)
    grid = [(a, b) for a in values for b in values]
    return [a for a, _ in grid], [b for _, b in grid]


def encode(one: Field, values: list[int]) -> np.ndarray:
    return montgomery(values, one.modulus, one.words)


def test_products_sums_and_differences(chosen: Field) -> None:
    left, right = pairs(chosen)
    a, b, p = encode(chosen, left), encode(chosen, right), chosen.modulus
    both = list(zip(left, right, strict=True))
    assert plain(field.mul(chosen, a, b), p) == [x * y % p for x, y in both]
    assert plain(field.add(chosen, a, b), p) == [(x + y) % p for x, y in both]
    assert plain(field.sub(chosen, a, b), p) == [(x - y) % p for x, y in both]


def test_results_are_canonical(chosen: Field) -> None:
    left, right = pairs(chosen)
    a, b = encode(chosen, left), encode(chosen, right)
    for operation in (field.mul, field.add, field.sub):
        assert max(integers(operation(chosen, a, b))) < chosen.modulus


def test_inverse(chosen: Field) -> None:
    values = interesting(chosen)
    found = plain(field.inverse(chosen, encode(chosen, values)), chosen.modulus)
    assert found == [pow(x, -1, chosen.modulus) if x else 0 for x in values]


def test_inverse_of_many_with_zeros_between(chosen: Field) -> None:
    random = Random(8)
    values = [random.choice((0, 1, random.randrange(chosen.modulus))) for _ in range(1200)]
    found = plain(field.inverse(chosen, encode(chosen, values)), chosen.modulus)
    assert found == [pow(x, -1, chosen.modulus) if x else 0 for x in values]


def test_to_and_from_montgomery(chosen: Field) -> None:
    values = interesting(chosen)
    inside = field.to_montgomery(chosen, words(values, chosen.words))
    assert np.array_equal(inside, encode(chosen, values))
    assert integers(field.from_montgomery(chosen, inside)) == values


def test_to_montgomery_reduces_any_integer(chosen: Field) -> None:
    widest = (1 << (64 * chosen.words)) - 1
    values = [chosen.modulus, chosen.modulus + 1, 2 * chosen.modulus, widest]
    inside = field.to_montgomery(chosen, words(values, chosen.words))
    assert plain(inside, chosen.modulus) == [value % chosen.modulus for value in values]


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(FIELDS), st.data())
def test_the_field_laws_hold(one: Field, data: st.DataObject) -> None:
    number = st.integers(0, one.modulus - 1)
    a, b, c = (encode(one, [data.draw(number)]) for _ in range(3))
    left = field.mul(one, a, field.add(one, b, c))
    right = field.add(one, field.mul(one, a, b), field.mul(one, a, c))
    assert np.array_equal(left, right)


@settings(max_examples=150, deadline=None)
@given(st.sampled_from(FIELDS), st.data())
def test_an_element_times_its_inverse_is_one(one: Field, data: st.DataObject) -> None:
    value = data.draw(st.integers(1, one.modulus - 1))
    a = encode(one, [value])
    assert plain(field.mul(one, a, field.inverse(one, a)), one.modulus) == [1]


def test_a_single_element_is_taken_for_all(chosen: Field) -> None:
    values, p = interesting(chosen), chosen.modulus
    a, three = encode(chosen, values), encode(chosen, [3])
    assert plain(field.mul(chosen, a, three), p) == [3 * x % p for x in values]
    assert plain(field.sub(chosen, three, a), p) == [(3 - x) % p for x in values]


def test_no_elements(chosen: Field) -> None:
    nothing = np.empty((0, chosen.words), dtype=np.uint64)
    assert field.mul(chosen, nothing, nothing).shape == (0, chosen.words)
    assert field.inverse(chosen, nothing).shape == (0, chosen.words)
    assert field.first_not_canonical(chosen, nothing) is None


def test_unaligned_operands(chosen: Field) -> None:
    values = interesting(chosen)
    a = encode(chosen, values)
    assert np.array_equal(field.add(chosen, unaligned(a), unaligned(a)), field.add(chosen, a, a))


def test_the_first_element_that_is_not_canonical(chosen: Field) -> None:
    p = chosen.modulus
    assert field.first_not_canonical(chosen, words([0, p - 1, 5], chosen.words)) is None
    assert field.first_not_canonical(chosen, words([0, p - 1, p, p + 1], chosen.words)) == 2


@pytest.mark.parametrize(
    ("array", "reason"),
    [
        (np.zeros((2, 3), dtype=np.uint64), "shape"),
        (np.zeros(4, dtype=np.uint64), "shape"),
        (np.zeros((2, 4), dtype=np.int64), "uint64"),
        (np.zeros((2, 4), dtype=">u8"), "uint64"),
        (np.zeros((4, 2), dtype=np.uint64).T, "contiguous"),
        (np.zeros((2, 8), dtype=np.uint64)[:, ::2], "contiguous"),
        ([[1, 0, 0, 0]], "list"),
        (None, "NoneType"),
    ],
)
def test_malformed_arrays_are_refused(array: object, reason: str) -> None:
    fr = field.scalar_field(BN254)
    good = np.zeros((2, 4), dtype=np.uint64)
    with pytest.raises(ValueError, match=reason):
        field.mul(fr, array, good)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=reason):
        field.inverse(fr, array)  # type: ignore[arg-type]


def test_operands_of_different_length_are_refused() -> None:
    with pytest.raises(ValueError, match="differ in length: 2 and 3"):
        field.add(field.scalar_field(BN254), words([1, 2]), words([1, 2, 3]))
