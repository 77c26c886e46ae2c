"""Proving keys."""

import struct

import numpy as np
import pytest

from kernels.curves import BLS12_381, BN254
from proving.formats.contributions import INSECURE_NAME
from proving.formats.errors import FormatError
from proving.formats.zkey import encode_zkey, read_contributions, read_zkey, validate_points, write_zkey
from proving.groth16.proving_key import ProvingKey

HEADER_COUNTS = 4 + 32 + 4 + 32  # where the three counts stand in section 2 of a bn254 key


def section_at(content: bytes, number: int) -> tuple[int, int]:
    """Where a section's body begins and ends."""
    position = 12
    while position < len(content):
        found, size = struct.unpack_from("<IQ", content, position)
        if found == number:
            return position + 12, position + 12 + size
        position += 12 + size
    raise AssertionError(number)


def patched(content: bytes, section: int, offset: int, replacement: bytes) -> bytes:
    """The file with some bytes of a section's body replaced."""
    start = section_at(content, section)[0] + offset
    return content[:start] + replacement + content[start + len(replacement) :]


def read(tmp_path, content: bytes) -> ProvingKey:
    path = tmp_path / "k.zkey"
    path.write_bytes(content)
    return read_zkey(path)


def refusal(tmp_path, content: bytes) -> str:
    with pytest.raises(FormatError) as caught:
        read(tmp_path, content)
    return f"{caught.value.place}: {caught.value.reason}"


@pytest.mark.parametrize("key_name", ["small_key", "small_key_bls"])
def test_what_is_written_is_read(tmp_path, request, key_name):
    key = request.getfixturevalue(key_name)
    write_zkey(tmp_path / "k.zkey", key)
    again = read_zkey(tmp_path / "k.zkey", key_id="mine")
    assert again.key_id == "mine"
    assert again.verifying_key == key.verifying_key
    for name in ("curve", "variable_count", "public_count", "domain_size", "alpha_g1", "beta_g1", "delta_g1"):
        assert getattr(again, name) == getattr(key, name), name
    for name in ("a", "b1", "b2", "c", "h"):
        assert np.array_equal(getattr(again.points, name), getattr(key.points, name)), name
    assert np.array_equal(again.coefficients, key.coefficients)
    validate_points(again)


def test_arrays_are_views_of_the_mapped_file(tmp_path, small_zkey):
    key = read(tmp_path, small_zkey)
    for array in (key.coefficients, key.points.a, key.points.b2, key.points.h):
        assert not array.flags.owndata
        assert not array.flags.writeable


def test_development_key_is_marked(tmp_path, small_zkey):
    key = read(tmp_path, small_zkey)
    assert key.insecure
    assert key.contributions == 1
    assert [entry.name for entry in read_contributions(tmp_path / "k.zkey")] == [INSECURE_NAME]


def test_key_id_follows_the_file(tmp_path, small_zkey):
    first = read(tmp_path, small_zkey).key_id
    assert read_zkey(tmp_path / "k.zkey").key_id == first
    (tmp_path / "other.zkey").write_bytes(small_zkey)
    assert read_zkey(tmp_path / "other.zkey").key_id != first


@pytest.mark.parametrize(("protocol", "name"), [(2, "PLONK"), (10, "FFLONK"), (7, "an unknown protocol")])
def test_other_protocols_are_named(tmp_path, small_zkey, protocol, name):
    assert name in refusal(tmp_path, patched(small_zkey, 1, 0, struct.pack("<I", protocol)))


@pytest.mark.parametrize("domain", [0, 1, 3, 5, 2**29, 2**32 - 1])
def test_domain_must_be_a_power_of_two_that_fits(tmp_path, small_zkey, domain):
    content = patched(small_zkey, 2, HEADER_COUNTS + 8, struct.pack("<I", domain))
    assert "the domain" in refusal(tmp_path, content)


@pytest.mark.parametrize("domain", [2, 8, 2**28])
def test_domain_is_held_against_the_points(tmp_path, small_zkey, domain):
    content = patched(small_zkey, 2, HEADER_COUNTS + 8, struct.pack("<I", domain))
    assert "section" in refusal(tmp_path, content)


@pytest.mark.parametrize("variables", [0, 1, 3, 5, 2**32 - 1])
def test_variables_are_held_against_the_points(tmp_path, small_zkey, variables):
    content = patched(small_zkey, 2, HEADER_COUNTS, struct.pack("<I", variables))
    assert "section" in refusal(tmp_path, content)


def test_more_public_signals_than_variables(tmp_path, small_zkey):
    content = patched(small_zkey, 2, HEADER_COUNTS + 4, struct.pack("<I", 4))
    assert "4 public signals among 4 variables" in refusal(tmp_path, content)


def test_other_primes_are_refused(tmp_path, small_zkey):
    content = patched(small_zkey, 2, 4, (BN254.q + 2).to_bytes(32, "little"))
    assert "primes" in refusal(tmp_path, content)
    content = patched(small_zkey, 2, 40, BN254.q.to_bytes(32, "little"))
    assert "primes" in refusal(tmp_path, content)


@pytest.mark.parametrize(
    ("offset", "value", "field"),
    [(0, 2, "matrix 2"), (4, 4, "row 4"), (8, 4, "wire 4"), (8, 2**32 - 1, "wire")],
)
def test_coefficients_out_of_bounds_are_named(tmp_path, small_zkey, offset, value, field):
    content = patched(small_zkey, 4, 4 + 44 + offset, struct.pack("<I", value))
    message = refusal(tmp_path, content)
    assert message.startswith("section 4 (coefficients): record 1: ")
    assert field in message


def test_coefficient_that_is_not_reduced_is_named(tmp_path, small_zkey):
    content = patched(small_zkey, 4, 4 + 44 + 12, BN254.r.to_bytes(32, "little"))
    assert "record 1: the value is not below" in refusal(tmp_path, content)


def test_count_of_coefficients_is_held_against_the_body(tmp_path, small_zkey):
    content = patched(small_zkey, 4, 0, struct.pack("<I", 2**32 - 1))
    assert "4294967295 of 44 bytes are promised" in refusal(tmp_path, content)


@pytest.mark.parametrize("name", ["alpha in G1", "beta in G1", "beta in G2", "gamma in G2", "delta in G1"])
def test_single_points_must_lie_on_the_curve(tmp_path, small_zkey, name):
    order = ["alpha in G1", "beta in G1", "beta in G2", "gamma in G2", "delta in G1"]
    sizes = {"1": 64, "2": 128}
    offset = HEADER_COUNTS + 12 + sum(sizes[entry[-1]] for entry in order[: order.index(name)])
    content = patched(small_zkey, 2, offset, (5).to_bytes(32, "little"))
    assert f"section 2 (header): {name}: " in refusal(tmp_path, content)


def test_ic_must_lie_on_the_curve(tmp_path, small_zkey):
    content = patched(small_zkey, 3, 64, (5).to_bytes(32, "little"))
    assert refusal(tmp_path, content) == "section 3 (IC): IC: point 1 is not on the curve"


@pytest.mark.parametrize(("number", "points"), [(5, "A"), (6, "B1"), (7, "B2"), (8, "C"), (9, "H")])
def test_validation_finds_the_bad_point(tmp_path, small_zkey, number, points):
    size = 128 if number == 7 else 64
    key = read(tmp_path, patched(small_zkey, number, size, b"\x05" + bytes(size - 1)))
    with pytest.raises(FormatError) as caught:
        validate_points(key, file="k.zkey")
    assert caught.value.place == f"section {number} ({points} points)"
    assert "point 1 " in caught.value.reason


def test_infinity_is_legal_everywhere(tmp_path, small_zkey):
    content = small_zkey
    for number in (5, 6, 7, 8, 9):
        start, end = section_at(content, number)
        content = patched(content, number, 0, bytes(end - start))
    validate_points(read(tmp_path, content))


def test_contributions_are_held_against_the_section(tmp_path, small_zkey):
    content = patched(small_zkey, 10, 64, struct.pack("<I", 2**32 - 1))
    assert "too short for the 4294967295 contributions" in refusal(tmp_path, content)


def test_reversed_sections_read_the_same(tmp_path, small_zkey, small_key):
    bodies = [small_zkey[slice(*section_at(small_zkey, number))] for number in range(1, 11)]
    content = small_zkey[:12]
    for number, body in reversed(list(enumerate(bodies, 1))):
        content += struct.pack("<IQ", number, len(body)) + body
    assert read(tmp_path, content).verifying_key == small_key.verifying_key


@pytest.mark.shared
@pytest.mark.parametrize(
    ("path", "curve", "public", "contributions"),
    [
        ("circom_runtime/circuit.zkey", BN254, 4, 1),
        ("circom-compat/test.zkey", BN254, 1, 0),
        ("stellar-bls12381/multiplier2_0000.zkey", BLS12_381, 1, 0),
        ("stellar-bls12381/multiplier2_0001.zkey", BLS12_381, 1, 1),
        ("rarimo-authV2/circuit_final.zkey", BN254, 3, 12),
        ("unirep-signup/signup.zkey", BN254, 3, 5348),
        ("semaphore-20/semaphore-20.zkey", BN254, 4, 4),
        ("merkle20/merkle20.zkey", BN254, 2, 1),
        ("bls_merkle20/bls_merkle20.zkey", BLS12_381, 2, 1),
        ("edge/nopub/nopub.zkey", BN254, 0, 0),
        ("edge/malformed/x_rev.zkey", BN254, 1, 0),
    ],
)
def test_shipped_keys(shared_fixtures, path, curve, public, contributions):
    key = read_zkey(shared_fixtures / path)
    assert (key.curve, key.public_count, key.contributions) == (curve, public, contributions)
    assert not key.insecure
    assert len(read_contributions(shared_fixtures / path)) == contributions


@pytest.mark.shared
@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("edge/malformed/x_no9.zkey", r"section 9 \(H points\) is missing"),
        ("edge/malformed/x_dup4.zkey", r"section 4 \(coefficients\) appears twice"),
        ("edge/malformed/x_trunc.zkey", "the file ends after"),
        ("edge/malformed/x_sigoob.zkey", r"record 0: wire \d+ is out of bounds, there are 15 variables"),
        ("zkpy/zkey.zkey", "this key is for PLONK"),
    ],
)
def test_shipped_broken_keys_are_refused(shared_fixtures, path, reason):
    with pytest.raises(FormatError, match=reason):
        read_zkey(shared_fixtures / path)


@pytest.mark.shared
def test_rewritten_key_holds_the_same_sections(shared_fixtures):
    content = (shared_fixtures / "edge" / "mul13" / "mul13.zkey").read_bytes()
    again = b"".join(encode_zkey(read_zkey(shared_fixtures / "edge" / "mul13" / "mul13.zkey")))
    for number in range(1, 10):
        assert again[slice(*section_at(again, number))] == content[slice(*section_at(content, number))], (
            number
        )
