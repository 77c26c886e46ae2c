"""One call of a witness generator: its own store with limits, its traps turned into reasons."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.ctypeslib  # before walls stand that let nothing be imported
import wasmtime
from numpy.typing import NDArray

from proving.synthesis.engine import TICK_SECONDS, Runtime
from proving.synthesis.errors import SynthesisError, SynthesisErrorKind

PAGE_BYTES = 1 << 16
MAX_TABLE = 1 << 20
I32 = wasmtime.ValType.i32()
Extern: TypeAlias = wasmtime.Memory | wasmtime.Func


@dataclass(frozen=True, slots=True)
class Limits:
    """What one call may take: bytes of each of its memories, seconds of wall time."""

    memory_bytes: int = 2 << 30
    seconds: float = 300.0


class Sandbox:
    """A store for one call and what runs in it."""

    def __init__(self, runtime: Runtime, limits: Limits) -> None:
        self.runtime = runtime
        self.limits = limits
        self.store = wasmtime.Store(runtime.engine)
        self.store.set_limits(
            limits.memory_bytes, table_elements=MAX_TABLE, tables=4, memories=4, instances=8
        )
        self.store.set_epoch_deadline(max(1, math.ceil(limits.seconds / TICK_SECONDS)))

    @contextmanager
    def running(self) -> Iterator[None]:
        """Run the clock, and turn what WebAssembly raises into a SynthesisError."""
        try:
            with self.runtime.clock.running():
                yield
        except wasmtime.Trap as trap:
            raise self.explain(trap) from trap
        except wasmtime.WasmtimeError as error:
            reason = str(error).strip().splitlines()[-1].strip()[:200]
            raise SynthesisError(
                SynthesisErrorKind.TRAP, f"the witness generator failed: {reason}"
            ) from error

    def explain(self, trap: wasmtime.Trap) -> SynthesisError:
        """Say in words why WebAssembly stopped."""
        code = trap.trap_code
        if code == wasmtime.TrapCode.INTERRUPT:
            reason = f"the witness generator ran longer than {self.limits.seconds:g} s"
            return SynthesisError(SynthesisErrorKind.TIME, reason)
        name = code.name.lower().replace("_", " ") if code is not None else "unknown reason"
        return SynthesisError(SynthesisErrorKind.TRAP, f"the witness generator crashed: {name}")

    def instantiate(
        self,
        module: wasmtime.Module,
        provided: Mapping[tuple[str, str], Extern],
    ) -> Exports:
        """Instantiate a module. Raises SynthesisError when it imports what nobody provides."""
        self.check_memories(module)
        imports = [self.link(wanted, provided) for wanted in module.imports]
        instance = wasmtime.Instance(self.store, module, imports)
        return Exports(self.store, instance.exports(self.store))

    def check_memories(self, module: wasmtime.Module) -> None:
        """Refuse a module whose memory is over the limit before it runs."""
        for kind in [*(item.type for item in module.imports), *(item.type for item in module.exports)]:
            if isinstance(kind, wasmtime.MemoryType):
                self.check_memory(kind.limits.min * PAGE_BYTES)

    def check_memory(self, size: int) -> None:
        """Refuse more bytes than the limit. Raises SynthesisError."""
        if size > self.limits.memory_bytes:
            raise SynthesisError(
                SynthesisErrorKind.MEMORY,
                f"the witness generator needs {size} bytes of memory, the limit is "
                f"{self.limits.memory_bytes}",
            )

    def link(self, wanted: wasmtime.ImportType, provided: Mapping[tuple[str, str], Extern]) -> Extern:
        """What a module imports under a name."""
        offer = provided.get((wanted.module, wanted.name or ""))
        if offer is None:
            raise SynthesisError(
                SynthesisErrorKind.MODULE,
                f"the witness generator imports {wanted.module}.{wanted.name}, "
                "which no circom known here needs",
            )
        return offer

    def new_memory(self, pages: int) -> wasmtime.Memory:
        """A memory that the host gives to a module."""
        self.check_memory(pages * PAGE_BYTES)
        return wasmtime.Memory(self.store, wasmtime.MemoryType(wasmtime.Limits(pages, None)))

    def reserve(self, memory: wasmtime.Memory, size: int) -> None:
        """Grow a memory to at least `size` bytes. Raises SynthesisError over the limit."""
        self.check_memory(size)
        missing = size - memory.data_len(self.store)
        if missing > 0:
            memory.grow(self.store, -(-missing // PAGE_BYTES))

    def view(self, memory: wasmtime.Memory, start: int, size: int) -> NDArray[np.uint8]:
        """The bytes of a memory as a uint8 array. It dies with the store and when the memory grows."""
        if start < 0 or start + size > memory.data_len(self.store):
            raise SynthesisError(
                SynthesisErrorKind.TRAP, "the witness generator points outside of its memory"
            )
        if not size:
            return np.empty(0, dtype=np.uint8)
        return np.ctypeslib.as_array(memory.get_buffer_ptr(self.store, size, start))


class Exports:
    """What an instance exports, called by name."""

    def __init__(self, store: wasmtime.Store, exports: Any) -> None:
        self.store = store
        self.exports = exports

    def __contains__(self, name: str) -> bool:
        return name in self.exports

    def get(self, name: str) -> Any:
        """An export by name. Raises SynthesisError when the module lacks it."""
        if name not in self.exports:
            raise SynthesisError(SynthesisErrorKind.MODULE, f"the witness generator lacks {name}")
        return self.exports[name]

    def function(self, name: str) -> wasmtime.Func:
        """An exported function."""
        function = self.get(name)
        if not isinstance(function, wasmtime.Func):
            raise SynthesisError(SynthesisErrorKind.MODULE, f"{name} of the witness generator is no function")
        return function

    def memory(self) -> wasmtime.Memory:
        """The exported memory."""
        memory = self.get("memory")
        if not isinstance(memory, wasmtime.Memory):
            raise SynthesisError(SynthesisErrorKind.MODULE, "memory of the witness generator is no memory")
        return memory

    def call(self, name: str, *arguments: int) -> int:
        """Call an exported function; its result as an unsigned 32-bit number, 0 for none.

        Raises wasmtime.Trap, and SynthesisError for a function of another type.
        """
        function = self.function(name)
        kind = function.type(self.store)
        integers = all(value == I32 for value in (*kind.params, *kind.results))
        if not integers or len(kind.params) != len(arguments) or len(kind.results) > 1:
            raise SynthesisError(
                SynthesisErrorKind.MODULE, f"{name} of the witness generator has another type than circom's"
            )
        result = function(self.store, *arguments)
        return int(result) & 0xFFFFFFFF if result is not None else 0
