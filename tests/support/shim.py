"""Device text compiled by g++ through kernels/csrc/cuda/shim, built once for a hash of its sources."""

import ctypes
import fcntl
import hashlib
import os
import subprocess
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path

from kernels.launches import Launch
from kernels.modules import Module, ParameterKind
from tests.conftest import REPOSITORY

SOURCES = REPOSITORY / "kernels" / "csrc"
BUILDS = REPOSITORY / "build" / "shim"
COMPILE = (
    *("g++", "-std=c++20", "-O1", "-Wall", "-Wextra", "-Werror", "-DCUZK_SHIM"),
    *("-fPIC", "-fvisibility=hidden", "-fno-gnu-unique"),  # units of one process share no names
)
RUNTIME = "cuda/shim/shim.cpp"

TYPES = {
    ParameterKind.POINTER: ctypes.c_uint64,
    ParameterKind.U32: ctypes.c_uint32,
    ParameterKind.U64: ctypes.c_uint64,
}
OUTCOMES = {-1: "unknown kernel", -2: "deadlock", -3: "block of the wrong size"}


class LaunchFailed(AssertionError):  # noqa: N818 - it names the outcome
    """The shim refused a launch, or its threads could not all go on."""


class Unit:
    """One module, loaded; addresses are those of host memory."""

    def __init__(self, module: Module, library: ctypes.CDLL) -> None:
        self.module = module
        self.library = library
        self._launch = library.cuzk_shim_launch

    def launch(
        self,
        kernel: str,
        grid: tuple[int, int, int],
        shared_bytes: int,
        arguments: Sequence[int],
        *,
        order: int = 0,
        block: int | None = None,
    ) -> None:
        """Run one launch to its end; `order` is the order of the threads. Raises LaunchFailed."""
        described = self.module.kernel(kernel)
        values = [
            TYPES[kind](value) for (_, kind), value in zip(described.parameters, arguments, strict=True)
        ]
        pointers = (ctypes.c_void_p * len(values))(*(ctypes.addressof(value) for value in values))
        size = (ctypes.c_uint32 * 3)(*grid)
        outcome = self._launch(kernel.encode(), size, block or described.block, shared_bytes, pointers, order)
        if outcome:
            raise LaunchFailed(f"{self.module.name}.{kernel}: {OUTCOMES.get(outcome, outcome)}")


def run_launches(launches: Iterable[Launch], order: int = 0) -> None:
    """Run the launches one after another, each with its own module's unit."""
    for step in launches:
        unit(step.module).launch(
            step.kernel, step.grid, step.shared_bytes, step.arguments, order=order, block=step.block
        )


@cache
def unit(module: Module) -> Unit:
    """The module's unit, built where it is not there yet."""
    return load(module, SOURCES)


def load(module: Module, sources: Path) -> Unit:
    """As `unit`, from another tree of sources."""
    return Unit(module, ctypes.CDLL(str(build(module, sources))))


def build(module: Module, sources: Path) -> Path:
    """Compile the module from `sources` and return the library; what was built is found by its hash."""
    digest = digest_of(sources)
    folder = BUILDS / digest
    folder.mkdir(parents=True, exist_ok=True)
    library = folder / f"{module.name}.so"
    with (folder / f"{module.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not library.exists():
            objects = [compiled_runtime(folder, sources), folder / f"{module.name}.o"]
            options = [option for option in module.options if option.startswith("-D")]
            compile_object(sources, module.source, options, objects[1])
            link(objects, library)
    return library


def digest_of(sources: Path) -> str:
    """A hash of every text that device code can include, and of the way of compiling it."""
    digest = hashlib.sha256(repr(COMPILE).encode())
    for path in sorted([*sources.glob("*.hpp"), *(sources / "cuda").rglob("*.*")]):
        if path.suffix != ".md":
            digest.update(f"{path.relative_to(sources)}\0".encode() + path.read_bytes())
    return digest.hexdigest()[:24]


def compiled_runtime(folder: Path, sources: Path) -> Path:
    runtime = folder / "runtime.o"
    with (folder / "runtime.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not runtime.exists():
            compile_object(sources, RUNTIME, [], runtime)
    return runtime


def compile_object(sources: Path, source: str, options: Sequence[str], target: Path) -> None:
    partial = target.with_suffix(f".{os.getpid()}")
    what = [*COMPILE, *options, "-I", str(sources), "-c", "-x", "c++", str(sources / source)]
    run([*what, "-o", str(partial)])
    partial.rename(target)


def link(objects: Sequence[Path], library: Path) -> None:
    partial = library.with_suffix(f".{os.getpid()}")
    run(["g++", "-shared", *map(str, objects), "-o", str(partial)])
    partial.rename(library)


def run(command: Sequence[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
