"""Whatever byte of a file is changed or wherever it is cut: it reads, or it is refused by name."""

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kernels.curves import BLS12_381, BN254
from proving.formats.bellman import read_parameters, validate_queries
from proving.formats.calldata import proof_to_calldata
from proving.formats.coats import Coat, FullVerifyingKey, proof_to_bytes, verifying_key_to_bytes
from proving.formats.errors import FormatError
from proving.formats.inspect import describe
from proving.formats.r1cs import encode_r1cs, read_r1cs
from proving.formats.recognise import proof_readings, read_any_key
from proving.formats.snarkjs import proof_to_json, read_proof, read_verifying_key, verifying_key_to_json
from proving.formats.words import to_words
from proving.formats.wtns import Witness, encode_witness, read_witness
from proving.formats.zkey import encode_zkey, read_contributions, read_zkey
from proving.groth16.objects import Proof

KINDS = ["zkey", "wtns", "r1cs", "proof", "verifying key", "module"]
DEAR = ["parameters", "arkworks key", "gnark key", "bellman proofs", "calldata", "gnark proof"]
fuzzed = settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


seldom = settings(fuzzed, max_examples=15)  # square roots in Python take their time


@pytest.fixture(scope="module")
def originals(small_key, compiled):
    curve = small_key.curve
    proof = Proof(curve, curve.g1, curve.g2, None)
    full = FullVerifyingKey(small_key.verifying_key, small_key.beta_g1, small_key.delta_g1)
    return {
        "zkey": (b"".join(encode_zkey(small_key)), (read_zkey, read_contributions)),
        "wtns": (b"".join(encode_witness(Witness(curve, to_words([1, 33, 3, 11])))), (read_witness,)),
        "r1cs": (b"".join(encode_r1cs(read_r1cs(compiled / "arrays.r1cs"))), (read_r1cs,)),
        "proof": (json.dumps(proof_to_json(proof)).encode(), (read_proof,)),
        "verifying key": (
            json.dumps(verifying_key_to_json(small_key.verifying_key)).encode(),
            (read_verifying_key,),
        ),
        "module": ((compiled / "silent.wasm").read_bytes()[:6000], ()),
        "parameters": ((compiled.parent / "bellman" / "chain.params").read_bytes(), (whole_parameters,)),
        "arkworks key": (verifying_key_to_bytes(full, Coat.ARKWORKS), (read_any_key,)),
        "gnark key": (verifying_key_to_bytes(full, Coat.GNARK_RAW), (read_any_key,)),
        "bellman proofs": (2 * (compiled.parent / "bellman" / "chain.proof").read_bytes(), (bls_proofs,)),
        "calldata": (proof_to_calldata(proof, [33]).encode(), (bn254_proofs,)),
        "gnark proof": (proof_to_bytes(proof, Coat.GNARK), (bn254_proofs,)),
    }


def whole_parameters(path):
    validate_queries(read_parameters(path), threads=1)


def bls_proofs(path):
    proof_readings(path.read_bytes(), BLS12_381, str(path))


def bn254_proofs(path):
    proof_readings(path.read_bytes(), BN254, str(path))


def refusal(read, path):
    try:
        read(path)
    except FormatError as error:
        return error
    return None


def read_or_refuse(tmp_path, content, readers):
    path = tmp_path / "file"
    path.write_bytes(content)
    for error in filter(None, (refusal(read, path) for read in readers)):
        assert error.file == str(path)
        assert error.place
        assert error.reason
    describe(path)


@pytest.mark.parametrize("kind", KINDS)
@fuzzed
@given(data=st.data())
def test_one_changed_byte(tmp_path, originals, kind, data):
    change_one_byte(tmp_path, *originals[kind], data)


@pytest.mark.parametrize("kind", DEAR)
@seldom
@given(data=st.data())
def test_one_changed_byte_of_points(tmp_path, originals, kind, data):
    change_one_byte(tmp_path, *originals[kind], data)


def change_one_byte(tmp_path, content, readers, data):
    place = data.draw(st.integers(0, len(content) - 1) | st.integers(0, min(200, len(content) - 1)))
    value = data.draw(st.integers(0, 255))
    read_or_refuse(tmp_path, content[:place] + bytes([value]) + content[place + 1 :], readers)


@pytest.mark.parametrize("kind", KINDS)
@fuzzed
@given(data=st.data())
def test_cut_or_doubled(tmp_path, originals, kind, data):
    cut_or_double(tmp_path, *originals[kind], data)


@pytest.mark.parametrize("kind", DEAR)
@seldom
@given(data=st.data())
def test_cut_or_doubled_points(tmp_path, originals, kind, data):
    cut_or_double(tmp_path, *originals[kind], data)


def cut_or_double(tmp_path, content, readers, data):
    start = data.draw(st.integers(0, len(content)))
    end = data.draw(st.integers(0, len(content)))
    read_or_refuse(tmp_path, content[:start] + content[end:], readers)


@fuzzed
@given(
    content=st.binary(max_size=64), magic=st.sampled_from([b"zkey", b"wtns", b"r1cs", b"\0asm", b"{", b"["])
)
def test_noise_behind_a_magic_word(tmp_path, content, magic):
    read_or_refuse(tmp_path, magic + content, (read_zkey, read_witness, read_r1cs, read_proof))
