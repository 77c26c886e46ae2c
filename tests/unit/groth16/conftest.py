import pytest

from kernels.curves import CURVES, Curve
from kernels.device import Device, open_device
from proving.groth16.prover import ProvedStatement, prove
from proving.groth16.proving_key import ProvingKey
from proving.groth16.setup import setup
from tests.node.snarkjs import snarkjs
from tests.unit.groth16.reference import product_chain, words

__all__ = ["snarkjs"]

Proved = tuple[ProvingKey, ProvedStatement]


@pytest.fixture(params=CURVES, ids=lambda curve: curve.name, scope="session")
def curve(request: pytest.FixtureRequest) -> Curve:
    return request.param


@pytest.fixture(scope="session")
def host() -> Device:
    return open_device("host", threads=2)


@pytest.fixture(scope="session")
def proved(curve: Curve, host: Device) -> Proved:
    """A small key and one proof made with it."""
    system, witness = product_chain(curve, 5)
    key = setup(system, threads=1)
    return key, prove(host, key, words(witness))
