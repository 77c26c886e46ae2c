"""Write the generated headers of the AVX2 engine, after checking every bound of its arithmetic.

    python kernels/csrc/generate/generate_avx2.py

writes kernels/csrc/avx2/vector_constants.hpp and kernels/csrc/avx2/product_kernels.hpp. Raises BoundError,
and writes nothing, when a limb or a column could overflow (vector_kernels.py, vector_formulas.py).
"""

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

from kernels.csrc.generate.vector_fields import BIAS, ESTIMATE_SHIFT, FIELDS, LIFT, SHAPES, VectorField
from kernels.csrc.generate.vector_formulas import check_all, signed_differences_need_carry
from kernels.csrc.generate.vector_kernels import kernel_lines

HEADER = ["// Written by generate/generate_avx2.py; do not edit.", "// clang-format off", "#pragma once"]
OUTPUT = Path(__file__).resolve().parent.parent / "avx2"
WORD_BITS = 64


def literal(values: Iterable[int]) -> str:
    return "{" + ", ".join(f"{value:#x}ull" for value in values) + "}"


def words_of(value: int, count: int) -> list[int]:
    return [(value >> (WORD_BITS * i)) & (2**WORD_BITS - 1) for i in range(count)]


def field_lines(field: VectorField) -> Iterator[str]:
    p, radix, outside = field.modulus, field.radix, 1 << (WORD_BITS * field.words)

    def element(name: str, value: int) -> str:
        return f"  static constexpr u64 {name}[words] = {literal(words_of(value % p, field.words))};"

    yield f"struct vector_{field.name} {{"
    yield f"  using scalar = cuzk::{field.name};"
    yield f"  static constexpr int words = {field.words}, limbs = {field.limbs}, bits = {field.bits};"
    yield "  static constexpr bool out_of_line = false;"
    carry = str(signed_differences_need_carry(field)).lower()
    yield f"  static constexpr bool carry_signed_differences = {carry};"
    yield f"  static constexpr u64 modulus[limbs] = {literal(field.split(p))};"
    yield f"  static constexpr u64 shifted_modulus[limbs] = {literal(field.split(field.shifted_modulus))};"
    yield f"  static constexpr u64 quotient_factor = {field.quotient_factor:#x}ull;"
    yield f"  static constexpr u64 estimate = {field.estimate};"
    yield element("one", radix)
    yield element("radix_cubed", radix**3)
    yield "  // Product with `enter` (here) takes R = 2^(64 words) to this R; with `leave` (in scalar) back."
    yield element("enter", radix * radix * pow(outside, -1, p))
    yield element("leave", outside * outside * pow(radix, -1, p))
    yield "};"


def constants_text() -> str:
    """vector_constants.hpp"""
    lines = [
        *HEADER,
        '#include "constants.hpp"',
        "",
        "namespace cuzk::avx2 {",
        "",
        "// Added to every column of a product, so that logical shifts act as arithmetic ones.",
        f"inline constexpr u64 column_bias = {BIAS:#x}ull;",
        "// `reduced` estimates the multiple of p to take away from a value `estimate_lift` p larger.",
        f"inline constexpr u64 estimate_lift = {LIFT};",
        f"inline constexpr int estimate_shift = {ESTIMATE_SHIFT};",
    ]
    for field in FIELDS:
        lines += ["", *field_lines(field)]
    return "\n".join([*lines, "", "}  // namespace cuzk::avx2", ""])


def kernels_text() -> str:
    """product_kernels.hpp"""
    lines = [
        *HEADER,
        "#include <immintrin.h>",
        "",
        "namespace cuzk::avx2 {",
        "",
        "// Columns of a b, a b + c d, a^2, reduced by Montgomery's method, biased, before the last carries.",
        "// k: the constant table of the field (vector_field.hpp).",
        "template <int limbs, int bits>",
        "struct product_kernels;",
    ]
    for shape in SHAPES:
        lines += ["", *kernel_lines(*shape)]
    return "\n".join([*lines, "", "}  // namespace cuzk::avx2", ""])


def texts() -> dict[str, str]:
    """File names in kernels/csrc/avx2 and what belongs in them. Raises BoundError."""
    check_all()
    return {"vector_constants.hpp": constants_text(), "product_kernels.hpp": kernels_text()}


if __name__ == "__main__":
    for name, text in texts().items():
        (OUTPUT / name).write_text(text, encoding="ascii")
