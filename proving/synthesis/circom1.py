"""Witness generators of circom 1: the host owns the memory, and the circuit's tables lie in it.

Numbers of 32 bits at fixed places: 0 the first free byte, 16 the number of input values, 36 the component
table, 40 the bit map of signals that are inputs. The main component's entry begins with the addresses of its
hash table (256 slots of hash u64 and index u32) and of its signals (offset u32, address of sizes u32, type
u32); the first of a signal's sizes is its number of values.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import wasmtime
from numpy.typing import NDArray

from kernels.curves import Curve
from proving.synthesis.errors import SynthesisError, SynthesisErrorKind
from proving.synthesis.host import Host
from proving.synthesis.inputs import Inputs
from proving.synthesis.names import hash_signal
from proving.synthesis.sandbox import Sandbox
from proving.synthesis.signals import ELEMENT_BYTES, curve_of, hold_against

FREE, INPUT_COUNT, COMPONENTS, INPUT_MAP = 0, 16, 36, 40
HASH_SLOTS, HASH_SLOT_BYTES, ENTRY_BYTES = 256, 12, 12
SIGNAL_TYPE = 1
MAIN = 0
LONG = 0x80000000
SHORT_LIMIT = 0x80000000
MAX_TEXT = 4096
CHECKED = 1  # let the circuit check its own constraints

NO_MEMORY, MISMATCH, ASSERTION = 1, 7, 9


@dataclass(frozen=True, slots=True)
class Signal:
    """A signal of the main component: its first place among the circuit's signals, and how many it takes."""

    offset: int
    size: int


class Circom1:
    """A running circom 1 generator; good for one witness."""

    def __init__(self, sandbox: Sandbox, module: wasmtime.Module, log: Callable[[str], None]) -> None:
        self.sandbox = sandbox
        self.log = log
        self.memory = sandbox.new_memory(imported_pages(module))
        memory = {("env", "memory"): self.memory}
        self.host = Host(sandbox, "circom1_host", memory)
        self.circuit = sandbox.instantiate(module, {**memory, **self.host.imports()})
        self.element = 0

    def view(self, address: int, size: int) -> NDArray[np.uint8]:
        """Bytes of the circuit's memory, uint8."""
        return self.sandbox.view(self.memory, address & 0xFFFFFFFF, size)

    def number(self, address: int) -> int:
        """The 32-bit number at an address."""
        return int.from_bytes(self.view(address, 4).tobytes(), "little")

    def text(self, address: int) -> str:
        """The text at an address, up to its zero byte."""
        size = min(MAX_TEXT, self.memory.data_len(self.sandbox.store) - (address & 0xFFFFFFFF))
        if size <= 0:
            return ""
        return self.view(address, size).tobytes().split(b"\0")[0].decode("utf-8", "replace")

    def start(self) -> Curve:
        """Initialise the circuit; the curve whose scalar field it works in."""
        if self.circuit.call("getFrLen") != 8 + ELEMENT_BYTES:
            raise SynthesisError(SynthesisErrorKind.MODULE, "the circuit's field is not 32 bytes wide")
        prime = self.view(self.circuit.call("getPRawPrime"), ELEMENT_BYTES)
        curve = curve_of(int.from_bytes(prime.tobytes(), "little"))
        self.enter("init", CHECKED)
        return curve

    def enter(self, name: str, *arguments: int) -> int:
        """Call into the generator; what it gives up with becomes an error in its own words."""
        try:
            return self.circuit.call(name, *arguments)
        except wasmtime.Trap:
            code = self.host.take_exception()
            self.read_journal()
            if code is None:
                raise
            raise self.describe(code) from None

    def describe(self, code: int) -> SynthesisError:
        """An exception in the circuit's words. The values that do not match are left unsaid."""
        place = {MISMATCH: "fourth", ASSERTION: "third"}.get(code)
        texts = [self.text(self.host.number(name)).strip() for name in ("text", place) if name is not None]
        kind = SynthesisErrorKind.MEMORY if code == NO_MEMORY else SynthesisErrorKind.ASSERTION
        return SynthesisError(kind, " ".join(filter(None, texts)) or f"error {code}")

    def read_journal(self) -> None:
        """Pass on the values that the circuit logged."""
        journal = self.host.take_journal()
        for start in range(0, len(journal), 8 + ELEMENT_BYTES):
            head, flags = struct.unpack_from("<iI", journal, start)
            long = int.from_bytes(journal[start + 8 : start + 8 + ELEMENT_BYTES], "little")
            self.log(str(long if flags & LONG else head))

    def check_inputs(self, inputs: Inputs) -> dict[str, Signal]:
        """Where each signal goes. Raises InputError for unknown, missing and wrongly sized ones."""
        known = {name: self.find_signal(name) for name in inputs}
        lengths = {name: None if signal is None else signal.size for name, signal in known.items()}
        hold_against(inputs, lengths, self.number(INPUT_COUNT))
        return {name: signal for name, signal in known.items() if signal is not None}

    def find_signal(self, name: str) -> Signal | None:
        """An input signal of the main component by its name."""
        component = self.number(COMPONENTS)
        slots, entries = self.number(component), self.number(component + 4)
        table = self.view(slots, HASH_SLOTS * HASH_SLOT_BYTES).view(
            np.dtype([("hash", "<u8"), ("index", "<u4")])
        )
        found = np.flatnonzero(table["hash"] == hash_signal(name))
        if not len(found):
            return None
        entry = entries + ENTRY_BYTES * int(table["index"][found[0]])
        offset, sizes, kind = (self.number(entry + 4 * place) for place in range(3))
        if kind != SIGNAL_TYPE or not self.is_input(offset):
            return None
        return Signal(offset, self.number(sizes))

    def is_input(self, offset: int) -> bool:
        """Whether a signal is an input."""
        word = self.number(self.number(INPUT_MAP) + 4 * (offset >> 5))
        return bool(word >> (offset & 31) & 1)

    def set_inputs(self, inputs: Inputs) -> None:
        """Hand all signals over. The last one makes the circuit compute its witness."""
        for name, signal in self.check_inputs(inputs).items():
            for index, value in enumerate(inputs[name]):
                self.enter("setSignal", MAIN, MAIN, signal.offset + index, self.put_element(value))
        self.read_journal()

    def put_element(self, value: int) -> int:
        """Lay an element in memory in the circuit's own form; its address."""
        if not self.element:
            self.element = self.number(FREE)
            self.view(FREE, 4)[:] = to_bytes(self.element + 8 + ELEMENT_BYTES, 4)
        short = value < SHORT_LIMIT
        packed = to_bytes(value, 8) if short else to_bytes(LONG << 32 | value << 64, 8 + ELEMENT_BYTES)
        self.view(self.element, len(packed))[:] = packed
        return self.element

    def read_witness(self) -> NDArray[np.uint64]:
        """All wires, (n, 4) uint64, plain."""
        count = self.circuit.call("getNVars")
        values = self.view(self.circuit.call("getWitnessBuffer"), count * ELEMENT_BYTES)
        return values.copy().view("<u8").reshape(count, 4)


def to_bytes(value: int, size: int) -> NDArray[np.uint8]:
    """A number as little-endian bytes, uint8."""
    return np.frombuffer(value.to_bytes(size, "little"), dtype=np.uint8)


def imported_pages(module: wasmtime.Module) -> int:
    """How much memory the module wants of its host, in pages."""
    for item in module.imports:
        if isinstance(item.type, wasmtime.MemoryType):
            return item.type.limits.min
    raise SynthesisError(SynthesisErrorKind.MODULE, "the witness generator imports no memory")
