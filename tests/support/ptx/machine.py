"""Launching kernels: a device's memory, the module loaded into it, and what a launch reports."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tests.support.ptx.lanes import Launch
from tests.support.ptx.memory import Heap, Memories, Race
from tests.support.ptx.parse import Fault, Module
from tests.support.ptx.program import State, program_of
from tests.support.ptx.races import Shadow
from tests.support.ptx.schedule import Schedule

LANES_AT_ONCE = 8192

Extent = int | tuple[int, ...]


@dataclass(slots=True)
class Report:
    """What a launch did: instructions executed, lane by lane, and the races seen (the first few told)."""

    instructions: int = 0
    race_count: int = 0
    races: list[Race] = field(default_factory=list)


class Machine:
    """A device with one module loaded. `seed` gives blocks and colliding atomics another order.

    Machines that are given one heap share their global memory.
    """

    def __init__(self, module: Module, seed: int | None = None, heap: Heap | None = None) -> None:
        self.module = module
        self.state = State(module, heap or Heap())
        self.random = None if seed is None else np.random.default_rng(seed)

    def reserve(self, size: int) -> int:
        """The address of a buffer that nobody has written yet: reading it is a fault."""
        return self.state.heap.reserve(size)

    def upload(self, array: NDArray[Any] | bytes) -> int:
        """The address of a new buffer that holds the array's bytes."""
        data = array if isinstance(array, bytes) else np.ascontiguousarray(array).tobytes()
        address = self.reserve(len(data))
        self.write(address, data)
        return address

    def write(self, address: int, data: bytes) -> None:
        heap = self.state.heap
        heap.data[address : address + len(data)] = np.frombuffer(data, np.uint8)
        heap.written[address : address + len(data)] = 1

    def download(self, address: int, size: int) -> bytes:
        """Bytes of global memory. Raises Fault where one was never written."""
        if not self.state.heap.written[address : address + size].all():
            raise Fault("the host reads global memory that nobody wrote")
        return self.state.heap.data[address : address + size].tobytes()

    def set_symbol(self, name: str, data: bytes) -> None:
        """Write a variable of constant memory."""
        start = self.state.symbols[name]
        self.state.constants.data[start : start + len(data)] = np.frombuffer(data, np.uint8)

    def launch(
        self,
        kernel: str,
        grid: Extent,
        block: Extent,
        arguments: Sequence[int | bytes],
        shared_bytes: int = 0,
    ) -> Report:
        """Run a kernel to its end. Raises Fault where it does what is not allowed, or stands still."""
        program = program_of(self.module, self.state, kernel)
        grid3, block3 = _three(grid), _three(block)
        parameters = program.pack(arguments)
        report = Report()
        memories = Memories(self.state.heap, self.state.constants)
        self.state.heap.shadow = Shadow(len(self.state.heap.data), program.granularity)
        launched = Launch(program, memories, parameters, grid3, block3, shared_bytes, self.random)
        blocks = np.arange(int(np.prod(grid3)), dtype=np.int64)
        if self.random is not None:
            self.random.shuffle(blocks)
        at_once = max(1, LANES_AT_ONCE // int(np.prod(block3)))
        with np.errstate(over="ignore"):
            for first in range(0, len(blocks), at_once):
                some = blocks[first : first + at_once]
                report.instructions += Schedule(launched, some).to_end()
        report.race_count, report.races = memories.race_count, memories.races
        return report


def _three(extent: Extent) -> tuple[int, int, int]:
    parts = (extent,) if isinstance(extent, int) else tuple(extent)
    x, y, z = (*parts, 1, 1, 1)[:3]
    return x, y, z
