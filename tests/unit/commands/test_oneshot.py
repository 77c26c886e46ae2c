"""The short way of `cuzkweb prove`: the same proof as the long way, and nothing where a file is odd."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from kernels.curves import CURVES, Curve
from proving.formats.snarkjs import proof_to_json, read_proof, read_public
from proving.formats.wtns import write_witness
from proving.formats.zkey import write_zkey
from proving.groth16.setup import setup
from proving.groth16.verifier import verify
from proving.oneshot.documents import encode, write_statement
from proving.oneshot.prover import Statement, prove_files
from proving.synthesis.chain import chain_circuit
from tests.unit.commands.conftest import Call, Circuit

THREADS = 2


@contextmanager
def untimed(_stage: str) -> Iterator[None]:
    yield


def attempt(zkey: Path, wtns: Path) -> Statement | None:
    return prove_files(zkey, wtns, THREADS, untimed)


@pytest.mark.parametrize("kind", ["dense", "bits"])
@pytest.mark.parametrize("constraints", [2, 13, 300])
@pytest.mark.parametrize("curve", CURVES, ids=lambda curve: curve.name)
def test_proofs_verify(curve: Curve, constraints: int, kind: str, tmp_path: Path) -> None:
    system, witness = chain_circuit(curve, constraints, kind)
    key = setup(system)
    zkey, wtns, proof, public = (tmp_path / name for name in ("k.zkey", "w.wtns", "p.json", "q.json"))
    write_zkey(zkey, key)
    write_witness(wtns, witness)
    statement = attempt(zkey, wtns)
    assert statement is not None
    write_statement(statement, proof, public)
    found = read_proof(proof, curve)
    assert read_public(public) == witness.public(1)
    assert verify(key.verifying_key, found, read_public(public)).valid
    assert proof.read_text() == json.dumps(proof_to_json(found), indent=1)


def test_json_is_that_of_the_standard_library() -> None:
    document = {"a": ["1", ["2", "3"]], "b": "4", "c": [], "d": {}}
    assert encode(document) == json.dumps(document, indent=1)


@pytest.mark.parametrize("cut", [0, 3, 11, 40, 200, -1])
def test_short_files_are_left_to_the_plain_way(circuit: Circuit, tmp_path: Path, cut: int) -> None:
    for source in (circuit.zkey, circuit.wtns):
        short = tmp_path / "short"
        short.write_bytes(source.read_bytes()[:cut])
        files = (short, circuit.wtns) if source == circuit.zkey else (circuit.zkey, short)
        assert attempt(*files) is None


def test_a_coefficient_out_of_bounds_is_left_to_the_plain_way(
    circuit: Circuit, tmp_path: Path, call: Call
) -> None:
    from proving.formats.zkey import read_zkey

    body = bytearray(circuit.zkey.read_bytes())
    place = bytes(body).index(read_zkey(circuit.zkey).coefficients.tobytes())
    body[place + 12 : place + 16] = (0xFFFFFF).to_bytes(4, "little")  # the wire of the first record
    odd = tmp_path / "odd.zkey"
    odd.write_bytes(body)
    assert attempt(odd, circuit.wtns) is None
    outputs = ["--proof", tmp_path / "p", "--public", tmp_path / "q"]
    call.assert_refused("prove", "--zkey", odd, "--wtns", circuit.wtns, *outputs, because="out of bounds")


def test_an_absent_file_is_an_error_of_the_system(circuit: Circuit, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        attempt(tmp_path / "none", circuit.wtns)
