"""The state spaces: every access is checked for bounds, alignment and reads of what was never written."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tests.support.ptx.parse import Fault
from tests.support.ptx.races import Actors, Ints, Shadow

Values = NDArray[np.uint64]

GLOBAL_BASE = 1 << 16
GUARD = 256
TAG_SHIFT = 56
WINDOWS = {"shared": 1, "local": 2, "const": 3}
FILLING = 0xA5
RACES_TOLD = 20

VIEWS = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}


@dataclass(frozen=True, slots=True)
class Access:
    """What an instruction does: `count` elements of `size` bytes of a space, and how."""

    space: str  # global, shared, local, const or generic
    size: int
    count: int
    kind: str  # read, write, atomic or constant
    text: str
    update: str = ""
    is_signed: bool = False

    @property
    def bytes(self) -> int:
        return self.size * self.count


class Bytes:
    """A flat memory of parts for lanes or blocks, `stride` apart, of which `limit` bytes may be used.

    An address is an offset into a part. Without a stride there is one part for all.
    """

    def __init__(self, space: str, size: int, stride: int = 0, limit: int = 0) -> None:
        self.space = space
        self.stride = stride
        self.limit = limit
        self.data = np.full((size + 15) // 8 * 8, FILLING, np.uint8)
        self.written = np.zeros_like(self.data)
        self.shadow: Shadow | None = None

    def offsets(self, address: Values, owner: Ints, access: Access) -> Ints:
        """The places of the accesses in `data`. Raises Fault out of bounds and where they are not aligned."""
        inner = address.astype(np.int64)
        if (inner % access.bytes).any():
            raise Fault(
                f"unaligned {self.space} address {_first(address, inner % access.bytes != 0)}: {access.text}"
            )
        self.check_bounds(inner, address, access)
        return inner + owner * self.stride if self.stride else inner

    def check_bounds(self, inner: Ints, address: Values, access: Access) -> None:
        outside = (inner < 0) | (inner + access.bytes > self.limit)
        if outside.any():
            raise Fault(f"{self.space} address {_first(address, outside)} is out of bounds: {access.text}")

    def load(self, offset: Ints, size: int, count: int) -> tuple[Values, ...]:
        view = self.data.view(VIEWS[size])
        place = offset // size
        return tuple(view[place + i].astype(np.uint64) for i in range(count))

    def holds(self, offset: Ints, size: int) -> bool:
        """Was every byte of it written?"""
        part = min(size, 8)
        whole, view = int.from_bytes(b"\1" * part, "little"), self.written.view(VIEWS[part])
        place = offset // part
        return all((view[place + i] == whole).all() for i in range(size // part))

    def mark_written(self, offset: Ints, size: int) -> None:
        part = min(size, 8)
        whole, view = int.from_bytes(b"\1" * part, "little"), self.written.view(VIEWS[part])
        for i in range(size // part):
            view[offset // part + i] = whole

    def store(self, offset: Ints, size: int, values: tuple[Values, ...]) -> None:
        view = self.data.view(VIEWS[size])
        place = offset // size
        for i, value in enumerate(values):
            view[place + i] = value.astype(VIEWS[size])


def _first(address: Values, bad: NDArray[np.bool_]) -> str:
    return hex(int(address[bad][0]))


class Heap(Bytes):
    """Global memory: buffers with gaps between them, that grow as they are asked for."""

    def __init__(self) -> None:
        super().__init__("global", GLOBAL_BASE)
        self.starts: list[int] = []
        self.ends: list[int] = []

    def reserve(self, size: int) -> int:
        """The address of a new buffer that holds nothing yet."""
        start = len(self.data) + GUARD
        start += -start % 256
        added = start + (size + 15) // 8 * 8 - len(self.data)
        self.data = np.concatenate([self.data, np.full(added, FILLING, np.uint8)])
        self.written = np.concatenate([self.written, np.zeros(added, np.uint8)])
        self.starts.append(start)
        self.ends.append(start + size)
        return start

    def check_bounds(self, inner: Ints, address: Values, access: Access) -> None:
        starts, ends = np.array(self.starts), np.array(self.ends)
        buffer = np.searchsorted(starts, inner, side="right") - 1
        outside = (buffer < 0) | (inner + access.bytes > ends[buffer])
        if outside.any():
            raise Fault(f"global address {_first(address, outside)} is in no buffer: {access.text}")


@dataclass(frozen=True, slots=True)
class Race:
    space: str
    address: int
    text: str


class Memories:
    """All spaces of the blocks that run together, and the races seen in them."""

    def __init__(self, heap: Heap, constants: Bytes) -> None:
        self.spaces: dict[str, Bytes] = {"global": heap, "const": constants}
        self.race_count = 0
        self.races: list[Race] = []

    def access(
        self, space: str, address: Values, access: Access, owner: Ints, actors: Actors
    ) -> tuple[Bytes, Ints]:
        """Check one access and note it; `owner` numbers the part of a shared or local memory."""
        memory = self.spaces[space]
        offset = memory.offsets(address, owner, access)
        if memory.shadow is not None:
            _check_written(memory, offset, access)
            racing = memory.shadow.access(access.kind, offset, access.bytes, actors)
            if racing.any():
                self._report(space, offset, access, racing)
        return memory, offset

    def _report(self, space: str, offset: Ints, access: Access, racing: NDArray[np.bool_]) -> None:
        self.race_count += int(racing.sum())
        if len(self.races) < RACES_TOLD:
            unit = int(np.nonzero(racing)[0][0])
            self.races.append(Race(space, int(offset[unit * len(offset) // len(racing)]), access.text))


def _check_written(memory: Bytes, offset: Ints, access: Access) -> None:
    if access.kind != "write" and not memory.holds(offset, access.bytes):
        raise Fault(f"{memory.space} memory is read before it is written: {access.text}")
    if access.kind != "read":
        memory.mark_written(offset, access.bytes)


def untag(address: Values, window: int, text: str) -> Values:
    """A generic address as one of the given window (0 is global). Raises Fault where it is of another."""
    if (np.asarray(address) >> np.uint64(TAG_SHIFT) != window).any():
        raise Fault(f"the address is of another state space: {text}")
    return address & np.uint64((1 << TAG_SHIFT) - 1)
