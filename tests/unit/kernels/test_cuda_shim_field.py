"""The device's field arithmetic, its own text run on the CPU, against Python integers."""

from itertools import product
from random import Random

import numpy as np
import pytest

from kernels import field, modules
from kernels.curves import Curve
from kernels.field import Field
from tests.support import shim
from tests.unit.kernels.reference import integers, words

MULTIPLY, ADD, SUBTRACT, INVERT, TO_MONTGOMERY, FROM_MONTGOMERY, SQUARE, NEGATE = range(8)


@pytest.fixture(params=["fr", "fq"])
def one_field(request: pytest.FixtureRequest, curve: Curve) -> Field:
    return Field(curve, scalar=request.param == "fr")


def edges(modulus: int, bits: int) -> list[int]:
    """Values whose limbs are empty, full or next to the modulus."""
    near = [0, 1, 2, modulus - 1, modulus - 2, modulus // 2, modulus // 2 + 1]
    patterns = [(1 << k) - 1 for k in range(32, bits, 32)] + [1 << k for k in range(31, bits, 32)]
    holes = [modulus ^ (0xFFFFFFFF << k) for k in range(0, bits - 32, 32)]
    return [value for value in near + patterns + holes if 0 <= value < modulus]


def apply(kernel: str, curve: Curve, operation: int, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    out = np.full_like(a, 0xA5)
    arguments = [operation, a.ctypes.data, b.ctypes.data, len(a), out.ctypes.data]
    unit = shim.unit(modules.arithmetic(curve))
    unit.launch(kernel, (-(-len(a) // 128), 1, 1), 0, arguments)
    return out


def operands(one_field: Field) -> tuple[list[int], list[int]]:
    modulus = one_field.modulus
    values = edges(modulus, 64 * one_field.words)
    random = Random(5)
    pairs = list(product(values, values))
    pairs += [(random.randrange(modulus), random.randrange(modulus)) for _ in range(500)]
    left, right = zip(*pairs, strict=True)
    return list(left), list(right)


def test_every_operation_is_that_of_integers(one_field: Field) -> None:
    p, width = one_field.modulus, one_field.words
    radix = 1 << (64 * width)
    over = pow(radix, -1, p)
    left, right = operands(one_field)
    wanted = {
        MULTIPLY: [a * b * over % p for a, b in zip(left, right, strict=True)],
        ADD: [(a + b) % p for a, b in zip(left, right, strict=True)],
        SUBTRACT: [(a - b) % p for a, b in zip(left, right, strict=True)],
        TO_MONTGOMERY: [a * radix % p for a in left],
        FROM_MONTGOMERY: [a * over % p for a in left],
        SQUARE: [a * a * over % p for a in left],
        NEGATE: [-a % p for a in left],
    }
    kernel = f"apply_{one_field.name.lower()}"
    a, b = words(left, width), words(right, width)
    for operation, values in wanted.items():
        assert integers(apply(kernel, one_field.curve, operation, a, b)) == values, operation


def test_inverses_are_inverses_and_that_of_zero_is_zero(one_field: Field) -> None:
    p, width = one_field.modulus, one_field.words
    radix = 1 << (64 * width)
    values = edges(p, 64 * width)
    a = words(values, width)
    kernel = f"apply_{one_field.name.lower()}"
    wanted = [pow(value, -1, p) * radix * radix % p if value else 0 for value in values]
    assert integers(apply(kernel, one_field.curve, INVERT, a, a)) == wanted


def test_any_integer_of_the_words_becomes_canonical(one_field: Field) -> None:
    p, width = one_field.modulus, one_field.words
    radix = 1 << (64 * width)
    values = [p, p + 1, radix - 1, radix // 2]
    a = words(values, width)
    got = apply(f"apply_{one_field.name.lower()}", one_field.curve, TO_MONTGOMERY, a, a)
    assert integers(got) == [value * radix % p for value in values]


def test_pairs_multiply_as_complex_numbers(curve: Curve) -> None:
    q, width = curve.q, curve.fq_words
    over = pow(1 << (64 * width), -1, q)
    values = edges(q, 64 * width)[:7]
    numbers = list(product(values, repeat=2))
    pairs = list(product(numbers, numbers))[::7]
    a, b = (words([c for pair in pairs for c in pair[i]], width).reshape(len(pairs), -1) for i in (0, 1))

    def got(operation: int) -> list[tuple[int, int]]:
        flat = integers(apply("apply_fq2", curve, operation, a, b).reshape(-1, width))
        return list(zip(flat[0::2], flat[1::2], strict=True))

    assert got(MULTIPLY) == [
        ((x0 * y0 - x1 * y1) * over % q, (x0 * y1 + x1 * y0) * over % q) for (x0, x1), (y0, y1) in pairs
    ]
    assert got(SQUARE) == [((x0 * x0 - x1 * x1) * over % q, 2 * x0 * x1 * over % q) for (x0, x1), _ in pairs]
    assert got(SUBTRACT) == [((x0 - y0) % q, (x1 - y1) % q) for (x0, x1), (y0, y1) in pairs]


def test_inverses_of_pairs_multiply_to_one(curve: Curve) -> None:
    q, width = curve.q, curve.fq_words
    one = (1 << (64 * width)) % q
    values = [1, 0, 0, 1, q - 1, q - 2, 12345, 3 * q // 5]
    a = words(values, width).reshape(-1, 2 * width)
    products = apply("apply_fq2", curve, MULTIPLY, a, apply("apply_fq2", curve, INVERT, a, a))
    assert integers(products.reshape(-1, width)) == [one, 0] * len(a)


def test_the_host_library_agrees(one_field: Field) -> None:
    left, right = operands(one_field)
    a, b = words(left, one_field.words), words(right, one_field.words)
    kernel = f"apply_{one_field.name.lower()}"
    assert np.array_equal(apply(kernel, one_field.curve, MULTIPLY, a, b), field.mul(one_field, a, b))


def test_repeated_products_are_powers(one_field: Field) -> None:
    p, width = one_field.modulus, one_field.words
    random = Random(6)
    xs, ys = ([random.randrange(p) for _ in range(128)] for _ in range(2))
    x, y = words(xs, width), words(ys, width)
    unit = shim.unit(modules.arithmetic(one_field.curve))
    arguments = [x.ctypes.data, y.ctypes.data, 9]
    unit.launch(f"repeat_{one_field.name.lower()}", (1, 1, 1), 0, arguments)
    over = pow(1 << (64 * width), -1, p)
    assert integers(x) == [a * pow(b * over, 9, p) % p for a, b in zip(xs, ys, strict=True)]
