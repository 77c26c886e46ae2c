"""Write constants.hpp: the numbers that the portable kernels need, from kernels/curves.py.

    python kernels/csrc/generate/generate_constants.py > kernels/csrc/constants.hpp

Field elements are little-endian 64-bit words in Montgomery form, R = 2^(64 words).
"""

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

from kernels.curves import CURVES, Curve, Fq2

WORD_BITS = 64


def words_of(value: int, count: int) -> list[int]:
    return [(value >> (WORD_BITS * i)) & (2**WORD_BITS - 1) for i in range(count)]


def literal(words: Iterable[int]) -> str:
    return "{" + ", ".join(f"{word:#018x}ull" for word in words) + "}"


def array(name: str, words: list[int]) -> str:
    return f"  static constexpr u64 {name}[{len(words)}] = {literal(words)};"


def montgomery(value: int, modulus: int, count: int) -> list[int]:
    return words_of((value << (WORD_BITS * count)) % modulus, count)


def identifier(curve: Curve) -> str:
    return curve.name.replace("-", "_")


def field_lines(name: str, modulus: int, count: int) -> Iterator[str]:
    radix = 1 << (WORD_BITS * count)
    yield f"struct {name} {{"
    yield f"  static constexpr int words = {count};"
    yield f"  static constexpr int bits = {modulus.bit_length()};"
    yield array("modulus", words_of(modulus, count))
    negative_inverse = -pow(modulus, -1, 1 << WORD_BITS) % (1 << WORD_BITS)
    yield f"  static constexpr u64 negative_inverse = {negative_inverse:#018x}ull;"
    yield array("one", words_of(radix % modulus, count))
    yield array("r2", words_of(radix**2 % modulus, count))
    yield array("r3", words_of(radix**3 % modulus, count))
    yield "};"


def product(a: Fq2, b: Fq2, q: int) -> Fq2:
    return (a[0] * b[0] - a[1] * b[1]) % q, (a[0] * b[1] + a[1] * b[0]) % q


def power(base: Fq2, exponent: int, q: int) -> Fq2:
    result: Fq2 = (1, 0)
    for bit in f"{exponent:b}":
        result = product(result, result, q)
        if bit == "1":
            result = product(result, base, q)
    return result


def inverse(a: Fq2, q: int) -> Fq2:
    norm = pow(a[0] * a[0] + a[1] * a[1], -1, q)
    return a[0] * norm % q, -a[1] * norm % q


def twist_frobenius(curve: Curve) -> tuple[Fq2, Fq2]:
    """Factors of conj(x) and conj(y) in psi = untwist, Frobenius, twist."""
    x_factor = power(curve.xi, (curve.q - 1) // 3, curve.q)
    y_factor = power(curve.xi, (curve.q - 1) // 2, curve.q)
    if curve.divisive_twist:
        return x_factor, y_factor
    return inverse(x_factor, curve.q), inverse(y_factor, curve.q)


def cube_root_of_unity(curve: Curve) -> int:
    """beta such that (x, y) -> (beta x, y) multiplies G1 of BLS12-381 by -z^2 (for BN254: any of order 3)."""
    candidates = [pow(base, (curve.q - 1) // 3, curve.q) for base in range(2, 10)]
    beta = next(candidate for candidate in candidates if candidate != 1)
    if curve.divisive_twist:
        return beta
    scaled = scalar_multiple(curve.g1, -(curve.parameter**2) % curve.r, curve.q)
    return beta if beta * curve.g1[0] % curve.q == scaled[0] else beta * beta % curve.q


def scalar_multiple(point: tuple[int, int], scalar: int, q: int) -> tuple[int, int]:
    result = point
    for bit in f"{scalar:b}"[1:]:
        result = chord(result, result, q)
        if bit == "1":
            result = chord(result, point, q)
    return result


def chord(a: tuple[int, int], b: tuple[int, int], q: int) -> tuple[int, int]:
    slope = 3 * a[0] * a[0] * pow(2 * a[1], -1, q) if a == b else (b[1] - a[1]) * pow(b[0] - a[0], -1, q)
    x = (slope * slope - a[0] - b[0]) % q
    return x, (slope * (a[0] - x) - a[1]) % q


def curve_lines(curve: Curve) -> Iterator[str]:
    q, words = curve.q, curve.fq_words

    def fq(value: int) -> list[int]:
        return montgomery(value, q, words)

    def fq2(value: Fq2) -> list[int]:
        return fq(value[0]) + fq(value[1])

    def fr(value: int) -> list[int]:
        return montgomery(value, curve.r, curve.fr_words)

    name = identifier(curve)
    frobenius = [fq2(power(curve.xi, i * (q - 1) // 6, q)) for i in range(6)]
    psi_x, psi_y = twist_frobenius(curve)
    yield f"struct {name} {{"
    yield f"  using fq = {name}_fq;"
    yield f"  using fr = {name}_fr;"
    yield f"  static constexpr int two_adicity = {curve.two_adicity};"
    yield f"  static constexpr u64 parameter = {abs(curve.parameter):#018x}ull;"
    yield f"  static constexpr bool parameter_negative = {str(curve.parameter < 0).lower()};"
    yield f"  static constexpr bool divisive_twist = {str(curve.divisive_twist).lower()};"
    yield array("root_of_unity", fr(curve.root_of_unity(curve.two_adicity)))
    yield array("widest_coset_shift", fr(curve.coset_shift(curve.two_adicity)))
    yield array("b1", fq(curve.b1))
    yield array("b2", fq2(curve.b2))
    yield array("g1", fq(curve.g1[0]) + fq(curve.g1[1]))
    yield array("g2", fq2(curve.g2[0]) + fq2(curve.g2[1]))
    yield array("xi", fq2(curve.xi))
    yield array("cube_root", fq(cube_root_of_unity(curve)))
    yield array("psi_x", fq2(psi_x))
    yield array("psi_y", fq2(psi_y))
    yield f"  static constexpr u64 frobenius[6][{2 * words}] = {{"
    yield from (f"      {literal(row)}," for row in frobenius)
    yield "  };"
    yield "};"


def lines() -> Iterator[str]:
    yield "// Written by generate/generate_constants.py; do not edit."
    yield "// clang-format off"
    yield "#pragma once"
    yield '#include "words.hpp"'
    yield ""
    yield "namespace cuzk {"
    for curve in CURVES:
        yield ""
        yield from field_lines(f"{identifier(curve)}_fq", curve.q, curve.fq_words)
        yield ""
        yield from field_lines(f"{identifier(curve)}_fr", curve.r, curve.fr_words)
        yield ""
        yield from curve_lines(curve)
    yield ""
    yield "}  // namespace cuzk"


def text() -> str:
    """The whole header."""
    return "\n".join(lines()) + "\n"


if __name__ == "__main__":
    sys.stdout.write(text())
