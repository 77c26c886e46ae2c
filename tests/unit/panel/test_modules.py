"""The panel's pure modules, tested in node: text, model, insight, feed."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

HERE = Path(__file__).parent
PANEL = HERE.parents[2] / "proving" / "panel" / "static" / "panel"


def node_version() -> tuple[int, int] | None:
    if shutil.which("node") is None:
        return None
    told = subprocess.run(["node", "--version"], capture_output=True, text=True, check=True).stdout
    major, minor = re.match(r"v(\d+)\.(\d+)", told).groups()
    return int(major), int(minor)


def reads_modules(version: tuple[int, int]) -> bool:
    """Whether node takes a .js file without a package.json for a module where it looks like one."""
    return version >= (22, 7) or (20, 19) <= version < (21, 0)


@pytest.mark.node
@pytest.mark.parametrize("suite", sorted(path.name for path in HERE.glob("*.test.js")))
def test_module(suite: str) -> None:
    version = node_version()
    if version is None or not reads_modules(version):
        pytest.skip(f"node 20.19 or 22.7 is needed to test the panel's modules; here is {version or 'none'}")
    done = subprocess.run(
        ["node", "--no-warnings", "--test", "--test-reporter=tap", suite],
        cwd=HERE,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_pages_hold_no_inline_script_or_style_and_load_nothing_from_elsewhere() -> None:
    templates = (PANEL.parents[1] / "templates" / "panel").glob("*.html")
    for text in [path.read_text() for path in templates]:
        assert not re.search(r"<style|\sstyle=|\son\w+=|javascript:", text)
        assert all(match.group(1) for match in re.finditer(r"<script([^>]*src=)?", text))
        assert not re.search(r"(src|href)=[\"']?(https?:)?//", text)
    for path in PANEL.glob("*.*"):
        if path.suffix in {".js", ".css"}:
            assert "http" not in path.read_text().replace("http://www.w3.org", ""), path.name
