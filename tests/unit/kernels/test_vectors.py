"""Published test vectors: EIP-196, EIP-197, EIP-2537 and the point encodings of zkcrypto."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kernels.curves import BLS12_381, BN254, Curve, Group
from kernels.pairing import pairing_product_is_one
from kernels.points import add, first_bad_point, fixed_base_multiply, from_integers, multiply, to_integers
from tests.unit.kernels.reference import Words, words

pytestmark = pytest.mark.shared


def cases(folder: Path, name: str) -> list[dict[str, Any]]:
    return json.loads((folder / "eip-vectors" / f"{name}.json").read_text())


def split(text: str, size: int) -> list[int]:
    """Big-endian integers of `size` bytes; what is missing at the end is zero."""
    raw = bytes.fromhex(text)
    raw += b"\0" * (-len(raw) % size)
    return [int.from_bytes(raw[i : i + size], "big") for i in range(0, len(raw), size)]


def point(group: Group, values: list[int]) -> Any:
    if not any(values):
        return None
    return (values[0], values[1]) if group is Group.G1 else ((values[0], values[1]), (values[2], values[3]))


def encoded(curve: Curve, group: Group, values: list[int]) -> Words:
    return from_integers(curve, group, point(group, values))[np.newaxis]


def decoded(curve: Curve, group: Group, array: Words) -> list[int]:
    found = to_integers(curve, group, array[0])
    if found is None:
        return [0] * 2 * int(group)
    return [value for coordinate in found for value in ([coordinate] if group is Group.G1 else coordinate)]


@pytest.mark.parametrize(
    ("name", "curve", "group", "size"),
    [
        ("bn256Add", BN254, Group.G1, 32),
        ("blsG1Add", BLS12_381, Group.G1, 64),
        ("blsG2Add", BLS12_381, Group.G2, 64),
    ],
)
def test_additions(shared_fixtures: Path, name: str, curve: Curve, group: Group, size: int) -> None:
    count = 2 * int(group)
    for case in cases(shared_fixtures, name):
        values = (split(case["Input"], size) + [0] * 2 * count)[: 2 * count]
        found = add(
            curve, group, encoded(curve, group, values[:count]), encoded(curve, group, values[count:])
        )
        assert decoded(curve, group, found) == split(case["Expected"], size), case["Name"]


@pytest.mark.parametrize(
    ("name", "curve", "size"), [("bn256ScalarMul", BN254, 32), ("blsG1Mul", BLS12_381, 64)]
)
def test_multiples(shared_fixtures: Path, name: str, curve: Curve, size: int) -> None:
    for case in cases(shared_fixtures, name):
        text = case["Input"] + "0" * max(0, 4 * size + 64 - len(case["Input"]))
        base = encoded(curve, Group.G1, split(text[: 4 * size], size))
        scalar = words([int(text[4 * size : 4 * size + 64], 16)])
        for found in (
            multiply(curve, Group.G1, base, scalar),
            fixed_base_multiply(curve, Group.G1, base, scalar),
        ):
            assert decoded(curve, Group.G1, found) == split(case["Expected"], size), case["Name"]


@pytest.mark.parametrize(
    ("name", "curve", "size"), [("bn256Pairing", BN254, 32), ("blsPairing", BLS12_381, 64)]
)
def test_pairings(shared_fixtures: Path, name: str, curve: Curve, size: int) -> None:
    for case in cases(shared_fixtures, name):
        values = split(case["Input"], size)
        pairs = [values[i : i + 6] for i in range(0, len(values), 6)]
        if curve is BN254:  # there the imaginary part comes first
            pairs = [[x, y, q[1], q[0], q[3], q[2]] for x, y, *q in pairs]
        g1 = np.concatenate(
            [np.empty((0, 2 * curve.fq_words), np.uint64), *(encoded(curve, Group.G1, p[:2]) for p in pairs)]
        )
        g2 = np.concatenate(
            [np.empty((0, 4 * curve.fq_words), np.uint64), *(encoded(curve, Group.G2, p[2:]) for p in pairs)]
        )
        assert pairing_product_is_one(curve, g1, g2) == bool(int(case["Expected"], 16)), case["Name"]


@pytest.mark.parametrize("group", list(Group))
def test_a_thousand_multiples_of_the_generator(shared_fixtures: Path, group: Group) -> None:
    curve, name = BLS12_381, f"g{int(group)}_uncompressed_valid_test_vectors.dat"
    raw = (shared_fixtures / "bls12381-point-encodings" / name).read_bytes()
    size = 96 * int(group)
    rows = []
    for start in range(0, len(raw), size):
        chunk = raw[start : start + size]
        values = [] if chunk[0] & 0x40 else split(chunk.hex(), 48)
        if group is Group.G2 and values:  # there the imaginary part comes first
            values = [values[1], values[0], values[3], values[2]]
        rows.append(encoded(curve, group, values))
    expected = np.concatenate(rows)
    assert len(expected) == 1000
    base = from_integers(curve, group, curve.g1 if group is Group.G1 else curve.g2)
    assert np.array_equal(fixed_base_multiply(curve, group, base, words(range(1000))), expected)
    assert first_bad_point(curve, group, expected) is None
