"""The audit of dependencies fails for known faults, and never takes silence for health."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import REPOSITORY

LOCK = "first==1.0 \\\n    --hash=sha256:00\nsecond==2.0 \\\n    --hash=sha256:01\n"
FAULT = {"id": "PYSEC-1", "fix_versions": ["1.1"]}


def audit(folder: Path, answer: str) -> subprocess.CompletedProcess[str]:
    """Run it with a pip-audit that answers so."""
    (folder / "prod.lock").write_text(LOCK)
    program = folder / "pip-audit"
    program.write_text(f"#!{sys.executable}\nprint({answer!r})\n")
    program.chmod(0o755)
    command = [sys.executable, REPOSITORY / ".ci" / "audit", program, folder / "prod.lock"]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)


def packages(*found: dict[str, object]) -> str:
    return json.dumps({"dependencies": list(found)})


def test_a_known_fault_fails(tmp_path: Path) -> None:
    first = {"name": "first", "version": "1.0", "vulns": [FAULT]}
    ran = audit(tmp_path, packages(first, {"name": "second", "version": "2.0", "vulns": []}))
    assert ran.returncode == 1
    assert "first 1.0: PYSEC-1, mended in 1.1" in ran.stdout
    assert "INCOMPLETE" not in ran.stdout


@pytest.mark.parametrize(
    "answer",
    ["", "not JSON", packages(*({"name": name, "skip_reason": "not found"} for name in ("first", "second")))],
)
def test_silence_is_told(tmp_path: Path, answer: str) -> None:
    ran = audit(tmp_path, answer)
    assert ran.returncode == 0
    assert "AUDIT INCOMPLETE: the service of known faults answered for 0 of 2 packages" in ran.stdout


def test_health_is_told(tmp_path: Path) -> None:
    sound = [{"name": name, "version": "1.0", "vulns": []} for name in ("first", "second")]
    ran = audit(tmp_path, packages(*sound))
    assert (ran.returncode, "INCOMPLETE" in ran.stdout) == (0, False)
    assert ran.stdout.strip().endswith("0 known faults in 2 of 2 packages that could be asked about")
