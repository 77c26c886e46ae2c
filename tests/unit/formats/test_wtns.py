"""Witness files."""

import struct

import numpy as np
import pytest

from kernels.curves import BLS12_381, BN254
from proving.formats.container import encode_container
from proving.formats.errors import FormatError
from proving.formats.words import to_integers, to_words
from proving.formats.wtns import Witness, encode_witness, read_witness, write_witness


def written(tmp_path, values, curve=BN254):
    path = tmp_path / "w.wtns"
    write_witness(path, Witness(curve, to_words(values)))
    return path


@pytest.mark.parametrize("curve", [BN254, BLS12_381])
def test_round_trip(tmp_path, curve):
    path = written(tmp_path, [1, 0, curve.r - 1, 7], curve)
    witness = read_witness(path, curve, 4)
    assert witness.curve == curve
    assert to_integers(witness.values) == [1, 0, curve.r - 1, 7]
    assert witness.public(2) == [0, curve.r - 1]


def test_only_the_owner_may_read_a_witness(tmp_path):
    assert written(tmp_path, [1]).stat().st_mode & 0o777 == 0o600


def test_values_are_a_view_of_the_mapped_file(tmp_path):
    values = read_witness(written(tmp_path, [1, 2])).values
    assert not values.flags.owndata
    assert not values.flags.writeable


@pytest.mark.parametrize("value", [BN254.r, BN254.r + 5, 2**256 - 1])
def test_value_that_is_not_reduced_is_refused_by_its_wire(tmp_path, value):
    with pytest.raises(FormatError, match=r"wire 2: the value is not below") as caught:
        read_witness(written(tmp_path, [1, 5, value]))
    assert str(value) not in str(caught.value)


@pytest.mark.parametrize("values", [[2, 5], [0], []])
def test_constant_wire_must_be_one(tmp_path, values):
    with pytest.raises(FormatError, match="wire 0: the constant wire is not 1"):
        read_witness(written(tmp_path, values))


def test_other_curve_is_refused(tmp_path):
    with pytest.raises(FormatError, match="bls12-381, does not match the key's, bn254"):
        read_witness(written(tmp_path, [1], BLS12_381), BN254)


def test_other_length_is_refused_with_both_numbers(tmp_path):
    with pytest.raises(FormatError, match="the witness has 2 values, the key wants 15"):
        read_witness(written(tmp_path, [1, 2]), BN254, 15)


def test_promised_count_is_held_against_the_body(tmp_path):
    header = struct.pack("<I", 32) + BN254.r.to_bytes(32, "little") + struct.pack("<I", 2**32 - 1)
    path = tmp_path / "w.wtns"
    path.write_bytes(b"".join(encode_container(b"wtns", 2, [(1, [header]), (2, [bytes(64)])])))
    with pytest.raises(FormatError, match="has 64 bytes where 4294967295 values"):
        read_witness(path)


@pytest.mark.parametrize(("size", "prime"), [(32, BN254.q), (8, 2**64 - 2**32 + 1), (2**31, 5)])
def test_unknown_field_is_refused(tmp_path, size, prime):
    header = struct.pack("<I", size) + prime.to_bytes(min(size, 32), "little") + struct.pack("<I", 0)
    path = tmp_path / "w.wtns"
    path.write_bytes(b"".join(encode_container(b"wtns", 2, [(1, [header]), (2, [])])))
    with pytest.raises(FormatError, match=r"section 1 \(header\)"):
        read_witness(path)


def test_values_alone_are_no_witness_file(tmp_path):
    path = tmp_path / "w.wtns"
    path.write_bytes(to_words([1, 2, 3]).tobytes())
    with pytest.raises(FormatError, match="not a wtns file"):
        read_witness(path)


@pytest.mark.shared
def test_shipped_witnesses_read_and_write_the_same_bytes(shared_fixtures):
    paths = [path for path in shared_fixtures.rglob("*.wtns") if path.name != "x_nonred.wtns"]
    assert len(paths) > 20
    for path in paths:
        assert b"".join(encode_witness(read_witness(path))) == path.read_bytes(), path


@pytest.mark.shared
@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("x_bls", "does not match the key's"),
        ("x_short", "has 5 values, the key wants 15"),
        ("x_nonred", "wire 14"),
    ],
)
def test_shipped_broken_witnesses_are_refused(shared_fixtures, name, reason):
    with pytest.raises(FormatError, match=reason):
        read_witness(shared_fixtures / "edge" / "malformed" / f"{name}.wtns", BN254, 15)


def test_contiguous_copy_is_written_from_any_layout(tmp_path):
    strided = np.repeat(to_words([1, 2, 3]), 2, axis=0)[::2]
    write_witness(tmp_path / "w", Witness(BN254, strided))
    assert to_integers(read_witness(tmp_path / "w").values) == [1, 2, 3]
