"""Prepared keys: the same proofs with fewer additions, and none of it where the file is not the key's."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from kernels.curves import CURVES, Curve
from kernels.engine import engine_name
from proving.formats.prepared import PAGE, path_beside
from proving.formats.snarkjs import read_proof, read_public
from proving.formats.wtns import write_witness
from proving.formats.zkey import read_zkey, write_zkey
from proving.groth16.setup import setup
from proving.groth16.verifier import verify
from proving.synthesis.chain import chain_circuit
from tests.unit.commands.conftest import Call

pytestmark = pytest.mark.skipif(engine_name() != "avx2", reason="only the AVX2 engine has tables")
PROGRAM = Path(sys.executable).with_name("cuzkweb")


class Prepared:
    """A key with its prepared file, and proofs from it."""

    def __init__(self, folder: Path, curve: Curve, constraints: int, kind: str) -> None:
        system, witness = chain_circuit(curve, constraints, kind)
        self.folder, self.zkey, self.wtns = folder, folder / "k.zkey", folder / "w.wtns"
        key = setup(system)
        self.verifying_key = key.verifying_key
        write_zkey(self.zkey, key)
        write_witness(self.wtns, witness)

    def prove(self) -> str:
        """Prove, verify, and give what was said on standard error."""
        outputs = ("--proof", self.folder / "p.json", "--public", self.folder / "q.json")
        words = (PROGRAM, "prove", "--zkey", self.zkey, "--wtns", self.wtns, *outputs)
        answer = subprocess.run(
            [str(word) for word in words], capture_output=True, text=True, timeout=60, check=False
        )
        assert answer.returncode == 0, answer.stderr
        proof = read_proof(self.folder / "p.json", self.verifying_key.curve)
        assert verify(self.verifying_key, proof, read_public(self.folder / "q.json")).valid
        return answer.stderr

    def spoil_points(self) -> None:
        """Make nonsense of the key's own points, with the size and time of the file as they were."""
        about = self.zkey.stat()
        points = read_zkey(self.zkey).points.a.tobytes()
        body = self.zkey.read_bytes().replace(points, bytes([7]) * len(points))
        self.zkey.write_bytes(body)
        os.utime(self.zkey, ns=(about.st_atime_ns, about.st_mtime_ns))


@pytest.mark.parametrize("rows", [2, 4, 8, 16])
@pytest.mark.parametrize("circuit", [(300, "dense"), (300, "bits"), (13, "dense")])
@pytest.mark.parametrize("curve", CURVES, ids=lambda curve: curve.name)
def test_proofs_come_from_the_multiples(
    curve: Curve, circuit: tuple[int, str], rows: int, tmp_path: Path, call: Call
) -> None:
    prepared = Prepared(tmp_path, curve, *circuit)
    assert call("prepare", "--zkey", prepared.zkey, "--multiples", rows) == 0
    assert "MiB beside a key of" in call.out
    prepared.spoil_points()
    assert prepared.prove() == ""


@pytest.fixture
def prepared(tmp_path: Path, call: Call) -> Prepared:
    made = Prepared(tmp_path, CURVES[0], 100, "dense")
    assert call("prepare", "--zkey", made.zkey) == 0
    return made


def test_a_spoilt_file_costs_time_alone(prepared: Prepared) -> None:
    path = path_beside(prepared.zkey)
    body = bytearray(path.read_bytes())
    body[PAGE:] = bytes([9]) * (len(body) - PAGE)
    path.write_bytes(body)
    assert prepared.prove() == ""


@pytest.mark.parametrize("cut", [0, 100, 5000])
def test_a_short_file_is_left_aside(prepared: Prepared, cut: int) -> None:
    path = path_beside(prepared.zkey)
    path.write_bytes(path.read_bytes()[:cut])
    assert "left aside" in prepared.prove() or cut < PAGE


def test_the_file_of_another_key_is_left_aside(prepared: Prepared) -> None:
    os.utime(prepared.zkey)
    assert "run cuzkweb prepare again" in prepared.prove()


def test_a_key_with_points_off_the_curve_is_not_prepared(prepared: Prepared, call: Call) -> None:
    path_beside(prepared.zkey).unlink()
    prepared.spoil_points()
    call.assert_refused("prepare", "--zkey", prepared.zkey, because="k.zkey")
    assert not path_beside(prepared.zkey).exists()


def test_nothing_is_left_when_the_disk_refuses(prepared: Prepared, call: Call) -> None:
    path = path_beside(prepared.zkey)
    path.unlink()
    path.mkdir()
    shutil.copy(prepared.wtns, path / "in-the-way")
    assert call("prepare", "--zkey", prepared.zkey) == 1
    assert sorted(entry.name for entry in prepared.folder.iterdir()) == [
        "k.zkey",
        "k.zkey.prepared",
        "w.wtns",
    ]
