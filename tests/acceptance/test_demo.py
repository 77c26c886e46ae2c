"""The demo as a stranger runs it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.processes import processes_of

pytestmark = pytest.mark.acceptance


def test_the_demo_proves_verifies_and_leaves_nothing_behind(tmp_path: Path) -> None:
    home = tmp_path / "demo"
    inherited = {name: text for name, text in os.environ.items() if name not in {"REDIS_URL", "DATABASE_URL"}}

    ran = subprocess.run(
        [sys.executable, "-m", "cuzkweb", "demo", "--once"],
        env={**inherited, "CUZKWEB_HOME": str(home)},
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
    )

    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert ran.stdout.count("verified 0:") == 4
    assert "4 proofs" in ran.stdout
    assert "each verified with the verifying key" in ran.stdout
    for address in ("panel", "admin", "API docs", "Flower"):
        assert f"\n{address}" in ran.stdout
    assert processes_of(home) == []
    assert not (home / "run" / "up.json").exists()
