"""The WebAssembly engine: compiled modules kept on disk, calls bounded in time."""

from __future__ import annotations

import hashlib
import importlib.metadata
import os
import platform
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path

import wasmtime

from proving.formats.files import write_atomically
from proving.synthesis.errors import SynthesisError, SynthesisErrorKind

TICK_SECONDS = 0.05
PRIVATE_DIRECTORY = 0o700
PRIVATE_FILE = 0o600


class Clock:
    """Advances an engine's epoch while calls run, so that a call past its deadline is interrupted."""

    def __init__(self, engine: wasmtime.Engine) -> None:
        self.engine = engine
        self.lock = threading.Lock()
        self.calls = 0
        self.idle = threading.Event()

    @contextmanager
    def running(self) -> Iterator[None]:
        """Keep the clock going for the time of one call."""
        with self.lock:
            self.calls += 1
            if self.calls == 1:
                self.idle = threading.Event()
                threading.Thread(target=self.tick, args=(self.idle,), daemon=True, name="wasm-clock").start()
        try:
            yield
        finally:
            with self.lock:
                self.calls -= 1
                if not self.calls:
                    self.idle.set()

    def tick(self, idle: threading.Event) -> None:
        """Advance the epoch until no call runs."""
        while not idle.wait(TICK_SECONDS):
            self.engine.increment_epoch()


class Runtime:
    """One engine and its clock."""

    def __init__(self) -> None:
        config = wasmtime.Config()
        config.epoch_interruption = True
        config.wasm_multi_memory = True
        self.engine = wasmtime.Engine(config)
        self.clock = Clock(self.engine)


def runtime() -> Runtime:
    """The engine of this process. A forked child gets one of its own: threads do not survive a fork."""
    return runtime_of(os.getpid())


@lru_cache(maxsize=1)
def runtime_of(process: int) -> Runtime:  # noqa: ARG001 - the key of the cache
    """The engine of a process by its number."""
    return Runtime()


def compile_module(engine: wasmtime.Engine, content: bytes, file: str, cache: Path | None) -> wasmtime.Module:
    """Compile a module, or load what an earlier call compiled from the same bytes.

    `cache` is a directory that belongs to this user alone, since loading trusts what is in it; None compiles
    every time. Raises SynthesisError when the bytes are no WebAssembly module.
    """
    stored = cache / f"{name_compiled(content)}.cwasm" if cache is not None and prepare(cache) else None
    if stored is not None and is_private(stored):
        try:
            return wasmtime.Module.deserialize_file(engine, str(stored))
        except wasmtime.WasmtimeError:  # another build of the engine wrote it
            stored.unlink(missing_ok=True)
    try:
        module = wasmtime.Module(engine, content)
    except wasmtime.WasmtimeError as error:
        reason = str(error).strip().splitlines()[-1].strip()[:200]
        raise SynthesisError(
            SynthesisErrorKind.MODULE, f"{file}: not a WebAssembly module: {reason}"
        ) from error
    if stored is not None:
        keep(stored, module)
    return module


def name_compiled(content: bytes) -> str:
    """A name for the compiled form of a module: its bytes, the engine's version and this kind of machine."""
    digest = hashlib.sha256(content)
    digest.update(f"\0{importlib.metadata.version('wasmtime')}\0{platform.machine()}".encode())
    return digest.hexdigest()


def prepare(directory: Path) -> bool:
    """Make the cache directory; whether it is there and nobody else can write to it."""
    try:
        directory.mkdir(mode=PRIVATE_DIRECTORY, parents=True, exist_ok=True)
    except OSError:
        return False
    return is_private(directory)


def is_private(path: Path) -> bool:
    """Whether a path exists, belongs to this user and is writable by nobody else."""
    try:
        status = path.lstat()
    except OSError:
        return False
    return status.st_uid == os.geteuid() and not status.st_mode & 0o022


def keep(stored: Path, module: wasmtime.Module) -> None:
    """Store a compiled module for the next call. A full or read-only disk costs only that call its speed."""
    try:
        write_atomically(stored, [bytes(module.serialize())], mode=PRIVATE_FILE)
    except OSError:
        stored.unlink(missing_ok=True)


def default_cache() -> Path:
    """Where compiled modules are kept: the user's cache directory."""
    base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(base) / "cuzkweb" / "modules"
