"""BLS12-381 points in the encoding of Zcash, against the vectors of zkcrypto's pairing crate."""

import numpy as np
import pytest

from kernels.curves import BLS12_381, Group
from kernels.points import from_integers
from proving.formats.zcash_points import (
    decode_array,
    decode_g1,
    decode_g2,
    encode_array,
    encode_g1,
    encode_g2,
)

Q = BLS12_381.q
SIZES = {"g1_compressed": 48, "g1_uncompressed": 96, "g2_compressed": 96, "g2_uncompressed": 192}


@pytest.fixture(scope="module")
def vectors(shared_fixtures):
    """Multiples 0 to 999 of the generators, in each of the four encodings."""
    folder = shared_fixtures / "bls12381-point-encodings"
    found = {}
    for name, size in SIZES.items():
        data = (folder / f"{name}_valid_test_vectors.dat").read_bytes()
        found[name] = [data[start : start + size] for start in range(0, len(data), size)]
        assert len(found[name]) == 1000
    return found


@pytest.mark.shared
@pytest.mark.parametrize(
    ("name", "decode", "encode"), [("g1", decode_g1, encode_g1), ("g2", decode_g2, encode_g2)]
)
def test_every_vector_both_ways(vectors, name, decode, encode):
    for short, long in zip(vectors[f"{name}_compressed"], vectors[f"{name}_uncompressed"], strict=True):
        point = decode(short)
        assert decode(long) == point
        assert encode(point, compressed=True) == short
        assert encode(point, compressed=False) == long


@pytest.mark.shared
@pytest.mark.parametrize(("name", "group"), [("g1", Group.G1), ("g2", Group.G2)])
def test_whole_arrays(vectors, name, group):
    encoded = b"".join(vectors[f"{name}_uncompressed"][1:])
    decode = decode_g1 if group is Group.G1 else decode_g2
    raw = np.frombuffer(encoded, dtype=np.uint8).reshape(999, -1)
    points = decode_array(group, raw)
    for index in (0, 1, 500, 998):
        assert (points[index] == from_integers(BLS12_381, group, decode(raw[index].tobytes()))).all()
    assert encode_array(group, points) == encoded


def test_generators_and_infinity():
    assert decode_g1(encode_g1(BLS12_381.g1, compressed=True)) == BLS12_381.g1
    assert decode_g2(encode_g2(BLS12_381.g2, compressed=True)) == BLS12_381.g2
    for compressed in (True, False):
        assert decode_g1(encode_g1(None, compressed=compressed)) is None
        assert decode_g2(encode_g2(None, compressed=compressed)) is None


G1 = encode_g1(BLS12_381.g1, compressed=True)
LONG = encode_g1(BLS12_381.g1, compressed=False)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "0 bytes"),
        (G1[:-1], "47 bytes"),
        (bytes([G1[0] & 0x7F]) + G1[1:], "48 bytes"),  # not compressed, says the flag
        (LONG[:-1], "95 bytes"),
        (bytes([LONG[0] | 0x20]) + LONG[1:], "bears a sign"),
        (bytes([0xC0]) + bytes(46) + b"\1", "has coordinates"),
        (bytes([0xE0]) + bytes(47), "has coordinates"),
        (bytes([0x80 | (Q >> 376)]) + Q.to_bytes(48, "big")[1:], "not below the modulus"),
        (bytes([0x80]) + bytes(46) + b"\1", "no point of the curve"),  # x = 1
    ],
)
def test_encodings_that_lie(data, reason):
    with pytest.raises(ValueError, match=reason):
        decode_g1(data)


def test_an_array_names_its_bad_point():
    rows = np.frombuffer(3 * LONG, dtype=np.uint8).reshape(3, 96).copy()
    rows[1, 0] |= 0x40
    with pytest.raises(ValueError, match="point 1 is at infinity"):
        decode_array(Group.G1, rows)
    rows[1] = np.frombuffer(Q.to_bytes(48, "big") + LONG[48:], dtype=np.uint8)
    with pytest.raises(ValueError, match="point 1: a coordinate"):
        decode_array(Group.G1, rows)
