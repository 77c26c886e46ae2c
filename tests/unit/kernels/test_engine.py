"""The choice of the engine, and what the native library is."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from kernels import engine, library

PROGRAM = "from kernels.engine import engine_name; print(engine_name())"


def ask(wanted: str | None) -> subprocess.CompletedProcess[str]:
    environment = {key: value for key, value in os.environ.items() if key != "CUZKWEB_ENGINE"}
    if wanted is not None:
        environment["CUZKWEB_ENGINE"] = wanted
    return subprocess.run(
        [sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True, check=False
    )


def test_the_portable_engine_is_always_there() -> None:
    assert "portable" in engine.available()
    assert ask("portable").stdout.strip() == "portable"


@pytest.mark.parametrize("wanted", [None, "auto", ""])
def test_the_fastest_engine_is_the_default(wanted: str | None) -> None:
    fastest = "avx2" if "avx2" in engine.available() else "portable"
    assert ask(wanted).stdout.strip() == fastest


def test_an_unknown_engine_is_an_error_that_names_it() -> None:
    found = ask("abacus")
    assert found.returncode != 0
    assert "EngineUnavailable" in found.stderr
    assert "'abacus'" in found.stderr


def test_use_changes_the_engine_of_this_process() -> None:
    before = engine.engine_name()
    try:
        for name in engine.available():
            engine.use(name)
            assert engine.engine_name() == name
    finally:
        engine.use(before)


def test_use_of_an_unknown_engine_changes_nothing() -> None:
    before = engine.engine_name()
    with pytest.raises(engine.EngineUnavailable, match="abacus"):
        engine.use("abacus")
    assert engine.engine_name() == before


def test_a_missing_library_says_what_to_do(
    monkeypatch: pytest.MonkeyPatch, tmp_path: os.PathLike[str]
) -> None:
    monkeypatch.setattr(library, "LIBRARY", Path(tmp_path) / "_native.so")
    with pytest.raises(ImportError, match="make setup"):
        library._open()
