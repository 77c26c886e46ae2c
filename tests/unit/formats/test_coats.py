"""Binary forms of other libraries, against what those libraries wrote."""

import base64
import json
from dataclasses import replace

import pytest

from kernels.curves import BLS12_381, BN254, CURVES, curve_by_name
from proving.formats.coats import (
    Coat,
    FullVerifyingKey,
    proof_from_bytes,
    proof_to_bytes,
    verifying_key_from_bytes,
    verifying_key_to_bytes,
)
from proving.formats.errors import FormatError
from proving.formats.inspect import describe
from proving.formats.recognise import key_from_content, proof_readings, verify_readings
from proving.formats.snarkjs import proof_from_json, verifying_key_from_json
from proving.groth16.objects import Proof
from proving.groth16.verifier import verify
from tests.unit.groth16.reference import LIBRARIES, group_point, plain_point, times

ARKWORKS = {Coat.ARKWORKS: "", Coat.ARKWORKS_UNCOMPRESSED: "_uncompressed"}
GNARK = {Coat.GNARK: "", Coat.GNARK_RAW: "_raw"}
SETS = {"arkworks": (ARKWORKS, [33, 363]), "gnark": (GNARK, [35, 105])}
CASES = [(name, curve.name, coat) for name, (coats, _) in SETS.items() for curve in CURVES for coat in coats]


@pytest.fixture(params=CASES, ids=lambda case: f"{case[2]}-{case[1]}")
def vector(request, compiled):
    name, curve, coat = request.param
    coats, public = SETS[name]
    written = json.loads((compiled.parent / name / "vectors.json").read_text())[curve]
    key, proof = (bytes.fromhex(written[what + coats[coat]]) for what in ("vk", "proof"))
    return curve_by_name(curve), coat, key, proof, public


def test_what_others_wrote_verifies_here(vector):
    curve, coat, key, proof, public = vector
    verifying = verifying_key_from_bytes(key, coat, curve).key
    assert verify(verifying, proof_from_bytes(proof, coat, curve), public).valid
    assert not verify(verifying, proof_from_bytes(proof, coat, curve), [public[0] + 1, public[1]]).valid


def test_writing_gives_their_bytes_again(vector):
    curve, coat, key, proof, _ = vector
    assert verifying_key_to_bytes(verifying_key_from_bytes(key, coat, curve), coat) == key
    assert proof_to_bytes(proof_from_bytes(proof, coat, curve), coat) == proof


def test_forms_are_recognised(vector):
    curve, coat, key, proof, public = vector
    verifying = verifying_key_from_bytes(key, coat, curve).key
    assert key_from_content(key).key == verifying
    assert key_from_content(key, form=str(coat), curve=curve).key == verifying
    assert verify_readings(verifying, proof_readings(proof, curve), [public]).valid
    assert verify_readings(verifying, proof_readings(proof, curve, form=str(coat)), [public]).valid


def test_cut_files_are_refused_by_place(vector):
    curve, coat, key, proof, _ = vector
    for size in (0, 1, 31, len(key) // 2, len(key) - 1):
        with pytest.raises(FormatError):
            verifying_key_from_bytes(key[:size], coat, curve)
    for data in (proof[:-1], proof + b"\0", b""):
        with pytest.raises(FormatError):
            proof_from_bytes(data, coat, curve)


@pytest.mark.parametrize("coat", [Coat.BELLMAN, *ARKWORKS, *GNARK])
@pytest.mark.parametrize("curve", CURVES, ids=lambda curve: curve.name)
def test_infinities_and_both_signs_come_back(curve, coat):
    if curve is BN254 and coat is Coat.BELLMAN:
        with pytest.raises(ValueError, match="has no form for bn254"):
            proof_to_bytes(Proof(curve, None, None, None), coat)
        return
    for scalar in (0, 1, -1, 2, -2, 7):
        proof = Proof(curve, times(curve, 1, scalar), times(curve, 2, scalar), times(curve, 1, -scalar))
        assert proof_from_bytes(proof_to_bytes(proof, coat), coat, curve) == proof


def test_a_form_that_keeps_more_points_wants_them(small_key, small_key_bls):
    for key, coats in ((small_key, GNARK), (small_key_bls, [*GNARK, Coat.BELLMAN])):
        full = FullVerifyingKey(key.verifying_key, key.beta_g1, key.delta_g1)
        for coat in coats:
            data = verifying_key_to_bytes(full, coat)
            assert verifying_key_from_bytes(data, coat, key.curve) == full
            with pytest.raises(ValueError, match="convert from a proving key"):
                verifying_key_to_bytes(FullVerifyingKey(key.verifying_key), coat)


@pytest.mark.parametrize("coat", [Coat.GNARK, Coat.GNARK_RAW, Coat.BELLMAN])
@pytest.mark.parametrize("name", ["beta_g1", "delta_g1"])
def test_a_point_that_only_provers_use_is_held_against_its_twin(small_key, small_key_bls, coat, name):
    made = small_key_bls if coat is Coat.BELLMAN else small_key
    good = FullVerifyingKey(made.verifying_key, made.beta_g1, made.delta_g1)
    assert key_from_content(verifying_key_to_bytes(good, coat)).full == good
    bad = replace(good, **{name: times(made.curve, 1, 7)})
    with pytest.raises(FormatError) as caught:
        key_from_content(verifying_key_to_bytes(bad, coat))
    assert caught.value.place == name


def test_a_point_off_the_curve_that_only_provers_use_is_refused(small_key):
    good = FullVerifyingKey(small_key.verifying_key, small_key.beta_g1, small_key.delta_g1)
    content = bytearray(verifying_key_to_bytes(good, Coat.GNARK_RAW))
    content[64 + 63] ^= 1  # beta in G1 is the second point
    with pytest.raises(FormatError, match="beta"):
        key_from_content(bytes(content))


@pytest.mark.parametrize("first", b'{["')
def test_points_that_begin_as_text_does_are_points(first, tmp_path):
    """A multiple of the generator whose first byte opens JSON, as one proof in a hundred has."""
    a = BN254.g1
    while a[0] & 0xFF != first:
        a = plain_point(BN254, LIBRARIES[BN254.name].add(group_point(BN254, a), group_point(BN254, BN254.g1)))
    proof = Proof(BN254, a, BN254.g2, BN254.g1)
    content = proof_to_bytes(proof, Coat.ARKWORKS)
    assert content[0] == first
    assert [reading.proofs for reading in proof_readings(content, BN254)] == [(proof,)]
    (tmp_path / "proof").write_bytes(content)
    assert "arkworks" in str(describe(tmp_path / "proof"))


def test_gnarks_commitments_are_refused():
    proof = proof_to_bytes(Proof(BN254, BN254.g1, BN254.g2, BN254.g1), Coat.GNARK)
    with pytest.raises(FormatError, match="1 commitments"):
        proof_from_bytes(proof[:128] + b"\0\0\0\1" + proof[96:128] + proof[132:], Coat.GNARK, BN254)
    assert proof_from_bytes(proof[:128], Coat.GNARK, BN254).a == BN254.g1  # as older versions wrote it


@pytest.mark.shared
def test_every_waves_vector(shared_fixtures):
    """Compressed bellman keys without a count, and the expected answers."""
    vectors = json.loads((shared_fixtures / "waves-bellman-vectors" / "vectors.json").read_text())["bls12381"]
    assert {vector["expect"] for vector in vectors} == {True, False}
    for vector in vectors:
        key, proof, inputs = (base64.b64decode(vector[f"{name}_b64"]) for name in ("vk", "proof", "inputs"))
        public = [int.from_bytes(inputs[start : start + 32], "big") for start in range(0, len(inputs), 32)]
        reading = key_from_content(key)
        assert reading.form == "waves"
        assert reading.key == verifying_key_from_json(vector["snarkjs"]["vk"])
        assert verifying_key_to_bytes(reading.full, Coat.WAVES) == key
        (found,) = proof_readings(proof, BLS12_381)
        assert found.proofs == (proof_from_json(vector["snarkjs"]["proof"]),)
        assert verify_readings(reading.key, [found], [public]).valid is vector["expect"]


SUI_BN254_KEY = """
53d75f472c207c7fcf6a34bc1e50cf0d7d2f983dd2230ffcaf280362d162c3871cae3e4f91b77eadaac316fe625e3764fb39af2bb5aa2500
7e9bc6b116f6f02f597ad7c28c4a33da5356e656dcef4660d7375973fe0d7b6dc642d51f16b6c8806030ca5b462a3502d560df7ff62b7f12
15195233f688320de19e4b3a2a2cb6120ae49bcc0abbd3cbbf06b29b489edbf86e3b679f4e247464992145f468e3c08db41e5e09002a7170
cb4cc56ae96b152d17b6b0d1b9333b41f2325c3c8a9d2e2df98f8e2315884fae52b3c6bb329df0359daac4eff4d2e7ce729078b10d79d42f
02000000000000001dcc52e058148a622c51acfdee6e181252ec0e9717653f0be1faaf2a68222e0dd2ccf4e1e8b088efccfdb955a1ff4a0f
d28ae2ccbe1a112449ddae8738fb40b0"""


def test_a_key_of_another_service_reads_as_it_says():
    """A BN254 key from the tests of Sui's groth16 module; there its -gamma and -delta are expected values."""
    reading = key_from_content(bytes.fromhex(SUI_BN254_KEY.replace("\n", "")))
    assert (reading.form, reading.key.curve, reading.key.public_count) == ("arkworks", BN254, 1)
    minus_gamma = "6030ca5b462a3502d560df7ff62b7f1215195233f688320de19e4b3a2a2cb6120ae49bcc0abbd3cbbf06b29b489edbf86e3b679f4e247464992145f468e3c00d"  # noqa: E501
    codec = Coat.ARKWORKS.codec(BN254)
    from kernels.curves import Group

    x, y = codec.decode(Group.G2, bytes.fromhex(minus_gamma), compressed=True)
    assert reading.key.gamma_g2 == (x, (-y[0] % BN254.q, -y[1] % BN254.q))
