"""Whatever byte of a file is changed or wherever it is cut: it reads, or it is refused by name."""

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from proving.formats.errors import FormatError
from proving.formats.inspect import describe
from proving.formats.r1cs import encode_r1cs, read_r1cs
from proving.formats.snarkjs import proof_to_json, read_proof, read_verifying_key, verifying_key_to_json
from proving.formats.words import to_words
from proving.formats.wtns import Witness, encode_witness, read_witness
from proving.formats.zkey import encode_zkey, read_contributions, read_zkey
from proving.groth16.objects import Proof

fuzzed = settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@pytest.fixture(scope="module")
def originals(small_key, compiled):
    curve = small_key.curve
    proof = Proof(curve, curve.g1, curve.g2, None)
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
    }


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


@pytest.mark.parametrize("kind", ["zkey", "wtns", "r1cs", "proof", "verifying key", "module"])
@fuzzed
@given(data=st.data())
def test_one_changed_byte(tmp_path, originals, kind, data):
    content, readers = originals[kind]
    place = data.draw(st.integers(0, len(content) - 1) | st.integers(0, min(200, len(content) - 1)))
    value = data.draw(st.integers(0, 255))
    read_or_refuse(tmp_path, content[:place] + bytes([value]) + content[place + 1 :], readers)


@pytest.mark.parametrize("kind", ["zkey", "wtns", "r1cs", "proof", "verifying key", "module"])
@fuzzed
@given(data=st.data())
def test_cut_or_doubled(tmp_path, originals, kind, data):
    content, readers = originals[kind]
    start = data.draw(st.integers(0, len(content)))
    end = data.draw(st.integers(0, len(content)))
    read_or_refuse(tmp_path, content[:start] + content[end:], readers)


@fuzzed
@given(
    content=st.binary(max_size=64), magic=st.sampled_from([b"zkey", b"wtns", b"r1cs", b"\0asm", b"{", b"["])
)
def test_noise_behind_a_magic_word(tmp_path, content, magic):
    read_or_refuse(tmp_path, magic + content, (read_zkey, read_witness, read_r1cs, read_proof))
