"""A GPU, where there is one. CUZKWEB_TEST_DEVICE names it (cuda:0 unless set)."""

import os
from collections.abc import Iterator

import pytest

from kernels.cuda.cupy_driver import open_driver
from kernels.cuda.device import CudaDevice
from kernels.cuda.driver import Driver
from kernels.cuda.images import compiled_images
from kernels.device import DeviceUnavailable
from tests.support.device_checks import Bench

NAME = os.environ.get("CUZKWEB_TEST_DEVICE", "cuda:0")


@pytest.fixture(scope="session")
def driver() -> Driver:
    try:
        return open_driver(int(NAME.partition(":")[2]), compiled_images())
    except DeviceUnavailable as reason:
        pytest.skip(f"not run on a GPU: {reason}")


@pytest.fixture(scope="session")
def bench(driver: Driver) -> Bench:
    return Bench(driver)


@pytest.fixture
def device(driver: Driver) -> Iterator[CudaDevice]:
    found = CudaDevice(NAME, driver)
    yield found
    found._residents.clear()
    driver.trim()
