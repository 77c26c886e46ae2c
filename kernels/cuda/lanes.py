"""How a proof's data reach the device while another proof computes: a stream of its own, pinned memory."""

import queue
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernels.cuda.driver import Bytes, Driver, Event

HALF_BYTES = 8 * 2**20
"""One half of a lane's pinned memory: the processor fills one while the device reads the other."""


class Lane:
    """The way in for one proof at a time."""

    def __init__(self, driver: Driver, half_bytes: int = HALF_BYTES) -> None:
        self.stream = driver.new_stream()
        self._driver = driver
        self._halves: list[Bytes] = [driver.pinned(half_bytes) for _ in range(2)]
        self._read: list[Event | None] = [None, None]

    def upload(self, target: int, source: NDArray[Any]) -> None:
        """Copy an array, C-contiguous, which may be a view of a mapped file. The stream runs behind."""
        data = np.ascontiguousarray(source).reshape(-1).view(np.uint8)
        size = len(self._halves[0])
        for place, start in enumerate(range(0, len(data), size)):
            half = place % 2
            piece = data[start : start + size]
            staged = self._free_half(half)[: len(piece)]
            staged[:] = piece
            self._driver.upload(target + start, staged, self.stream)
            self._read[half] = self._driver.record(self.stream)

    def arrived(self) -> Event:
        """The event that everything uploaded so far is there."""
        return self._driver.record(self.stream)

    def wipe(self) -> None:
        """Wait for the copies, and leave nothing of them in pinned memory."""
        for half in range(2):
            self._free_half(half).fill(0)

    def _free_half(self, half: int) -> Bytes:
        event, self._read[half] = self._read[half], None
        if event is not None:
            self._driver.wait_here(event)
        return self._halves[half]


class Lanes:
    """Lanes are used again: pinned memory is slow to come by."""

    def __init__(self, driver: Driver, half_bytes: int = HALF_BYTES) -> None:
        self._driver = driver
        self._half_bytes = half_bytes
        self._idle: queue.SimpleQueue[Lane] = queue.SimpleQueue()

    @contextmanager
    def lane(self) -> Iterator[Lane]:
        """A lane for this thread, wiped when it comes back."""
        try:
            found = self._idle.get_nowait()
        except queue.Empty:
            found = Lane(self._driver, self._half_bytes)
        try:
            yield found
        finally:
            found.wipe()
            self._idle.put(found)
