"""Constraint matrices as the device reads them, held against the rows that they were made from."""

import numpy as np
import pytest

from kernels.constraints import evaluate
from kernels.cuda import rows
from kernels.curves import BLS12_381, BN254, Curve
from proving.groth16.qap import encode_records, key_records
from tests.unit.groth16.reference import product_chain, words


def dot_rows(curve: Curve, found: rows.Rows, witness: list[int]) -> list[int]:
    """Every row times the witness, in Python integers, times R as the kernels leave it."""
    r, radix = curve.r, 1 << 256
    values = [int.from_bytes(value.tobytes(), "little") for value in found.values]
    out = []
    for start, end in zip(found.starts[:-1].tolist(), found.starts[1:].tolist(), strict=True):
        terms = found.terms[start:end].tolist()
        out.append(sum(witness[wire] * values[number] for wire, number in terms) * pow(radix, -1, r) % r)
    return out


@pytest.mark.parametrize("curve", [BN254, BLS12_381], ids=lambda curve: curve.name)
@pytest.mark.parametrize("shuffled", [False, True])
def test_rows_say_what_the_records_say(curve: Curve, shuffled: bool) -> None:
    system, witness = product_chain(curve, 20)
    records = key_records(system)
    if shuffled:
        np.random.default_rng(5).shuffle(records)
    body = encode_records(records)
    found = rows.compressed_rows(body, 32, system.wires)
    a, b = evaluate(curve, body, words(witness), 32, 1)
    expected = [int.from_bytes(row.tobytes(), "little") for row in np.concatenate([a, b])]
    assert dot_rows(curve, found, witness) == expected


def test_equal_values_are_kept_once() -> None:
    values = words([5, 1, 5, 5, 7, 1])
    found, numbers = rows.distinct(values)
    assert len(found) == 3
    assert np.array_equal(found[numbers], values)


def test_values_with_one_hash_are_all_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rows, "_MIX", np.zeros(4, dtype="<u8"))
    values = words([5, 1, 5])
    found, numbers = rows.distinct(values)
    assert np.array_equal(found[numbers], values)


def test_rows_of_many_terms_are_named() -> None:
    records = np.zeros(rows.LONGEST_ROW + 3, dtype=rows.RECORD)
    records["matrix"], records["row"] = 1, 2
    records["row"][-2:] = 0
    found = rows.compressed_rows(encode_records(records), 4, 1)
    assert found.long.tolist() == [4 + 2]
    assert found.starts.tolist() == [0, 0, 0, 0, 0, 2, 2, rows.LONGEST_ROW + 3, rows.LONGEST_ROW + 3]


@pytest.mark.parametrize("field", ["matrix", "row", "wire"])
def test_a_record_that_points_outside_is_refused(field: str) -> None:
    records = np.zeros(3, dtype=rows.RECORD)
    records[field][1] = 9
    with pytest.raises(ValueError, match="outside"):
        rows.compressed_rows(encode_records(records), 4, 4)


def test_no_records_are_empty_rows() -> None:
    found = rows.compressed_rows(encode_records(np.zeros(0, dtype=rows.RECORD)), 2, 3)
    assert found.starts.tolist() == [0] * 5
    assert (len(found.terms), len(found.long)) == (0, 0)
