"""From a compiled circuit and an input to a verified proof, and clear words where the circuit refuses."""

import json
from pathlib import Path

import pytest

from proving.formats.snarkjs import read_proof, read_public, read_verifying_key
from proving.formats.wtns import read_witness
from tests.conftest import REPOSITORY
from tests.unit.commands.conftest import Call
from tests.unit.groth16.reference import verifies

FIXTURES = REPOSITORY / "tests" / "fixtures"
PUBLIC = {
    "multiplier": ["33"],
    "multiplier_bls12381": None,
    "rows14": None,
    "rows15": None,
    "asserting": ["81"],
}


def wasm(name: str) -> Path:
    return FIXTURES / "compiled" / f"{name}.wasm"


def inputs(name: str) -> Path:
    return FIXTURES / "inputs" / f"{name}.json"


def prove_fixture(name: str, folder: Path, call: Call) -> tuple[Path, Path, Path]:
    """Set up, prove and verify one circuit; the paths of verifying key, proof and public signals."""
    zkey, vkey, proof, public = (
        folder / file for file in ("key.zkey", "vkey.json", "proof.json", "public.json")
    )
    r1cs = FIXTURES / "compiled" / f"{name}.r1cs"
    assert call("setup", "--r1cs", r1cs, "--zkey", zkey, "--vkey", vkey) == 0
    made = ["--wasm", wasm(name), "--input", inputs(name), "--proof", proof, "--public", public]
    assert call("prove", "--zkey", zkey, *made) == 0
    assert call.err == ""
    assert call("verify", "--vkey", vkey, "--proof", proof, "--public", public) == 0
    return vkey, proof, public


@pytest.mark.parametrize("name", PUBLIC)
def test_setup_prove_verify(name: str, tmp_path: Path, call: Call) -> None:
    vkey, proof, public = prove_fixture(name, tmp_path, call)
    assert verifies(read_verifying_key(vkey), read_proof(proof), read_public(public))
    if PUBLIC[name] is not None:
        assert json.loads(public.read_text()) == PUBLIC[name]


@pytest.mark.node
@pytest.mark.parametrize("name", ["rows14", "multiplier_bls12381"])
def test_snarkjs_verifies_too(name: str, tmp_path: Path, call: Call, snarkjs) -> None:
    vkey, proof, public = (json.loads(path.read_text()) for path in prove_fixture(name, tmp_path, call))
    assert snarkjs.verify(vkey, public, proof)


def test_a_witness_file_is_its_owners_alone(tmp_path: Path, call: Call) -> None:
    path = tmp_path / "w.wtns"
    assert call("witness", "--wasm", wasm("multiplier"), "--input", inputs("multiplier"), "--wtns", path) == 0
    assert read_witness(path).public(1) == [33]
    assert path.stat().st_mode & 0o777 == 0o600


def test_the_circuits_log_is_shown_by_witness_but_not_by_prove(tmp_path: Path, call: Call) -> None:
    arguments = ["--wasm", wasm("asserting"), "--input", inputs("asserting")]
    assert call("witness", *arguments, "--wtns", tmp_path / "w.wtns") == 0
    assert "value 9" in call.err
    assert call.out == ""


@pytest.mark.parametrize(
    ("text", "because"),
    [
        ('{"a": "3"}', "b"),
        ('{"a": "3", "b": "4", "c": "5"}', "c"),
        ('{"a": 1.5, "b": "4"}', "a"),
        ('{"a": ["3", "4"], "b": "4"}', "a"),
        ("{", "input.json"),
        ("[]", "input.json"),
        ("", "input.json"),
    ],
)
def test_an_input_that_does_not_fit_is_named(text: str, because: str, tmp_path: Path, call: Call) -> None:
    path = tmp_path / "input.json"
    path.write_text(text)
    wtns = tmp_path / "w.wtns"
    arguments = ["--wasm", wasm("multiplier"), "--input", path, "--wtns", wtns]
    call.assert_refused("witness", *arguments, because=f"{path}: ")
    assert because in call.err
    assert not wtns.exists()


def test_an_assertion_of_the_circuit_is_named(tmp_path: Path, call: Call) -> None:
    path = tmp_path / "input.json"
    path.write_text('{"value": "10"}')
    arguments = ["--wasm", wasm("asserting"), "--input", path, "--wtns", tmp_path / "w.wtns"]
    call.assert_refused("witness", *arguments, because="SmallValue")


def test_a_generator_of_another_circuit(tmp_path: Path, call: Call) -> None:
    zkey, proof, public = (tmp_path / file for file in ("key.zkey", "proof.json", "public.json"))
    assert call("setup", "--r1cs", FIXTURES / "compiled" / "rows15.r1cs", "--zkey", zkey) == 0
    results = ["--proof", proof, "--public", public]
    made = ["--wasm", wasm("multiplier"), "--input", inputs("multiplier")]
    call.assert_refused("prove", "--zkey", zkey, *made, *results, because="key wants")
    made = ["--wasm", wasm("multiplier_bls12381"), "--input", inputs("multiplier_bls12381")]
    call.assert_refused("prove", "--zkey", zkey, *made, *results, because="does not match the key's")
    assert not proof.exists()


def test_a_file_that_is_no_generator(tmp_path: Path, call: Call) -> None:
    arguments = [
        "--wasm",
        inputs("multiplier"),
        "--input",
        inputs("multiplier"),
        "--wtns",
        tmp_path / "w.wtns",
    ]
    call.assert_refused("witness", *arguments, because="multiplier.json")
