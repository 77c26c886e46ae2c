"""The evaluation of constraint systems against Python integers."""

import struct
from random import Random

import numpy as np
import pytest

from kernels.constraints import evaluate
from kernels.curves import BN254, Curve
from tests.unit.kernels.reference import plain, unaligned, words

Record = tuple[int, int, int, int]


def encode(curve: Curve, records: list[Record]) -> bytes:
    """The body of section 4: coefficients times R^2."""
    radix = pow(2, 512, curve.r)
    body = b"".join(
        struct.pack("<III", matrix, row, wire) + (value * radix % curve.r).to_bytes(32, "little")
        for matrix, row, wire, value in records
    )
    return struct.pack("<I", len(records)) + body


def model(curve: Curve, records: list[Record], witness: list[int], domain: int) -> list[list[int]]:
    sums = [[0] * domain, [0] * domain]
    for matrix, row, wire, value in records:
        sums[matrix][row] = (sums[matrix][row] + value * witness[wire]) % curve.r
    return sums


def random_system(curve: Curve, count: int, domain: int, wires: int) -> tuple[list[Record], list[int]]:
    random = Random(count)
    values = [1, curve.r - 1, 2, 0]
    records = [
        (
            random.randrange(2),
            random.randrange(domain),
            random.randrange(wires),
            random.choice([*values, random.randrange(curve.r)]),
        )
        for _ in range(count)
    ]
    return records, [
        1,
        *(random.choice((0, 1, curve.r - 1, random.randrange(curve.r))) for _ in range(wires - 1)),
    ]


@pytest.mark.parametrize("threads", [1, 2, 5])
@pytest.mark.parametrize(("count", "domain"), [(0, 8), (1, 1), (30, 8), (3000, 64), (40000, 1024)])
def test_random_systems(curve: Curve, count: int, domain: int, threads: int) -> None:
    records, witness = random_system(curve, count, domain, wires=50)
    a, b = evaluate(curve, encode(curve, records), words(witness), domain, threads)
    assert [plain(a, curve.r), plain(b, curve.r)] == model(curve, records, witness, domain)


def test_rows_without_records_are_zero(curve: Curve) -> None:
    a, b = evaluate(curve, encode(curve, [(0, 5, 0, 7)]), words([1]), 8)
    assert plain(a, curve.r) == [0, 0, 0, 0, 0, 7, 0, 0]
    assert not b.any()


def test_any_buffer_and_any_alignment(curve: Curve) -> None:
    records, witness = random_system(curve, 100, 16, wires=10)
    body = encode(curve, records)
    expected = evaluate(curve, body, words(witness), 16)
    padded = np.frombuffer(b"\0\0\0" + body, dtype=np.uint8)[3:]
    for same in (bytearray(body), memoryview(body), padded):
        found = evaluate(curve, same, unaligned(words(witness)), 16)
        assert all(np.array_equal(x, y) for x, y in zip(found, expected, strict=True))


@pytest.mark.parametrize(
    ("record", "reason"),
    [
        ((2, 0, 0, 1), "matrix 2 is neither"),
        ((0xFFFFFFFF, 0, 0, 1), "matrix 4294967295 is neither"),
        ((0, 8, 0, 1), "row 8 is outside of the domain of 8"),
        ((1, 0xFFFFFFFF, 0, 1), "row 4294967295"),
        ((0, 0, 5, 1), "wire 5 is outside of the witness of 5"),
        ((1, 7, 0xFFFFFFFF, 1), "wire 4294967295"),
    ],
)
@pytest.mark.parametrize("at", [0, 17, 39_999])
def test_the_first_record_that_points_outside_is_named(record: Record, reason: str, at: int) -> None:
    records: list[Record] = [(0, 1, 2, 3)] * 40_000
    records[at] = record
    records[-1] = record
    with pytest.raises(ValueError, match=f"coefficient {at}: {reason}"):
        evaluate(BN254, encode(BN254, records), words([1, 2, 3, 4, 5]), 8, threads=2)


@pytest.mark.parametrize("cut", [0, 1, 3])
def test_a_missing_count_is_refused(cut: int) -> None:
    with pytest.raises(ValueError, match="count is missing"):
        evaluate(BN254, b"\0" * cut, words([1]), 8)


@pytest.mark.parametrize("change", [-44, -1, 1, 44])
def test_a_length_that_does_not_fit_the_count_is_refused(change: int) -> None:
    body = encode(BN254, [(0, 0, 0, 1)] * 3)
    body = body[:change] if change < 0 else body + b"\0" * change
    with pytest.raises(ValueError, match="3 records need 136 bytes"):
        evaluate(BN254, body, words([1]), 8)


def test_malformed_witnesses_are_refused() -> None:
    body = encode(BN254, [])
    with pytest.raises(ValueError, match="shape"):
        evaluate(BN254, body, np.zeros((3, 5), dtype=np.uint64), 8)
    with pytest.raises(ValueError, match="negative"):
        evaluate(BN254, body, words([1]), -8)
