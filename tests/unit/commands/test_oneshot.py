"""The native `prove`: the proofs that the Python program makes, and what is odd left to that program."""

import json
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from kernels.curves import CURVES, Curve
from proving.formats.snarkjs import proof_to_json, read_proof, read_public
from proving.formats.wtns import write_witness
from proving.formats.zkey import write_zkey
from proving.groth16.setup import setup
from proving.groth16.verifier import verify
from proving.synthesis.chain import chain_circuit
from tests.unit.commands.conftest import Circuit

PROGRAM = Path(sys.executable).with_name("cuzkweb")
LEFT_TO_PYTHON = 77


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program with a stand-in for the Python one beside it, so that what it leaves shows."""
    folder = tmp_path_factory.mktemp("program")
    program, python = folder / "cuzkweb", folder / "cuzkweb-python"
    shutil.copy(PROGRAM, program)
    python.write_text(f'#!/bin/sh\necho "$@"\nexit {LEFT_TO_PYTHON}\n')
    python.chmod(python.stat().st_mode | stat.S_IXUSR)
    return program


def run(program: Path, *arguments: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(program), *map(str, arguments)], capture_output=True, text=True, timeout=60, check=False
    )


def prove(
    program: Path, zkey: Path, wtns: Path, folder: Path, *more: object
) -> subprocess.CompletedProcess[str]:
    outputs = ("--proof", folder / "p.json", "--public", folder / "q.json")
    return run(program, "prove", "--zkey", zkey, "--wtns", wtns, *outputs, *more)


@pytest.mark.parametrize("kind", ["dense", "bits"])
@pytest.mark.parametrize("constraints", [2, 13, 300])
@pytest.mark.parametrize("curve", CURVES, ids=lambda curve: curve.name)
def test_proofs_verify(curve: Curve, constraints: int, kind: str, tmp_path: Path, alone: Path) -> None:
    system, witness = chain_circuit(curve, constraints, kind)
    key = setup(system)
    zkey, wtns, proof, public = (tmp_path / name for name in ("k.zkey", "w.wtns", "p.json", "q.json"))
    write_zkey(zkey, key)
    write_witness(wtns, witness)
    assert prove(alone, zkey, wtns, tmp_path).returncode == 0
    found = read_proof(proof, curve)
    assert read_public(public) == witness.public(1)
    assert verify(key.verifying_key, found, read_public(public)).valid
    assert proof.read_text() == json.dumps(proof_to_json(found), indent=1)
    assert public.read_text() == json.dumps([str(value) for value in witness.public(1)], indent=1)


@pytest.mark.parametrize("engine", ["portable", "auto"])
def test_every_engine_proves(
    engine: str, circuit: Circuit, tmp_path: Path, alone: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CUZKWEB_ENGINE", engine)
    assert prove(alone, circuit.zkey, circuit.wtns, tmp_path, "--threads", 1).returncode == 0


def test_proofs_of_one_witness_differ(circuit: Circuit, tmp_path: Path, alone: Path) -> None:
    proofs = set()
    for _ in range(3):
        assert prove(alone, circuit.zkey, circuit.wtns, tmp_path).returncode == 0
        proofs.add((tmp_path / "p.json").read_text())
    assert len(proofs) == 3


def test_times_are_shown_when_asked_for(circuit: Circuit, tmp_path: Path, alone: Path) -> None:
    assert prove(alone, circuit.zkey, circuit.wtns, tmp_path).stderr == ""
    report = json.loads(prove(alone, circuit.zkey, circuit.wtns, tmp_path, "--json").stderr)
    assert {"quotient", "c+h", "a+b", "verify"} <= report["stages"].keys()
    assert report["total"] >= sum(report["stages"].values()) - 1e-3
    assert " ms" in prove(alone, circuit.zkey, circuit.wtns, tmp_path, "--verbose").stderr


@pytest.mark.parametrize("cut", [0, 3, 11, 40, 200, -1])
def test_short_files_are_left_to_python(circuit: Circuit, tmp_path: Path, alone: Path, cut: int) -> None:
    for source in (circuit.zkey, circuit.wtns):
        short = tmp_path / "short"
        short.write_bytes(source.read_bytes()[:cut])
        files = (short, circuit.wtns) if source == circuit.zkey else (circuit.zkey, short)
        assert prove(alone, *files, tmp_path).returncode == LEFT_TO_PYTHON


@pytest.mark.parametrize(
    "more",
    [
        ("--r1cs", "x"),
        ("--device", "cuda:0"),
        ("--threads", "-1"),
        ("--threads", "two"),
        ("--zkey", "x"),
        ("--help",),
    ],
)
def test_other_lines_are_left_to_python(
    circuit: Circuit, tmp_path: Path, alone: Path, more: tuple[str, ...]
) -> None:
    answer = prove(alone, circuit.zkey, circuit.wtns, tmp_path, *more)
    assert answer.returncode == LEFT_TO_PYTHON
    assert answer.stdout.split()[-len(more) :] == list(more)
    assert not (tmp_path / "p.json").exists()


def test_a_line_may_join_flags_and_values(circuit: Circuit, tmp_path: Path, alone: Path) -> None:
    files = (f"--zkey={circuit.zkey}", f"--wtns={circuit.wtns}")
    outputs = (f"--proof={tmp_path / 'p.json'}", f"--public={tmp_path / 'q.json'}")
    assert run(alone, "prove", *files, *outputs, "--threads=1").returncode == 0


def test_a_coefficient_out_of_bounds_is_named(circuit: Circuit, tmp_path: Path) -> None:
    from proving.formats.zkey import read_zkey

    body = bytearray(circuit.zkey.read_bytes())
    place = bytes(body).index(read_zkey(circuit.zkey).coefficients.tobytes())
    body[place + 12 : place + 16] = (0xFFFFFF).to_bytes(4, "little")  # the wire of the first record
    odd = tmp_path / "odd.zkey"
    odd.write_bytes(body)
    answer = prove(PROGRAM, odd, circuit.wtns, tmp_path)
    assert (answer.returncode, answer.stderr.count("\n")) == (1, 1)
    assert "out of bounds" in answer.stderr
    assert not (tmp_path / "p.json").exists()


def test_a_wrong_witness_yields_no_proof(circuit: Circuit, tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.wtns"
    body = bytearray(circuit.wtns.read_bytes())
    body[-32] ^= 1  # the lowest byte of the last value
    wrong.write_bytes(body)
    answer = prove(PROGRAM, circuit.zkey, wrong, tmp_path)
    assert (answer.returncode, answer.stderr.count("\n")) == (1, 1)
    assert "does not satisfy" in answer.stderr
    assert not (tmp_path / "p.json").exists()


def test_an_absent_file_and_folder_are_named(circuit: Circuit, tmp_path: Path) -> None:
    answer = prove(PROGRAM, tmp_path / "none", circuit.wtns, tmp_path)
    assert (answer.returncode, answer.stderr) == (
        1,
        f"cuzkweb: {tmp_path / 'none'}: No such file or directory\n",
    )
    answer = prove(PROGRAM, circuit.zkey, circuit.wtns, tmp_path / "nowhere")
    assert (answer.returncode, answer.stderr.count("\n")) == (1, 1)
    assert f"{tmp_path / 'nowhere'}" in answer.stderr
    assert "No such file or directory" in answer.stderr


def test_other_commands_reach_python() -> None:
    assert run(PROGRAM, "--version").stdout.startswith("cuzkweb ")
    assert run(PROGRAM, "no-such-command").returncode == 2
