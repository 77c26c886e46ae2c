"""Who touched which unit of memory, and since which barrier: two accesses that nothing orders are a race.

Time is a number per lane. A barrier of the block moves all its lanes to the next multiple of ERA, a barrier
of the warp moves its lanes one on. An access is ordered after an earlier one when the same thread made it,
when a barrier of the block that both are in lies between, or a barrier of the warp that both are in.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

ERA = 1 << 12
NOBODY = -1
SEVERAL = -2

Ints = NDArray[np.int64]


@dataclass(slots=True)
class Actors:
    """The lanes of one access: who, in which block and warp, and when."""

    thread: Ints
    block: Ints
    warp: Ints
    time: Ints

    def of(self, lanes: Ints) -> "Actors":
        return Actors(self.thread[lanes], self.block[lanes], self.warp[lanes], self.time[lanes])

    def repeated(self, times: int) -> "Actors":
        if times == 1:
            return self
        return Actors(*(np.repeat(part, times) for part in (self.thread, self.block, self.warp, self.time)))


class _Last:
    """The last accesses of one kind, unit by unit; accesses that are not ordered are kept as SEVERAL."""

    def __init__(self, units: int) -> None:
        self.thread = np.full(units, NOBODY, np.int64)
        self.block = np.zeros(units, np.int64)
        self.warp = np.zeros(units, np.int64)
        self.time = np.zeros(units, np.int64)

    def unordered(self, unit: Ints, actors: Actors) -> NDArray[np.bool_]:
        """Where the last access was another thread's and no barrier lies between."""
        thread = self.thread[unit]
        other = (thread != NOBODY) & (thread != actors.thread)
        if not other.any():
            return other
        time = self.time[unit]
        same_era_or_block = (self.block[unit] != actors.block) | (actors.time // ERA <= time // ERA)
        same_time_or_warp = (self.warp[unit] != actors.warp) | (actors.time <= time)
        return other & same_era_or_block & same_time_or_warp

    def record(self, unit: Ints, actors: Actors) -> NDArray[np.bool_]:
        """Note the accesses; True where two lanes of this very access meet at one unit."""
        beside = self.unordered(unit, actors)
        thread, block, warp, time = actors.thread, actors.block, actors.warp, actors.time
        if beside.any():
            time = np.where(beside, np.maximum(self.time[unit], time), time)
            block = np.where(beside & (self.block[unit] != block), SEVERAL, block)
            warp = np.where(beside & (self.warp[unit] != warp), SEVERAL, warp)
            thread = np.where(beside, SEVERAL, thread)
        self.time[unit], self.block[unit], self.warp[unit], self.thread[unit] = time, block, warp, thread
        return self._lost(unit, actors, beside)

    def _lost(self, unit: Ints, actors: Actors, beside: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Of several lanes at one unit the last was kept: make it SEVERAL, of one block and warp or not."""
        kept = self.thread[unit]
        lost = ~beside & (kept != actors.thread)
        if lost.any():
            at, block, warp = unit[lost], actors.block[lost], actors.warp[lost]
            other_block, other_warp = self.block[at] != block, self.warp[at] != warp
            self.thread[at] = SEVERAL
            self.block[at[other_block]] = SEVERAL
            self.warp[at[other_warp]] = SEVERAL
        return lost

    def forget(self) -> None:
        self.thread[:] = NOBODY


class Shadow:
    """The history of one memory within one launch. `granularity` is the bytes of a unit."""

    def __init__(self, size: int, granularity: int) -> None:
        self.granularity = granularity
        units = -(-size // granularity)
        self.reads, self.writes, self.atomics = _Last(units), _Last(units), _Last(units)

    def forget(self) -> None:
        """A new launch: everything before it is ordered."""
        for last in (self.reads, self.writes, self.atomics):
            last.forget()

    def units(self, offset: Ints, size: int) -> Ints:
        """The units that accesses of `size` bytes at `offset` touch, access by access."""
        width = max(1, size // self.granularity)
        first = offset // self.granularity
        return first if width == 1 else (first[:, None] + np.arange(width)).ravel()

    def access(self, kind: str, offset: Ints, size: int, actors: Actors) -> NDArray[np.bool_]:
        """Note a "read", "write", "atomic" or "constant" read (one that promises that nobody writes).

        True, unit by unit, where it races with an earlier access or one of the same instruction.
        """
        unit = self.units(offset, size)
        actors = actors.repeated(len(unit) // len(offset))
        if kind == "constant":
            racing = (self.writes.thread[unit] != NOBODY) | (self.atomics.thread[unit] != NOBODY)
            self.reads.record(unit, actors)
            return racing
        racing = self.writes.unordered(unit, actors)
        if kind != "read":
            racing |= self.reads.unordered(unit, actors)
        if kind != "atomic":
            racing |= self.atomics.unordered(unit, actors)
        last = {"read": self.reads, "write": self.writes, "atomic": self.atomics}[kind]
        together = last.record(unit, actors)
        return racing | together if kind == "write" else racing
