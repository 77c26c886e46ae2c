"""The generator of the vector kernels: it writes what is committed, and refuses what could overflow."""

from pathlib import Path

import pytest

from kernels.csrc.generate import generate_avx2, vector_formulas, vector_kernels
from kernels.csrc.generate.intervals import SIGNED_32, BoundError, Interval, exactly, join, up_to
from kernels.csrc.generate.vector_bounds import VectorArithmetic
from kernels.csrc.generate.vector_fields import FIELDS, SHAPES, VectorField

FOLDER = Path(generate_avx2.OUTPUT)


def test_generated_headers_are_what_is_committed() -> None:
    for name, text in generate_avx2.texts().items():
        assert (FOLDER / name).read_text(encoding="ascii") == text, name


@pytest.mark.parametrize(("limbs", "bits"), SHAPES)
@pytest.mark.parametrize("kernel", vector_kernels.DOCUMENTED)
def test_kernels_stand_their_documented_bounds(kernel: str, limbs: int, bits: int) -> None:
    _, units = vector_kernels.DOCUMENTED[kernel]
    vector_kernels.check_kernel(kernel, limbs, bits, [unit << bits for unit in units])


@pytest.mark.parametrize(
    ("kernel", "limbs", "bits", "magnitudes"),
    [
        ("multiply", 14, 28, (1 << 30, 1 << 29)),
        ("multiply", 9, 29, (1 << 30, 1 << 30)),
        ("multiply_sum", 9, 29, (1 << 30, 1 << 29, 1 << 29, 1 << 29)),
        ("square", 9, 29, ((1 << 30) - 1,)),
    ],
)
def test_too_large_a_bound_is_refused(
    kernel: str, limbs: int, bits: int, magnitudes: tuple[int, ...]
) -> None:
    with pytest.raises(BoundError, match="column"):
        vector_kernels.check_kernel(kernel, limbs, bits, magnitudes)


def test_an_operand_beyond_32_bits_is_refused() -> None:
    with pytest.raises(BoundError, match="limb 0 of a"):
        vector_kernels.check_kernel("multiply", 14, 28, (1 << 32, 1))


@pytest.mark.parametrize(
    "field", [field for field in FIELDS if field.name.endswith("fr")], ids=lambda f: f.name
)
def test_more_than_three_stages_without_a_carry_are_refused(field: VectorField) -> None:
    arithmetic = VectorArithmetic(field)
    after_three = vector_formulas.radix_8_forward(arithmetic, arithmetic.from_memory())
    with pytest.raises(BoundError, match="reaches"):
        vector_formulas.radix_8_forward(arithmetic, after_three)


def test_a_value_too_large_to_be_reduced_is_refused() -> None:
    arithmetic = VectorArithmetic(FIELDS[0])
    x = arithmetic.from_memory()
    for _ in range(5):
        x = x + x
    with pytest.raises(BoundError, match="reduc"):
        arithmetic.reduced(-x)


def test_only_the_nine_limb_shape_must_carry_signed_differences() -> None:
    needs = {field.name: vector_formulas.signed_differences_need_carry(field) for field in FIELDS}
    assert needs["bn254_fq"]
    assert not needs["bls12_381_fq"]


def test_intervals_contain_every_result() -> None:
    parts = [Interval(-3, 2), Interval(1, 4), exactly(-2), up_to(5)]
    for x in parts:
        for y in parts:
            for a in range(x.low, x.high + 1):
                for b in range(y.low, y.high + 1):
                    assert exactly(a + b) in x + y
                    assert exactly(a - b) in x - y
                    assert exactly(a * b) in x * y
                    assert exactly(a) in join([x, y])
                assert exactly(a * a) in x.squared()
                assert exactly(a >> 1) in x >> 1
                assert exactly(-a) in x.symmetric()


def test_an_interval_knows_its_room() -> None:
    assert up_to(7).require(SIGNED_32, "seven") == up_to(7)
    with pytest.raises(BoundError, match="seven"):
        exactly(1 << 31).require(SIGNED_32, "seven")
    with pytest.raises(ValueError, match="empty"):
        Interval(1, 0)
