"""What files are, and what is wrong with them."""

import json

import pytest

from kernels.curves import BN254
from proving.formats.inspect import describe
from proving.formats.snarkjs import proof_to_json, verifying_key_to_json
from proving.formats.words import to_words
from proving.formats.wtns import Witness, write_witness
from proving.groth16.objects import Proof


def written(tmp_path, content):
    path = tmp_path / "file"
    path.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
    return path


def test_development_key_is_called_insecure(tmp_path, small_zkey):
    described = describe(written(tmp_path, small_zkey))
    assert described.kind == "proving key (zkey)"
    assert not described.problems
    assert "INSECURE" in dict(described.facts)["trust"]
    assert dict(described.facts)["curve"] == "bn254"
    assert str(described).startswith(f"{tmp_path / 'file'}: proving key")


def test_key_with_a_bad_point_says_which(tmp_path, small_zkey, small_key):
    point = small_key.points.h[1].tobytes()
    described = describe(written(tmp_path, small_zkey.replace(point, b"\x05" + bytes(63))))
    assert described.problems == ("section 9 (H points): point 1 is not in the group of bn254",)


def test_witness_says_no_values(tmp_path):
    write_witness(tmp_path / "w", Witness(BN254, to_words([1, 123456789])))
    described = describe(tmp_path / "w")
    assert dict(described.facts) == {"curve": "bn254", "values": "2"}
    assert "123456789" not in str(described)


@pytest.mark.parametrize(
    ("name", "kind"),
    [("arrays.r1cs", "constraint system (r1cs)"), ("arrays.wasm", "witness generator (wasm)")],
)
def test_compiled_circuits(compiled, name, kind):
    described = describe(compiled / name)
    assert described.kind == kind
    assert not described.problems


def test_json_kinds(tmp_path, small_key):
    key, curve = small_key.verifying_key, small_key.curve
    kinds = {
        "proof (JSON)": proof_to_json(Proof(curve, curve.g1, curve.g2, curve.g1)),
        "verifying key (JSON)": verifying_key_to_json(key),
        "public signals (JSON)": ["1", "2"],
        "JSON, perhaps inputs of a circuit": {"a": 1},
    }
    for kind, document in kinds.items():
        described = describe(written(tmp_path, document))
        assert described.kind == kind
        assert not described.problems, described.problems


def test_proof_with_a_point_off_the_curve(tmp_path):
    document = proof_to_json(Proof(BN254, (1, 3), BN254.g2, BN254.g1))
    assert describe(written(tmp_path, document)).problems == ("pi_a: the point is not in the group of bn254",)


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"", "header: no kind of file"),
        (b"hello", "header: no kind of file"),
        (b"ptau\1\0\0\0\0\0\0\0", "file: nothing here reads it"),
        (b"\0asm\1\0\0\0", "exports: not a witness generator"),
        (b"{", "line 1, column 2: not JSON"),
        (b'["x"]', "[0]: must be a decimal string"),
        (b'{"protocol": "plonk"}', "protocol: must be 'groth16'"),
        (b"zkey", "header: the file ends after 4 bytes"),
    ],
)
def test_what_is_wrong(tmp_path, content, problem):
    problems = describe(written(tmp_path, content)).problems
    assert len(problems) == 1
    assert problems[0].startswith(problem)


@pytest.mark.shared
def test_circom_1_generator(shared_fixtures):
    described = describe(shared_fixtures / "darkforest-whitelist" / "whitelist.wasm")
    assert described.facts == (("compiler", "circom 1"), ("curve", "bn254"))
