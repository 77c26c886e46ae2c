"""The driver on CuPy. CuPy is imported when a device is opened, never before.

Not run on a GPU: no test has executed this module on hardware.
"""

import ctypes
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from kernels.cuda.driver import (
    Bytes,
    Driver,
    DriverFault,
    Event,
    OutOfDeviceMemory,
    Stream,
    packed,
    typed_arguments,
)
from kernels.cuda.visible import gpu_is_visible
from kernels.device import DeviceUnavailable
from kernels.launches import Launch
from kernels.modules import Module
from kernels.nvrtc import CompileFailed, NvrtcUnavailable

Compile = Callable[[Module, str], bytes]
"""The image of a module for an architecture ("sm_90")."""

OUT_OF_MEMORY = 2  # of the runtime and of the driver alike
PLAIN_SHARED_BYTES = 48 * 1024
MAX_DYNAMIC_SHARED = 8  # CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
RELEASE_THRESHOLD = 4  # cudaMemPoolAttrReleaseThreshold
KEEP_EVERYTHING = 2**64 - 1


def import_cupy() -> Any:
    """CuPy. Raises DeviceUnavailable where there is no GPU to be seen or CuPy is not installed."""
    if not gpu_is_visible():
        raise DeviceUnavailable("no NVIDIA GPU is visible to this process")
    os.environ.setdefault("CUDA_DEVICE_ORDER", "PCI_BUS_ID")  # the numbers that nvidia-smi shows
    try:
        import cupy  # noqa: PLC0415 - an extra that only a process with a GPU needs
    except ImportError as error:
        raise DeviceUnavailable(f"CuPy cannot be imported ({error}): install cuzkweb[cuda13]") from None
    return cupy


def device_count() -> int:
    """How many CUDA devices there are; 0 where none is visible, without a call of CUDA.

    Raises DeviceUnavailable where a GPU is there and CuPy or its driver are not.
    """
    if not gpu_is_visible():
        return 0
    cupy = import_cupy()
    try:
        return int(cupy.cuda.runtime.getDeviceCount())
    except Exception as error:
        raise DeviceUnavailable(f"CUDA cannot be used here: {error}") from error


def open_driver(ordinal: int, compiled: Compile) -> Driver:
    """The driver of device `ordinal`, its context made. Raises DeviceUnavailable."""
    cupy = import_cupy()
    count = device_count()
    if ordinal >= count:
        raise DeviceUnavailable(f"there is no device cuda:{ordinal}: this process sees {count}")
    try:
        return CupyDriver(cupy, ordinal, compiled)
    except Exception as error:
        raise DeviceUnavailable(f"device cuda:{ordinal} cannot be used: {error}") from error


class CupyDriver:
    """See `kernels.cuda.driver.Driver`. Memory is stream-ordered: cudaMallocAsync and cudaFreeAsync."""

    def __init__(self, cupy: Any, ordinal: int, compiled: Compile) -> None:
        self._cupy = cupy
        self._ordinal = ordinal
        self._compiled = compiled
        self._runtime = cupy.cuda.runtime
        self._driver = cupy.cuda.driver
        self._lock = threading.Lock()
        self._modules: dict[Module, int] = {}
        self._functions: dict[tuple[Module, str], int] = {}
        self.attach()
        properties = self._runtime.getDeviceProperties(ordinal)
        name = properties["name"]
        self.model = name.decode() if isinstance(name, bytes) else str(name)
        self.processors = int(properties["multiProcessorCount"])
        self.architecture = f"sm_{properties['major']}{properties['minor']}"
        self._pool = self._runtime.deviceGetDefaultMemPool(ordinal)
        self._runtime.memPoolSetAttribute(self._pool, RELEASE_THRESHOLD, KEEP_EVERYTHING)

    def attach(self) -> None:
        """See `Driver.attach`."""
        with self._told():
            self._runtime.setDevice(self._ordinal)

    def memory_info(self) -> tuple[int, int]:
        """See `Driver.memory_info`."""
        with self._told():
            free, total = self._runtime.memGetInfo()
        return int(free), int(total)

    def allocate(self, size: int, stream: Stream) -> int:
        """See `Driver.allocate`."""
        with self._told():
            return int(self._runtime.mallocAsync(size, stream.ptr))

    def free(self, address: int, stream: Stream) -> None:
        """See `Driver.free`."""
        with self._told():
            self._runtime.freeAsync(address, stream.ptr)

    def trim(self) -> None:
        """See `Driver.trim`."""
        with self._told():
            self._runtime.deviceSynchronize()
            self._runtime.memPoolTrimTo(self._pool, 0)

    def pinned(self, size: int) -> Bytes:
        """See `Driver.pinned`."""
        with self._told():
            memory = self._cupy.cuda.alloc_pinned_memory(size)
        return np.frombuffer(memory, dtype=np.uint8, count=size)

    def upload(self, target: int, source: Bytes, stream: Stream) -> None:
        """See `Driver.upload`."""
        kind = self._runtime.memcpyHostToDevice
        with self._told():
            self._runtime.memcpyAsync(target, source.ctypes.data, source.nbytes, kind, stream.ptr)

    def download(self, target: Bytes, source: int, stream: Stream) -> None:
        """See `Driver.download`."""
        kind = self._runtime.memcpyDeviceToHost
        with self._told():
            self._runtime.memcpyAsync(target.ctypes.data, source, target.nbytes, kind, stream.ptr)

    def clear(self, target: int, size: int, stream: Stream) -> None:
        """See `Driver.clear`."""
        with self._told():
            self._runtime.memsetAsync(target, 0, size, stream.ptr)

    def launch(self, launch: Launch, stream: Stream) -> None:
        """See `Driver.launch`. The first launch out of a module compiles or loads it."""
        arguments = typed_arguments(launch)
        addresses = packed(arguments)
        with self._told():
            function = self._function(launch.module, launch.kernel)
            if launch.shared_bytes > PLAIN_SHARED_BYTES:
                self._driver.funcSetAttribute(function, MAX_DYNAMIC_SHARED, launch.shared_bytes)
            shape = (*launch.grid, launch.block, 1, 1, launch.shared_bytes)
            self._driver.launchKernel(function, *shape, stream.ptr, ctypes.addressof(addresses), 0)

    def new_stream(self) -> Stream:
        """See `Driver.new_stream`."""
        with self._told():
            return self._cupy.cuda.Stream(non_blocking=True)

    def record(self, stream: Stream) -> Event:
        """See `Driver.record`."""
        with self._told():
            event = self._cupy.cuda.Event(disable_timing=True)
            event.record(stream)
        return event

    def wait(self, stream: Stream, event: Event) -> None:
        """See `Driver.wait`."""
        with self._told():
            stream.wait_event(event)

    def wait_here(self, event: Event) -> None:
        """See `Driver.wait_here`."""
        with self._told():
            event.synchronize()

    def synchronize(self, stream: Stream) -> None:
        """See `Driver.synchronize`."""
        with self._told():
            stream.synchronize()

    def close(self) -> None:
        """See `Driver.close`. The context itself ends with the process."""
        with self._told():
            self._runtime.deviceSynchronize()
            for module in self._modules.values():
                self._driver.moduleUnload(module)
        self._modules.clear()
        self._functions.clear()

    def _function(self, module: Module, kernel: str) -> int:
        with self._lock:
            known = self._functions.get((module, kernel))
            if known is None:
                if module not in self._modules:
                    self._modules[module] = self._driver.moduleLoadData(self._image(module))
                known = self._driver.moduleGetFunction(self._modules[module], kernel)
                self._functions[module, kernel] = known
            return known

    def _image(self, module: Module) -> bytes:
        try:
            return self._compiled(module, self.architecture)
        except (NvrtcUnavailable, CompileFailed) as error:
            raise DriverFault(f"{module.name} cannot be compiled: {error}") from error

    @contextmanager
    def _told(self) -> Iterator[None]:
        """CuPy's errors in this seam's words."""
        errors = (self._runtime.CUDARuntimeError, self._driver.CUDADriverError)
        try:
            yield
        except errors as error:
            if getattr(error, "status", None) == OUT_OF_MEMORY:
                raise OutOfDeviceMemory(str(error)) from None
            raise DriverFault(str(error)) from error
        except MemoryError as error:
            raise OutOfDeviceMemory(str(error)) from None
