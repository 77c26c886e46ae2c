"""The threat model's promises that can be read off the source, and that each of its lines has its test."""

import ast
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import REPOSITORY

MODEL = REPOSITORY / "docs" / "THREAT_MODEL.md"
UNSAFE_MODULES = {
    "pickle",
    "cPickle",
    "_pickle",
    "marshal",
    "shelve",
    "dill",
    "cloudpickle",
    "joblib",
    "jsonpickle",
}
UNSAFE_CALLS = {"eval", "exec", "compile", "__import__"}


def sources() -> Iterator[tuple[Path, ast.Module]]:
    for package in ("cuzkweb", "proving", "kernels"):
        for path in sorted((REPOSITORY / package).rglob("*.py")):
            yield path, ast.parse(path.read_text())


def test_nothing_can_be_unpickled() -> None:
    for path, tree in sources():
        for node in ast.walk(tree):
            names = (
                [alias.name for alias in node.names]
                if isinstance(node, ast.Import)
                else [node.module or ""]
                if isinstance(node, ast.ImportFrom)
                else []
            )
            assert not {name.split(".")[0] for name in names} & UNSAFE_MODULES, path


def test_numpy_loads_no_objects() -> None:
    calls = [
        (path, call)
        for path, tree in sources()
        for call in ast.walk(tree)
        if isinstance(call, ast.Call)
        and isinstance(call.func, ast.Attribute)
        and call.func.attr == "load"
        and isinstance(call.func.value, ast.Name)
        and call.func.value.id in {"np", "numpy"}
    ]
    assert calls
    for path, call in calls:
        given = {word.arg: ast.unparse(word.value) for word in call.keywords}
        assert given.get("allow_pickle") == "False", path


def test_no_text_becomes_code_and_no_shell_is_started() -> None:
    for path, tree in sources():
        for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
            if isinstance(call.func, ast.Name):
                assert call.func.id not in UNSAFE_CALLS, (path, call.lineno)
            assert not any(
                word.arg == "shell" and ast.unparse(word.value) != "False" for word in call.keywords
            ), (path, call.lineno)
            assert ast.unparse(call.func) not in {"os.system", "os.popen"}, (path, call.lineno)


def test_randomness_that_matters_is_the_operating_systems() -> None:
    """The module `random` can be told what to draw: it spreads retries, and makes circuits to measure."""
    others = {"proving/services/deliver.py", "proving/tracker/transaction.py", "proving/synthesis/chain.py"}
    for path, tree in sources():
        if str(path.relative_to(REPOSITORY)) in others:
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                assert "random" not in {alias.name for alias in node.names}, path
            if isinstance(node, ast.Attribute) and node.attr == "random":
                assert ast.unparse(node) not in {"np.random", "numpy.random"}, path


def test_djangos_own_checks_find_nothing_in_a_deployment(tmp_path: Path) -> None:
    environment = {
        **os.environ,
        "CUZKWEB_HOME": str(tmp_path),
        "CUZKWEB_SECRET_KEY": "of-fifty-characters-or-more-and-not-a-word-of-any-book",
        "CUZKWEB_ALLOWED_HOSTS": "prove.example.org",
        "CUZKWEB_BEHIND_TLS": "1",
        "DATABASE_URL": "postgresql://cuzkweb:secret@database/cuzkweb",
        "REDIS_URL": "rediss://:secret@redis/0",
    }

    ran = subprocess.run(
        [sys.executable, "manage.py", "check", "--deploy", "--fail-level", "WARNING"],
        env=environment,
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=False,
    )

    assert ran.returncode == 0, ran.stderr
    assert "no issues (0 silenced)" in ran.stdout


def named_in_the_model() -> list[str]:
    return re.findall(r"`(tests/[\w/]+\.py::\w+)`", MODEL.read_text())


def test_the_model_names_tests() -> None:
    assert len(named_in_the_model()) >= 20


@pytest.mark.parametrize("name", named_in_the_model())
def test_each_line_of_the_model_has_its_test(name: str) -> None:
    path, function = name.split("::")
    assert re.search(rf"^(async )?def {function}\(", (REPOSITORY / path).read_text(), re.MULTILINE), name


def test_each_line_of_the_model_names_one() -> None:
    lines = [line for line in MODEL.read_text().splitlines() if line.startswith("| ") and "---" not in line]
    promises = [line for line in lines if not line.startswith(("| Promise", "| Who"))]
    promises = [line for line in promises if line.count("|") == 3 and not line.startswith("| **")]
    bare = [line for line in promises if "`tests/" not in line]
    assert promises
    assert bare == []
