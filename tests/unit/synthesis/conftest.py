"""Circuits compiled for the tests, and where compiled modules are kept."""

from pathlib import Path

import pytest

from proving.synthesis.wasm import WitnessGenerator

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures"


@pytest.fixture(scope="session")
def fixtures() -> Path:
    return FIXTURES


@pytest.fixture(scope="session")
def module_cache(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("modules")


@pytest.fixture(scope="session")
def generator(module_cache):
    """Opens a generator of the tests' own circuits by name."""
    opened: dict[str, WitnessGenerator] = {}

    def open_generator(name: str) -> WitnessGenerator:
        if name not in opened:
            opened[name] = WitnessGenerator(FIXTURES / "compiled" / f"{name}.wasm", cache_dir=module_cache)
        return opened[name]

    return open_generator
