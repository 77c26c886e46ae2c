"""What a generator imports: a module of ours beside it in the sandbox, so that no call crosses into Python.

Functions of Python cannot serve here. They are slow, and an exception in one would reach whichever thread's
call ends next, for wasmtime keeps it in one place for all threads.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from importlib.resources import files

import wasmtime

from proving.synthesis.sandbox import Exports, Extern, Sandbox

MODULE = "runtime"
FUNCTIONS = (
    "exceptionHandler",
    "printErrorMessage",
    "writeBufferMessage",
    "showSharedRWMemory",
    "error",
    "log",
    "logSetSignal",
    "logGetSignal",
    "logStartComponent",
    "logFinishComponent",
)


HELPERS = ("circom1_host", "circom2_host", "circom2_glue")

prepared: dict[str, bytes] = {}
"""Helpers in compiled form, for processes that cannot read them any more (see `nursery`)."""


@lru_cache(maxsize=16)
def helper_module(engine: wasmtime.Engine, name: str) -> wasmtime.Module:
    """One of the modules in `wat`, compiled for an engine."""
    if name in prepared:
        return wasmtime.Module.deserialize(engine, prepared[name])
    text = files("proving.synthesis").joinpath("wat", f"{name}.wat").read_text()
    return wasmtime.Module(engine, bytes(wasmtime.wat2wasm(text)))


class Host:
    """A running host module: what the generator imports, and what it told."""

    def __init__(self, sandbox: Sandbox, name: str, provided: Mapping[tuple[str, str], Extern]) -> None:
        self.sandbox = sandbox
        self.exports = sandbox.instantiate(helper_module(sandbox.runtime.engine, name), provided)

    def imports(self) -> dict[tuple[str, str], Extern]:
        """The functions for a generator."""
        return {(MODULE, name): self.exports.function(name) for name in FUNCTIONS if name in self.exports}

    def give(self, circuit: Exports, names: tuple[str, ...]) -> None:
        """Let the host's functions call some of the generator's."""
        table = self.exports.get("circuit")
        for index, name in enumerate(names):
            table.set(self.sandbox.store, index, circuit.function(name))

    def number(self, name: str) -> int:
        """One of the host's numbers, unsigned."""
        return int(self.exports.get(name).value(self.sandbox.store)) & 0xFFFFFFFF

    def take_exception(self) -> int | None:
        """The code that the generator gave up with since the last time, or None."""
        if not self.number("raised"):
            return None
        self.exports.get("raised").set_value(self.sandbox.store, 0)
        return self.number("code")

    def take_journal(self) -> bytes:
        """What the generator told since the last time."""
        journal = self.sandbox.view(self.exports.memory(), 0, self.number("length")).tobytes()
        self.exports.get("length").set_value(self.sandbox.store, 0)
        return journal
