"""The device's field arithmetic as NVRTC compiles it, executed, against Python integers."""

from itertools import product
from random import Random

import pytest

from kernels import modules
from kernels.curves import Curve
from kernels.field import Field
from kernels.launches import launch
from tests.support.simulated import Simulated
from tests.unit.kernels.reference import Words, integers, words

MULTIPLY, ADD, SUBTRACT, INVERT, TO_MONTGOMERY, FROM_MONTGOMERY, SQUARE, NEGATE = range(8)


@pytest.fixture(params=["fr", "fq"])
def one_field(request: pytest.FixtureRequest, curve: Curve) -> Field:
    return Field(curve, scalar=request.param == "fr")


def edges(modulus: int) -> list[int]:
    """Values whose limbs are empty, full or next to the modulus."""
    bits = modulus.bit_length()
    near = [0, 1, 2, modulus - 1, modulus - 2, modulus // 2, modulus // 2 + 1]
    ragged = [(1 << k) - 1 for k in range(32, bits, 32)] + [
        modulus ^ (0xFFFFFFFF << k) for k in range(0, bits, 32)
    ]
    return [value for value in near + ragged if 0 <= value < modulus]


def apply(curve: Curve, kernel: str, operation: int, a: Words, b: Words) -> Words:
    device = Simulated()
    out = device.reserve(a.nbytes)
    blocks = -(-len(a) // 128)
    arguments = (operation, device.upload(a), device.upload(b), len(a), out)
    report = device.run([launch(modules.arithmetic(curve), kernel, blocks, *arguments)])
    assert report.race_count == 0
    return device.download(out, a)


def test_every_operation_is_that_of_integers(one_field: Field) -> None:
    p, width, random = one_field.modulus, one_field.words, Random(7)
    radix = 1 << (64 * width)
    over = pow(radix, -1, p)
    pairs = list(product(edges(p), repeat=2))
    pairs += [(random.randrange(p), random.randrange(p)) for _ in range(100)]
    a, b = (words([pair[i] for pair in pairs], width) for i in (0, 1))
    wanted = {
        MULTIPLY: [x * y * over % p for x, y in pairs],
        ADD: [(x + y) % p for x, y in pairs],
        SUBTRACT: [(x - y) % p for x, y in pairs],
        TO_MONTGOMERY: [x * radix % p for x, _ in pairs],
        FROM_MONTGOMERY: [x * over % p for x, _ in pairs],
        SQUARE: [x * x * over % p for x, _ in pairs],
        NEGATE: [-x % p for x, _ in pairs],
    }
    for operation, values in wanted.items():
        got = apply(one_field.curve, f"apply_{one_field.name.lower()}", operation, a, b)
        assert integers(got) == values, operation


def test_inverses_are_inverses_and_that_of_zero_is_zero(curve: Curve) -> None:
    p, width = curve.q, curve.fq_words
    radix = 1 << (64 * width)
    values = edges(p)
    a = words(values, width)
    got = apply(curve, "apply_fq", INVERT, a, a)
    assert integers(got) == [pow(value, -1, p) * radix * radix % p if value else 0 for value in values]


def test_pairs_multiply_as_complex_numbers(curve: Curve) -> None:
    q, width = curve.q, curve.fq_words
    over = pow(1 << (64 * width), -1, q)
    numbers = list(product(edges(q)[:6], repeat=2))
    pairs = list(product(numbers, numbers))[::9]
    a, b = (words([c for pair in pairs for c in pair[i]], width).reshape(len(pairs), -1) for i in (0, 1))

    def got(operation: int) -> list[tuple[int, int]]:
        flat = integers(apply(curve, "apply_fq2", operation, a, b).reshape(-1, width))
        return list(zip(flat[0::2], flat[1::2], strict=True))

    assert got(MULTIPLY) == [
        ((x0 * y0 - x1 * y1) * over % q, (x0 * y1 + x1 * y0) * over % q) for (x0, x1), (y0, y1) in pairs
    ]
    assert got(SQUARE) == [((x0 * x0 - x1 * x1) * over % q, 2 * x0 * x1 * over % q) for (x0, x1), _ in pairs]


def test_repeated_products_are_powers(one_field: Field) -> None:
    p, width, random = one_field.modulus, one_field.words, Random(8)
    xs, ys = ([random.randrange(p) for _ in range(128)] for _ in range(2))
    device = Simulated()
    x, y = words(xs, width), words(ys, width)
    at = device.upload(x)
    kernel = f"repeat_{one_field.name.lower()}"
    device.run([launch(modules.arithmetic(one_field.curve), kernel, 1, at, device.upload(y), 3)])
    over = pow(1 << (64 * width), -1, p)
    assert integers(device.download(at, x)) == [
        a * pow(b * over, 3, p) % p for a, b in zip(xs, ys, strict=True)
    ]
