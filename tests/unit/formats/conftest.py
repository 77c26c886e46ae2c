"""Small files of each kind, made here."""

from pathlib import Path

import pytest

from proving.formats.r1cs import read_r1cs
from proving.formats.zkey import encode_zkey
from proving.groth16.setup import setup

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures"
COMPILED = FIXTURES / "compiled"


@pytest.fixture(scope="session")
def compiled() -> Path:
    return COMPILED


@pytest.fixture(scope="session")
def small_key():
    """A development key of the multiplier: 4 wires, 1 public signal."""
    return setup(read_r1cs(COMPILED / "multiplier.r1cs"))


@pytest.fixture(scope="session")
def small_key_bls():
    return setup(read_r1cs(COMPILED / "multiplier_bls12381.r1cs"))


@pytest.fixture(scope="session")
def small_zkey(small_key) -> bytes:
    """Its file."""
    return b"".join(encode_zkey(small_key))
