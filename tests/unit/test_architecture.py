"""The shape of the house: which way imports point, how long a file may be, what the text never mentions."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import REPOSITORY

SOURCE_SUFFIXES = {".py", ".cpp", ".hpp", ".js", ".css", ".html"}
LONGEST_FILE = 420
FOREIGN_WORDS = re.compile(
    r"/work/(main|shared|contract)|pypi\.org|registry\.npmjs|files\.pythonhosted", re.IGNORECASE
)


def tracked_files() -> list[Path]:
    listing = subprocess.run(
        ["git", "ls-files", "-z"], cwd=REPOSITORY, capture_output=True, check=False, text=True
    )
    if listing.returncode:
        pytest.skip("not a git checkout")
    paths = [REPOSITORY / name for name in listing.stdout.split("\0") if name]
    return [path for path in paths if path.is_file()]


def test_imports_point_one_way() -> None:
    done = subprocess.run(
        [Path(sys.executable).with_name("lint-imports"), "--no-cache"],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def is_written_by_hand(path: Path) -> bool:
    if path.suffix not in SOURCE_SUFFIXES or "migrations" in path.parts:
        return False
    with path.open() as lines:
        return "do not edit" not in lines.readline()


def test_no_source_file_has_grown_past_reading() -> None:
    long_files = {
        str(path.relative_to(REPOSITORY)): lines
        for path in tracked_files()
        if is_written_by_hand(path) and (lines := len(path.read_text().splitlines())) > LONGEST_FILE
    }
    assert long_files == {}


def test_the_project_speaks_of_itself_alone() -> None:
    mentions = []
    for path in tracked_files():
        if path.suffix in {".wasm", ".r1cs", ".wtns", ".zkey", ".png"} or path == Path(__file__):
            continue
        for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1):
            if FOREIGN_WORDS.search(line):
                mentions.append(f"{path.relative_to(REPOSITORY)}:{number}: {line.strip()[:80]}")
    assert mentions == []
