"""The driver on CuPy, against a CuPy that writes down what it is asked: no GPU takes part.

It shows which calls are made and how their errors are told, not that CUDA does what is meant.
"""

import ctypes
import types
from typing import Any

import numpy as np
import pytest

from kernels import modules
from kernels.cuda import cupy_driver
from kernels.cuda.cupy_driver import CupyDriver, open_driver
from kernels.cuda.driver import DriverFault, OutOfDeviceMemory
from kernels.cuda.images import compiled_images
from kernels.curves import BN254
from kernels.device import DeviceUnavailable, open_device
from kernels.launches import Launch, launch
from kernels.modules import Module
from kernels.nvrtc import CompileFailed, NvrtcUnavailable

IMAGE = b"\x7fELF cubin"


class CUDARuntimeError(RuntimeError):
    def __init__(self, status: int) -> None:
        super().__init__(f"status {status}")
        self.status = status


class CUDADriverError(CUDARuntimeError):
    pass


class Stream:
    def __init__(self, *, non_blocking: bool) -> None:
        assert non_blocking, "a stream that waits for no other"
        self.ptr = 77
        self.log: list[str] = []

    def wait_event(self, event: object) -> None:
        self.log.append("wait")

    def synchronize(self) -> None:
        self.log.append("synchronize")


class Event:
    def __init__(self, *, disable_timing: bool) -> None:
        self.log: list[str] = []

    def record(self, stream: Stream) -> None:
        stream.log.append("record")

    def synchronize(self) -> None:
        self.log.append("synchronize")


class Recorder:
    """An API that remembers its calls, answers what it is told to, and fails where it is told to."""

    def __init__(self, calls: list[tuple[Any, ...]], **answers: Any) -> None:
        self.calls, self.answers = calls, answers
        self.failing: dict[str, Exception] = {}

    def __getattr__(self, name: str) -> Any:
        if name.startswith("memcpy") and name != "memcpyAsync":
            return name

        def call(*arguments: Any) -> Any:
            self.calls.append((name, *arguments))
            if name in self.failing:
                raise self.failing[name]
            return self.answers.get(name)

        return call


@pytest.fixture
def calls() -> list[tuple[Any, ...]]:
    return []


@pytest.fixture
def cupy(calls: list[tuple[Any, ...]]) -> types.SimpleNamespace:
    properties = {"name": b"NVIDIA H200", "multiProcessorCount": 132, "major": 9, "minor": 0}
    runtime = Recorder(
        calls,
        getDeviceProperties=properties,
        getDeviceCount=2,
        memGetInfo=(5, 9),
        mallocAsync=4096,
        deviceGetDefaultMemPool=3,
    )
    runtime.CUDARuntimeError = CUDARuntimeError
    driver = Recorder(calls, moduleLoadData=11, moduleGetFunction=22)
    driver.CUDADriverError = CUDADriverError
    memory = types.SimpleNamespace(runtime=runtime, driver=driver, Stream=Stream, Event=Event)
    memory.alloc_pinned_memory = lambda size: bytearray(size + 8)
    return types.SimpleNamespace(cuda=memory)


@pytest.fixture
def driver(cupy: types.SimpleNamespace, calls: list[tuple[Any, ...]]) -> CupyDriver:
    found = CupyDriver(cupy, 1, lambda module, architecture: IMAGE + architecture.encode())
    calls.clear()
    return found


def a_launch(**changes: Any) -> Launch:
    module = modules.polynomials(BN254)
    return launch(module, "make_scales", 7, 0x1234_5678_9ABC, 5, 0x2000, **changes)


def test_it_is_pinned_to_its_device_and_keeps_freed_memory(cupy: Any, calls: list[tuple[Any, ...]]) -> None:
    found = CupyDriver(cupy, 1, lambda *_: b"")
    assert (found.model, found.processors, found.architecture) == ("NVIDIA H200", 132, "sm_90")
    assert calls[0] == ("setDevice", 1)
    assert ("memPoolSetAttribute", 3, 4, 2**64 - 1) in calls


def test_memory_is_in_the_order_of_a_stream(driver: CupyDriver, calls: list[tuple[Any, ...]]) -> None:
    stream = driver.new_stream()
    data = np.arange(16, dtype=np.uint8)
    assert driver.allocate(100, stream) == 4096
    driver.upload(4096, data, stream)
    driver.download(data, 4096, stream)
    driver.clear(4096, 100, stream)
    driver.free(4096, stream)
    driver.wait(stream, driver.record(stream))
    driver.wait_here(driver.record(stream))
    driver.synchronize(stream)
    driver.trim()
    assert driver.memory_info() == (5, 9)
    assert calls == [
        ("mallocAsync", 100, 77),
        ("memcpyAsync", 4096, data.ctypes.data, 16, "memcpyHostToDevice", 77),
        ("memcpyAsync", data.ctypes.data, 4096, 16, "memcpyDeviceToHost", 77),
        ("memsetAsync", 4096, 0, 100, 77),
        ("freeAsync", 4096, 77),
        ("deviceSynchronize",),
        ("memPoolTrimTo", 3, 0),
        ("memGetInfo",),
    ]
    assert stream.log == ["record", "wait", "record", "synchronize"]


def test_pinned_memory_is_as_large_as_asked(driver: CupyDriver) -> None:
    half = driver.pinned(24)
    assert half.shape == (24,)
    half[:] = 3


def test_arguments_have_the_sizes_of_the_kernels_table(
    driver: CupyDriver, cupy: Any, calls: list[tuple[Any, ...]]
) -> None:
    read: list[tuple[int, ...]] = []

    def look(function: int, *rest: int) -> None:
        addresses = (ctypes.c_void_p * 3).from_address(rest[8])
        read.append(
            (
                ctypes.c_uint64.from_address(addresses[0]).value,
                ctypes.c_uint32.from_address(addresses[1]).value,
                ctypes.c_uint64.from_address(addresses[2]).value,
            )
        )
        calls.append(("launchKernel", function, *rest[:8]))

    cupy.cuda.driver.launchKernel = look
    driver.launch(a_launch(), driver.new_stream())
    driver.launch(a_launch(), driver.new_stream())
    assert read == [(0x1234_5678_9ABC, 5, 0x2000)] * 2
    assert calls == [
        ("moduleLoadData", IMAGE + b"sm_90"),
        ("moduleGetFunction", 11, "make_scales"),
        ("launchKernel", 22, 7, 1, 1, 128, 1, 1, 0, 77),
        ("launchKernel", 22, 7, 1, 1, 128, 1, 1, 0, 77),
    ]
    driver.close()
    assert ("moduleUnload", 11) in calls


def test_much_shared_memory_is_asked_for(driver: CupyDriver, calls: list[tuple[Any, ...]]) -> None:
    driver.launch(a_launch(shared_bytes=60_000), driver.new_stream())
    assert ("funcSetAttribute", 22, 8, 60_000) in calls


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (CUDARuntimeError(2), OutOfDeviceMemory),
        (CUDARuntimeError(700), DriverFault),
        (MemoryError("host"), OutOfDeviceMemory),
    ],
)
def test_errors_are_told_apart(
    driver: CupyDriver, cupy: Any, error: Exception, told: type[Exception]
) -> None:
    cupy.cuda.runtime.failing["mallocAsync"] = error
    with pytest.raises(told):
        driver.allocate(8, driver.new_stream())


def test_a_launch_without_memory_is_a_shortage(driver: CupyDriver, cupy: Any) -> None:
    cupy.cuda.driver.failing["launchKernel"] = CUDADriverError(2)
    with pytest.raises(OutOfDeviceMemory):
        driver.launch(a_launch(), driver.new_stream())
    cupy.cuda.driver.failing["launchKernel"] = CUDADriverError(719)
    with pytest.raises(DriverFault, match="status 719"):
        driver.launch(a_launch(), driver.new_stream())


@pytest.mark.parametrize("error", [CompileFailed("line 3: no"), NvrtcUnavailable("not found")])
def test_a_kernel_that_cannot_be_compiled_breaks_the_device(cupy: Any, error: Exception) -> None:
    def fail(*_: object) -> bytes:
        raise error

    found = CupyDriver(cupy, 1, fail)
    with pytest.raises(DriverFault, match=f"polynomials-bn254 cannot be compiled: {error}"):
        found.launch(a_launch(), found.new_stream())


def test_without_nvrtc_there_is_no_device(cupy: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cupy_driver, "gpu_is_visible", lambda: True)
    monkeypatch.setattr(cupy_driver, "import_cupy", lambda: cupy)

    def missing() -> str:
        raise NvrtcUnavailable("libnvrtc cannot be opened")

    monkeypatch.setattr("kernels.nvrtc.version", missing)
    with pytest.raises(DeviceUnavailable, match=r"libnvrtc cannot be opened\): install cuzkweb\[cuda13\]"):
        open_device("cuda:0")


def test_a_device_that_is_not_there_says_how_many_are(cupy: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cupy_driver, "gpu_is_visible", lambda: True)
    monkeypatch.setattr(cupy_driver, "import_cupy", lambda: cupy)
    with pytest.raises(DeviceUnavailable, match="no device cuda:2: this process sees 2"):
        open_driver(2, lambda *_: b"")
    assert open_driver(1, lambda *_: b"").model == "NVIDIA H200"
    cupy.cuda.runtime.failing["getDeviceCount"] = CUDARuntimeError(35)
    with pytest.raises(DeviceUnavailable, match="CUDA cannot be used here: status 35"):
        open_driver(0, lambda *_: b"")
    cupy.cuda.runtime.failing = {"setDevice": CUDARuntimeError(46)}
    with pytest.raises(DeviceUnavailable, match="cuda:0 cannot be used: status 46"):
        open_driver(0, lambda *_: b"")


def test_images_are_compiled_for_the_architecture_and_kept() -> None:
    asked: list[tuple[str, tuple[str, ...], str]] = []

    class Cache:
        def compile(self, program: Any, target: str) -> Any:
            asked.append((program.name, program.options, target))
            return types.SimpleNamespace(image=IMAGE)

    module: Module = modules.digits()
    assert compiled_images(Cache())(module, "sm_86") == IMAGE
    assert asked == [(module.source, (*modules.OPTIONS, *module.options), "sm_86")]
