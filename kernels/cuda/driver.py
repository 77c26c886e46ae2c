"""What proving needs of a GPU and no more: memory, copies, launches, and the order between streams.

`kernels.cuda.cupy_driver` is the one on hardware. Tests bring their own.
"""

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from kernels.launches import Launch
from kernels.modules import ParameterKind

Stream = Any
"""A queue of work on the device, made by `Driver.new_stream`: what is in one runs in order."""

Event = Any
"""A place in a stream, made by `Driver.record`."""

Bytes = NDArray[np.uint8]
Argument = ctypes.c_uint64 | ctypes.c_uint32


class OutOfDeviceMemory(Exception):  # noqa: N818 - what happened, as callers read it
    """The device has no room for an allocation, or for what a launch needs."""


class DriverFault(Exception):  # noqa: N818 - as above
    """A call of the driver failed for any other reason: after it, nothing on the device is to be trusted."""


class Driver(Protocol):
    """One device, as its process holds it. Addresses are the device's; every call may come from any thread
    that has called `attach`. Calls raise OutOfDeviceMemory and DriverFault."""

    @property
    def model(self) -> str:
        """What the hardware calls itself."""
        ...

    @property
    def processors(self) -> int:
        """Multiprocessors: how many blocks it takes to fill the device, at least."""
        ...

    def attach(self) -> None:
        """Make the device the calling thread's own."""
        ...

    def memory_info(self) -> tuple[int, int]:
        """Bytes that are free, and all bytes."""
        ...

    def allocate(self, size: int, stream: Stream) -> int:
        """Memory, from this place in the stream on."""
        ...

    def free(self, address: int, stream: Stream) -> None:
        """Give memory back, at this place in the stream."""
        ...

    def trim(self) -> None:
        """Hand memory that was freed, but is kept for the next allocation, to the system."""
        ...

    def pinned(self, size: int) -> Bytes:
        """Host memory that copies reach without the processor; lives as long as the array does."""
        ...

    def upload(self, target: int, source: Bytes, stream: Stream) -> None:
        """Copy to the device. Pinned memory must stay as it is until the stream is past it."""
        ...

    def download(self, target: Bytes, source: int, stream: Stream) -> None:
        """Copy from the device; `target` is whole when the stream is past it."""
        ...

    def clear(self, target: int, size: int, stream: Stream) -> None:
        """Set memory to zero bytes."""
        ...

    def launch(self, launch: Launch, stream: Stream) -> None:
        """Run a kernel."""
        ...

    def new_stream(self) -> Stream:
        """A stream of its own, which waits for no other."""
        ...

    def record(self, stream: Stream) -> Event:
        """Mark this place in the stream."""
        ...

    def wait(self, stream: Stream, event: Event) -> None:
        """Let what comes in the stream from here on wait for the event; the caller does not wait."""
        ...

    def wait_here(self, event: Event) -> None:
        """Let the caller wait until the event's stream has come so far."""
        ...

    def synchronize(self, stream: Stream) -> None:
        """Wait until everything in the stream has run. Faults of launches show here."""
        ...

    def close(self) -> None:
        """Give everything back; nothing is called afterwards."""
        ...


@dataclass(frozen=True, slots=True)
class Buffer:
    """A piece of device memory."""

    address: int
    nbytes: int

    def at(self, offset: int) -> int:
        """The address of a byte in it."""
        return self.address + offset


class Arena:
    """Buffers that live and go together, in the order of one stream; `read_by` is another one that uses them:
    they go after what it has been given to do."""

    def __init__(self, driver: Driver, stream: Stream, read_by: Stream | None = None) -> None:
        self._driver = driver
        self._stream = stream
        self._read_by = read_by
        self._buffers: list[Buffer] = []

    @property
    def nbytes(self) -> int:
        """What the buffers take."""
        return sum(buffer.nbytes for buffer in self._buffers)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def allocate(self, size: int) -> Buffer:
        """One more buffer. Raises OutOfDeviceMemory."""
        size = max(size, 1)
        buffer = Buffer(self._driver.allocate(size, self._stream), size)
        self._buffers.append(buffer)
        return buffer

    def close(self) -> None:
        """Give every buffer back, at the stream's present place."""
        if self._read_by is not None:
            self._driver.wait(self._stream, self._driver.record(self._read_by))
        for buffer in self._buffers:
            self._leave(buffer)
        while self._buffers:
            self._driver.free(self._buffers.pop().address, self._stream)

    def _leave(self, buffer: Buffer) -> None:
        """What is done with each buffer first."""


class SecretArena(Arena):
    """Buffers whose content nobody reads after them."""

    def _leave(self, buffer: Buffer) -> None:
        self._driver.clear(buffer.address, buffer.nbytes, self._stream)


def typed_arguments(launch: Launch) -> list[Argument]:
    """The arguments of a launch with the sizes that its kernel's table gives them."""
    parameters = launch.module.kernel(launch.kernel).parameters
    return [
        (ctypes.c_uint32 if kind is ParameterKind.U32 else ctypes.c_uint64)(value)
        for (_, kind), value in zip(parameters, launch.arguments, strict=True)
    ]


def packed(arguments: Sequence[Argument]) -> ctypes.Array[ctypes.c_void_p]:
    """The addresses of the arguments, as drivers take them; keep the arguments alive meanwhile."""
    addresses = [ctypes.addressof(argument) for argument in arguments]
    return (ctypes.c_void_p * max(1, len(addresses)))(*addresses)
