"""A device without hardware: launches, executed from the PTX that NVRTC makes of the kernels."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernels.launches import Launch
from kernels.modules import Module
from tests.support import device_code, ptx
from tests.support.ptx import Machine, Report
from tests.support.ptx.memory import Heap


class Simulated:
    """Global memory and the modules that launches name. `seed` is another order of blocks and atomics.

    `changed` maps a module's name to PTX that stands for its own.
    """

    def __init__(self, seed: int | None = None, changed: Mapping[str, str] | None = None) -> None:
        self.heap = Heap()
        self.seed = seed
        self.changed = changed or {}
        self.machines: dict[str, Machine] = {}
        self.report = Report()

    def upload(self, array: NDArray[Any] | bytes) -> int:
        """The address of a copy of the array."""
        return self._memory().upload(array)

    def reserve(self, size: int) -> int:
        """The address of memory that nobody has written."""
        return self._memory().reserve(size)

    def download(self, address: int, like: NDArray[Any]) -> NDArray[Any]:
        """What lies at the address, in the shape and type of `like`."""
        data = self._memory().download(address, like.nbytes)
        return np.frombuffer(data, like.dtype).reshape(like.shape)

    def run(self, launches: Iterable[Launch]) -> Report:
        """Run the launches in order; the report sums up all of this device's launches."""
        for launch in launches:
            done = self._machine(launch.module).launch(
                launch.kernel, launch.grid, launch.block, launch.arguments, shared_bytes=launch.shared_bytes
            )
            self.report.instructions += done.instructions
            self.report.race_count += done.race_count
            self.report.races += done.races
        return self.report

    def _memory(self) -> Machine:
        return self.machines.setdefault("", Machine(ptx.Module(), heap=self.heap))

    def _machine(self, module: Module) -> Machine:
        if module.name not in self.machines:
            text = self.changed.get(module.name)
            parsed = ptx.parse(text) if text is not None else device_code.ptx_module(module)
            self.machines[module.name] = Machine(parsed, self.seed, self.heap)
        return self.machines[module.name]


def without_line(text: str, is_meant: Callable[[str], bool], number: int) -> str:
    """The PTX without the `number`-th of the lines that are meant."""
    lines = text.split("\n")
    meant = [index for index, line in enumerate(lines) if is_meant(line.strip())]
    del lines[meant[number]]
    return "\n".join(lines)
