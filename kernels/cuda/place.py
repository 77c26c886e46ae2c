"""Where a proof's kernels run: one stream of a device, and what one does on it."""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from kernels.cuda.driver import Driver, Stream
from kernels.launches import Launch
from kernels.native import Words

BLOCKS_A_PROCESSOR = 4
BLOCK = 128


class Workplace:
    """A device and the stream on which it computes."""

    def __init__(self, driver: Driver, stream: Stream) -> None:
        self.driver = driver
        self.stream = stream

    @property
    def threads(self) -> int:
        """Threads that fill the device."""
        return BLOCK * BLOCKS_A_PROCESSOR * self.driver.processors

    def run(self, launches: Iterable[Launch]) -> None:
        """Queue launches, in order."""
        for launch in launches:
            self.driver.launch(launch, self.stream)

    def put(self, target: int, array: NDArray[np.generic]) -> None:
        """Copy something small, which nobody changes afterwards."""
        data = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
        if data.size:
            self.driver.upload(target, data, self.stream)

    def read(self, source: int, count: int, words: int) -> Words:
        """Wait for everything queued, and bring back (count, words) 64-bit words."""
        found = np.empty((count, words), dtype="<u8")
        self.driver.download(found.reshape(-1).view(np.uint8), source, self.stream)
        self.driver.synchronize(self.stream)
        return found

    def wait(self) -> None:
        """Wait for everything queued."""
        self.driver.synchronize(self.stream)
