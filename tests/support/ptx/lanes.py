"""The lanes that run together: their registers, and the operations that the text of a block calls."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tests.support.ptx import operations
from tests.support.ptx.memory import TAG_SHIFT, VIEWS, WINDOWS, Access, Bytes, Memories, Values, untag
from tests.support.ptx.parse import Fault
from tests.support.ptx.program import Program
from tests.support.ptx.races import Actors, Ints, Shadow
from tests.support.ptx.warps import WARP, Shuffle, Warps

Extent3 = tuple[int, int, int]


class Registers(dict[int, NDArray[Any]]):
    """The rows of registers; one that nobody has written has no value."""

    def __missing__(self, row: int) -> NDArray[Any]:
        raise Fault("a register is read before it is written")


@dataclass(frozen=True, slots=True)
class Launch:
    """What all blocks of a launch have in common."""

    program: Program
    memories: Memories
    parameters: bytes
    grid: Extent3
    block: Extent3
    shared_bytes: int
    random: np.random.Generator | None


class Lanes:
    """All lanes of some blocks of a launch."""

    def __init__(self, launch: Launch, blocks: Ints) -> None:
        self.program, self.memories = launch.program, launch.memories
        self.parameters, self.random = launch.parameters, launch.random
        grid, block = launch.grid, launch.block
        threads = int(np.prod(block))
        self.width = len(blocks) * threads
        self.all = np.arange(self.width, dtype=np.int64)
        self.local_block = self.all // threads
        self.warps = Warps(self.width, threads)
        thread, number = self.all % threads, blocks[self.local_block]
        warps_in_block = -(-threads // WARP)
        self.actors = Actors(
            thread=number * threads + thread,
            block=number,
            warp=number * warps_in_block + thread // WARP,
            time=np.zeros(self.width, np.int64),
        )
        self.specials = _special_registers(number, thread, grid, block, self.warps)
        self._lay_out_memory(len(blocks), launch.shared_bytes)
        self.rows = Registers()

    def _lay_out_memory(self, blocks: int, shared_bytes: int) -> None:
        size = self.program.shared_bytes + shared_bytes
        stride = size + (-size % 16)
        shared = Bytes("shared", blocks * stride, stride, size)
        shared.shadow = Shadow(blocks * stride, self.program.granularity)
        own = self.program.local_bytes
        stride = own + (-own % 16)
        self.memories.spaces["shared"] = shared
        self.memories.spaces["local"] = Bytes("local", self.width * stride, stride, own)

    def row(self, number: int, value: Any) -> NDArray[Any]:
        """The row of a register, made where there is none yet."""
        if number not in self.rows:
            self.rows[number] = np.zeros(self.width, np.asarray(value).dtype)
        return self.rows[number]

    def parameter(self, offset: int, size: int) -> np.uint64:
        return np.uint64(int.from_bytes(self.parameters[offset : offset + size], "little"))

    def special(self, name: str, idx: Ints | None) -> Any:
        if name not in self.specials:
            raise Fault(f"the register {name} is not known")
        value = self.specials[name]
        return value if idx is None or np.ndim(value) == 0 else value[idx]

    def untag(self, address: Values, window: int, text: str) -> Values:
        return untag(address, window, text)

    def trap(self, guard: Any, text: str) -> None:
        if guard is None or np.any(guard):
            raise Fault(f"the kernel gave up: {text}")

    def load(self, address: Values, access: Access, idx: Ints | None, guard: Any) -> tuple[Values, ...]:
        lanes, address, _, chosen = self._narrow(address, (), idx, guard)
        loaded = self._load(address, access, lanes)
        if chosen is None:
            return loaded
        return tuple(_spread(part, chosen) for part in loaded)

    def _load(self, address: Values, access: Access, lanes: Ints) -> tuple[Values, ...]:
        result = tuple(np.zeros(len(lanes), np.uint64) for _ in range(access.count))
        for memory, offset, which in self._places(address, access, lanes):
            loaded = memory.load(offset, access.size, access.count)
            if which is None:
                return loaded
            for whole, part in zip(result, loaded, strict=True):
                whole[which] = part
        return result

    def store(
        self, address: Values, access: Access, values: tuple[Values, ...], idx: Ints | None, guard: Any
    ) -> None:
        lanes, address, values, _ = self._narrow(address, values, idx, guard)
        for memory, offset, which in self._places(address, access, lanes):
            chosen = values if which is None else tuple(value[which] for value in values)
            memory.store(offset, access.size, chosen)

    def update(
        self, address: Values, access: Access, values: tuple[Values, ...], idx: Ints | None, guard: Any
    ) -> Values:
        """An atomic operation, lane after lane; the old values."""
        lanes, address, values, chosen = self._narrow(address, values, idx, guard)
        old = np.zeros(len(lanes), np.uint64)
        bits = 8 * access.size
        change = operations.update(access.update, bits, is_signed=access.is_signed)
        for memory, offset, which in self._places(address, access, lanes):
            numbers = np.arange(len(lanes)) if which is None else np.nonzero(which)[0]
            for lane, at in self._in_some_order(numbers, offset):
                cell = memory.data[at : at + access.size].view(VIEWS[access.size])
                old[lane] = cell[0]
                operands = [int(value[lane]) for value in values]
                cell[0] = change(int(old[lane]), operands[0], (*operands, 0)[1]) % (1 << bits)
        return old if chosen is None else _spread(old, chosen)

    def _in_some_order(self, numbers: Ints, offset: Ints) -> Iterable[tuple[int, int]]:
        order = np.arange(len(numbers))
        if self.random is not None:
            self.random.shuffle(order)
        return zip(numbers[order].tolist(), offset[order].tolist(), strict=True)

    def _narrow(
        self, address: Values, values: tuple[Values, ...], idx: Ints | None, guard: Any
    ) -> tuple[Ints, Values, tuple[Values, ...], NDArray[np.bool_] | None]:
        """Lanes, addresses and values of those lanes that the guard lets through."""
        lanes = self.all if idx is None else idx
        address = np.broadcast_to(address, len(lanes))
        values = tuple(np.broadcast_to(value, len(lanes)) for value in values)
        if guard is None:
            return lanes, address, values, None
        chosen = np.broadcast_to(guard, len(lanes))
        return lanes[chosen], address[chosen], tuple(value[chosen] for value in values), chosen

    def _places(
        self, address: Values, access: Access, lanes: Ints
    ) -> list[tuple[Bytes, Ints, NDArray[np.bool_] | None]]:
        """The memory and offsets of an access; of a generic one for each window that its addresses are in."""
        if not len(lanes):
            return []
        if access.space != "generic":
            return [(*self._access(access.space, address, access, lanes), None)]
        window = address >> np.uint64(TAG_SHIFT)
        names = {0: "global", **{number: name for name, number in WINDOWS.items()}}
        result = []
        for number in np.unique(window).tolist():
            which = window == number
            if number not in names:
                raise Fault(f"the address is in no state space: {access.text}")
            inner = address[which] & np.uint64((1 << TAG_SHIFT) - 1)
            result.append((*self._access(names[number], inner, access, lanes[which]), which))
        return result

    def _access(self, space: str, address: Values, access: Access, lanes: Ints) -> tuple[Bytes, Ints]:
        owner = self.local_block[lanes] if space == "shared" else lanes
        return self.memories.access(space, address, access, owner, self.actors.of(lanes))

    def shuffle(
        self, how: Shuffle, step: Values, clamp: Values, members: Values, idx: Ints | None
    ) -> tuple[Values, NDArray[np.bool_]]:
        lanes = self.all if idx is None else idx
        return self.warps.shuffle(how, self.rows[how.row], (step, clamp, members), lanes)

    def vote(self, mode: str, value: Any, members: Values, idx: Ints | None) -> Any:
        return self.warps.vote(mode, value, members, self.all if idx is None else idx)

    def match(self, value: Values, members: Values, idx: Ints | None) -> Values:
        return self.warps.match(value, members, self.all if idx is None else idx)

    def active(self, idx: Ints | None) -> Values:
        lanes = self.all if idx is None else idx
        return self.warps.bits(lanes)[self.warps.number[lanes]]


def _spread(values: Values, chosen: NDArray[np.bool_]) -> Values:
    """The values at the chosen lanes, zeros elsewhere."""
    whole = np.zeros(len(chosen), np.uint64)
    whole[chosen] = values
    return whole


def _special_registers(
    block: Ints, thread: Ints, grid: Extent3, extent: Extent3, warps: Warps
) -> dict[str, Any]:
    lane = warps.lane.astype(np.uint64)
    one = np.uint64(1)
    specials: dict[str, Any] = {
        "%laneid": lane,
        "%warpid": (thread // WARP).astype(np.uint64),
        "%lanemask_eq": one << lane,
        "%lanemask_lt": (one << lane) - one,
        "%lanemask_le": (one << (lane + one)) - one,
    }
    every = np.uint64((1 << WARP) - 1)
    specials["%lanemask_ge"] = every ^ specials["%lanemask_lt"]
    specials["%lanemask_gt"] = every ^ specials["%lanemask_le"]
    for name, number, extents in (("tid", thread, extent), ("ctaid", block, grid)):
        rest = number
        for axis, size in zip("xyz", extents, strict=True):
            specials[f"%{name}.{axis}"] = (rest % size).astype(np.uint64)
            specials[f"%n{name}.{axis}"] = np.uint64(size)
            rest = rest // size
    return specials
