"""A GPU that is none: `kernels.cuda.driver.Driver` in this process's memory, for the launch code above it.

Work in a stream runs as late as the rules allow (or, eagerly, at once), so that a copy which nobody waits for
is seen to be missing. Memory is full of rubbish when it is given out and again when it is given back.
"""

import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from kernels.cuda.driver import Bytes, DriverFault, OutOfDeviceMemory
from kernels.launches import Launch
from tests.support import shim

RUBBISH = 0xA5
ALIGNMENT = 256
FENCE = 1024
"""Bytes of rubbish before and behind each piece of memory, which no kernel may change."""
Execute = Callable[[Launch], None]


@dataclass(frozen=True, eq=False)
class Piece:
    """Memory that was given out: `inner` with a fence around it."""

    whole: np.ndarray
    start: int
    size: int

    @classmethod
    def fresh(cls, size: int) -> "Piece":
        whole = np.full(size + 2 * FENCE + ALIGNMENT, RUBBISH, dtype=np.uint8)
        first = whole.ctypes.data + FENCE
        return cls(whole, -(-first // ALIGNMENT) * ALIGNMENT - whole.ctypes.data, size)

    @property
    def address(self) -> int:
        return self.whole.ctypes.data + self.start

    @property
    def inner(self) -> np.ndarray:
        return self.whole[self.start : self.start + self.size]

    def fenced(self) -> bool:
        before, behind = self.whole[: self.start], self.whole[self.start + self.size :]
        return bool((before == RUBBISH).all() and (behind == RUBBISH).all())


@dataclass(eq=False)
class LazyStream:
    waiting: deque[Callable[[], None]] = field(default_factory=deque)
    queued: int = 0
    done: int = 0


@dataclass(frozen=True)
class Mark:
    stream: LazyStream
    place: int


def by_the_shim(launch: Launch) -> None:
    """The kernel's own text, compiled by g++."""
    shim.unit(launch.module).launch(launch.kernel, launch.grid, launch.shared_bytes, launch.arguments)


class StandIn:
    """`execute` runs a kernel: addresses in its arguments are this process's own.

    `no_room_at` are the allocations, counted from 1, that fail for want of memory; `broken_at` the launches
    that break the device.
    """

    model = "stand-in"
    processors = 1

    def __init__(
        self,
        execute: Execute = by_the_shim,
        *,
        total: int = 1 << 30,
        eager: bool = False,
        no_room_at: set[int] | None = None,
        broken_at: set[int] | None = None,
    ) -> None:
        self.total = total
        self.allocations = self.launches = self.trims = self.uploaded = 0
        self.no_room_at = no_room_at or set()
        self.broken_at = broken_at or set()
        self.launched: list[str] = []
        self.closed = False
        self._execute = execute
        self._eager = eager
        self._lock = threading.RLock()
        self._attached = threading.local()
        self._live: dict[int, Piece] = {}
        self._given_back: list[Piece] = []
        self._streams: list[LazyStream] = []

    @property
    def used(self) -> int:
        return sum(piece.size for piece in self._live.values())

    def attach(self) -> None:
        self._attached.here = True

    def memory_info(self) -> tuple[int, int]:
        self._check()
        return self.total - self.used, self.total

    def allocate(self, size: int, stream: LazyStream) -> int:
        self._check()
        with self._lock:
            self.allocations += 1
            if self.allocations in self.no_room_at or self.used + size > self.total:
                raise OutOfDeviceMemory(f"no room for {size} bytes")
            piece = Piece.fresh(size)
            self._live[piece.address] = piece
            return piece.address

    def free(self, address: int, stream: LazyStream) -> None:
        self._check()

        def give_back() -> None:
            piece = self._live.pop(address)
            piece.inner.fill(RUBBISH)
            self._given_back.append(piece)

        assert address in self._live, "memory is given back twice"
        self._queue(stream, give_back)

    def trim(self) -> None:
        self._check()
        self.trims += 1

    def pinned(self, size: int) -> Bytes:
        self._check()
        return np.full(size, RUBBISH, dtype=np.uint8)

    def upload(self, target: int, source: Bytes, stream: LazyStream) -> None:
        self._check()
        self.uploaded += source.nbytes

        def copy() -> None:
            self._view(target, source.nbytes)[:] = source

        self._queue(stream, copy)

    def download(self, target: Bytes, source: int, stream: LazyStream) -> None:
        self._check()

        def copy() -> None:
            target[:] = self._view(source, target.nbytes)

        self._queue(stream, copy)

    def clear(self, target: int, size: int, stream: LazyStream) -> None:
        self._check()
        self._queue(stream, lambda: self._view(target, size).fill(0))

    def launch(self, launch: Launch, stream: LazyStream) -> None:
        self._check()
        assert all(side > 0 for side in launch.grid), launch

        def run() -> None:
            self.launches += 1
            if self.launches in self.broken_at:
                raise DriverFault("an illegal memory access was encountered")
            self.launched.append(launch.kernel)
            self._execute(launch)
            over = [piece.size for piece in self._live.values() if not piece.fenced()]
            assert not over, f"{launch} wrote beside memory of {over} bytes"

        self._queue(stream, run)

    def new_stream(self) -> LazyStream:
        self._check()
        self._streams.append(LazyStream())
        return self._streams[-1]

    def settle(self) -> "StandIn":
        """Run everything that waits in any stream; nobody has written beside what is given back by now."""
        for stream in self._streams:
            self._run_to(stream, stream.queued)
        assert all(piece.fenced() for piece in self._given_back)
        return self

    def record(self, stream: LazyStream) -> Mark:
        self._check()
        return Mark(stream, stream.queued)

    def wait(self, stream: LazyStream, event: Mark) -> None:
        self._check()
        self._queue(stream, lambda: self._run_to(event.stream, event.place))

    def wait_here(self, event: Mark) -> None:
        self._check()
        self._run_to(event.stream, event.place)

    def synchronize(self, stream: LazyStream) -> None:
        self._check()
        self._run_to(stream, stream.queued)

    def close(self) -> None:
        self._check()
        self.settle()
        self.closed = True

    def _queue(self, stream: LazyStream, work: Callable[[], None]) -> None:
        with self._lock:
            stream.waiting.append(work)
            stream.queued += 1
        if self._eager:
            self._run_to(stream, stream.queued)

    def _run_to(self, stream: LazyStream, place: int) -> None:
        with self._lock:
            while stream.done < place:
                work = stream.waiting.popleft()
                stream.done += 1
                work()

    def _view(self, address: int, size: int) -> np.ndarray:
        for start, piece in self._live.items():
            offset = address - start
            if offset >= 0 and offset + size <= piece.size:
                return piece.inner[offset : offset + size]
        raise AssertionError("a copy reaches memory that is not given out")

    def _check(self) -> None:
        assert getattr(self._attached, "here", False), "this thread has not attached"
        assert not self.closed, "the device was closed"
