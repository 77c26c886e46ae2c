"""Proofs on hardware: every vector of the host device, short memory, a hundred jobs that leave nothing."""

from random import Random

import numpy as np
import pytest

from kernels.cuda.device import CudaDevice
from kernels.cuda.driver import Driver
from kernels.curves import BLS12_381, BN254, CURVES, Curve
from kernels.host import HostDevice
from proving.groth16.prover import prove, prove_sums
from proving.groth16.qap import RowOrder
from proving.groth16.setup import setup
from tests.unit.groth16.reference import product_chain, words

NAMES = ("a", "b1", "b2", "c", "h")
JOBS = 100
SLACK_BYTES = 64 * 2**20
"""What the driver may keep for itself between two readings."""


@pytest.mark.parametrize("curve", CURVES, ids=lambda curve: curve.name)
@pytest.mark.parametrize("order", list(RowOrder))
@pytest.mark.parametrize("length", [1, 2, 7, 100, 5000])
def test_the_sums_are_the_cpus(device: CudaDevice, curve: Curve, order: RowOrder, length: int) -> None:
    system, values = product_chain(curve, length)
    key, witness = setup(system, order=order), words(values)
    expected = prove_sums(HostDevice(), key, witness, None, None)
    for _ in range(2):
        found = prove_sums(device, key, witness, None, None)
        assert all(np.array_equal(getattr(found, name), getattr(expected, name)) for name in NAMES)
    assert device.take_faults() == []
    prove(device, key, witness)


def test_a_key_that_does_not_fit_is_streamed(driver: Driver) -> None:
    system, values = product_chain(BN254, 3000)
    key, witness = setup(system), words(values)
    device = CudaDevice("cuda", driver, budget_bytes=1000)
    prove(device, key, witness)
    assert device.resident_keys() == []
    assert device.take_faults() == []


def test_a_hundred_jobs_leave_nothing(driver: Driver) -> None:
    """Three circuits, two curves, keys that push each other out."""
    random = Random(3)
    statements = []
    for curve, length in ((BN254, 4000), (BLS12_381, 1000), (BN254, 200)):
        system, values = product_chain(curve, length)
        statements.append((setup(system), words(values)))
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
