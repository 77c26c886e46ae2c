"""Put on PYTHONPATH, this makes the CPU answer to the names of two GPUs, for tests of what drives them.

CUZK_TEST_WRONG names a device whose sums are wrong, CUZK_TEST_BREAKS one that breaks once in a home.
"""

import os
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import kernels.cuda.cupy_driver
import kernels.cuda.device
from kernels.device import ProverSums
from kernels.host import HostDevice


class PretendedGpu:
    """One proof computes at a time; whatever else a proof takes, others may do meanwhile."""

    evaluates, bounded = True, False

    def __init__(self, ordinal: int, threads: int) -> None:
        self.name, self.model = f"cuda:{ordinal}", "pretended"
        self._host = HostDevice(threads=threads)
        self._turn = threading.Lock()
        self._faults: list[str] = []
        self.usable = True

    def __getattr__(self, name: str) -> Any:
        return getattr(self._host, name)

    def prove(self, *arguments: Any, **options: Any) -> ProverSums:
        with self._turn:
            sums = self._host.prove(*arguments, **options)
        if os.environ.get("CUZK_TEST_BREAKS") == self.name and self._is_first():
            self.usable = False
            self._faults.append("the driver reports: the launch failed")
        return replace(sums, a=sums.h) if os.environ.get("CUZK_TEST_WRONG") == self.name else sums

    def take_faults(self) -> list[str]:
        taken, self._faults = self._faults, []
        return taken

    def _is_first(self) -> bool:
        try:
            (Path(os.environ["CUZKWEB_HOME"]) / "broken").touch(exist_ok=False)
        except FileExistsError:
            return False
        return True


def pretend(ordinal: int, budget_bytes: int | None = None, threads: int = 0) -> PretendedGpu:
    return PretendedGpu(ordinal, threads)


kernels.cuda.device.open_cuda_device = pretend  # type: ignore[assignment]
kernels.cuda.cupy_driver.device_count = lambda: 2
