"""Proofs on hardware: every vector of the host device, short memory, a hundred jobs that leave nothing."""

from random import Random

import numpy as np
import pytest

from kernels.cuda.device import CudaDevice
from kernels.cuda.driver import Driver
from kernels.curves import BLS12_381, BN254, CURVES, Curve
from kernels.host import HostDevice
from proving.groth16.prover import prove, prove_sums
from proving.groth16.proving_key import ProvingKey
from proving.groth16.qap import RowOrder
from proving.groth16.setup import setup
from proving.synthesis.chain import dense_chain

pytestmark = pytest.mark.gpu

NAMES = ("a", "b1", "b2", "c", "h")
JOBS = 100
SLACK_BYTES = 64 * 2**20
"""What the driver may keep for itself between two readings."""


def statement(curve: Curve, length: int, order: RowOrder = RowOrder.SNARKJS) -> tuple[ProvingKey, np.ndarray]:
    """A key and a witness of a dense circuit."""
    system, witness = dense_chain(curve, length, Random(length))
    return setup(system, order=order), witness.values


@pytest.mark.parametrize("curve", CURVES, ids=lambda curve: curve.name)
@pytest.mark.parametrize("order", list(RowOrder))
@pytest.mark.parametrize("length", [3, 7, 100, 5000])
def test_the_sums_are_the_cpus(device: CudaDevice, curve: Curve, order: RowOrder, length: int) -> None:
    key, witness = statement(curve, length, order)
    expected = prove_sums(HostDevice(), key, witness, None, None)
    for _ in range(2):
        found = prove_sums(device, key, witness, None, None)
        assert all(np.array_equal(getattr(found, name), getattr(expected, name)) for name in NAMES)
    assert device.take_faults() == []
    prove(device, key, witness)


def test_a_key_that_does_not_fit_is_streamed(driver: Driver) -> None:
    key, witness = statement(BN254, 3000)
    device = CudaDevice("cuda", driver, budget_bytes=1000)
    prove(device, key, witness)
    assert device.resident_keys() == []
    assert device.take_faults() == []


def test_a_hundred_jobs_leave_nothing(driver: Driver) -> None:
    """Three circuits, two curves, keys that push each other out."""
    random = Random(3)
    circuits = ((BN254, 4000), (BLS12_381, 1000), (BN254, 200))
    statements = [statement(curve, length) for curve, length in circuits]
    first = CudaDevice("cuda", driver)
    for key, witness in statements:
        prove(first, key, witness)
    sizes = sorted(kept.bytes for kept in first.resident_keys())
    first._residents.clear()
    driver.trim()
    free, _ = driver.memory_info()

    device = CudaDevice("cuda", driver, budget_bytes=sizes[-1] + sizes[0])
    for _ in range(JOBS):
        prove(device, *random.choice(statements))

    assert device.take_faults() == []
    assert device.usable
    device._residents.clear()
    driver.trim()
    assert free - driver.memory_info()[0] < SLACK_BYTES
