"""snarkjs as an independent prover and verifier, run by node from the packages locked beside this file."""

import json
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).resolve().parent


@dataclass(frozen=True)
class Snarkjs:
    """The program, and a folder for the files that it reads and writes."""

    node: str
    program: Path
    folder: Path

    def verify(self, vkey: Any, public: Any, proof: Any) -> bool:
        """Whether snarkjs accepts a proof; all three as JSON documents."""
        paths = []
        for name, document in (("vkey", vkey), ("public", public), ("proof", proof)):
            paths.append(self.folder / f"{name}.json")
            paths[-1].write_text(json.dumps(document))
        return self.run("groth16", "verify", *paths).returncode == 0

    def prove(self, zkey: Path, wtns: Path) -> tuple[Any, Any]:
        """Proof and public signals by snarkjs from a key and a witness file."""
        proof, public = self.folder / "made_proof.json", self.folder / "made_public.json"
        done = self.run("groth16", "prove", zkey, wtns, proof, public)
        assert done.returncode == 0, done.stdout + done.stderr
        return json.loads(proof.read_text()), json.loads(public.read_text())

    def export_verifying_key(self, zkey: Path) -> Any:
        """The verifying key that snarkjs finds in a proving key."""
        path = self.folder / "exported_vkey.json"
        done = self.run("zkey", "export", "verificationkey", zkey, path)
        assert done.returncode == 0, done.stdout + done.stderr
        return json.loads(path.read_text())

    def run(self, *arguments: object) -> subprocess.CompletedProcess[str]:
        """One call of the program."""
        command = [self.node, str(self.program), *map(str, arguments)]
        return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)


@pytest.fixture
def snarkjs(tmp_path: Path) -> Snarkjs:
    node = shutil.which("node")
    program = HERE / "node_modules" / "snarkjs" / "build" / "cli.cjs"
    if node is None:
        pytest.skip("node is not on PATH")
    if not program.is_file():
        pytest.skip("the npm packages of tests/node are not installed (npm ci there)")
    folder = tmp_path / "snarkjs"
    folder.mkdir()
    return Snarkjs(node, program, folder)
