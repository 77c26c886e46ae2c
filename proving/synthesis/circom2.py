"""Witness generators of circom 2: what they import, how signals go in and witnesses come out."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np
import wasmtime
from numpy.typing import NDArray

from kernels.curves import Curve
from proving.formats.words import to_words
from proving.synthesis.errors import InputError, InputProblem, SynthesisError, SynthesisErrorKind
from proving.synthesis.inputs import Inputs
from proving.synthesis.names import split_hash
from proving.synthesis.sandbox import HostFunction, Sandbox
from proving.synthesis.signals import (
    ELEMENT_BYTES,
    ELEMENT_WORDS,
    check_total,
    curve_of,
    incomplete,
    unknown_signal,
    wrong_length,
)

MAX_MESSAGE = 4096
MAX_LINES = 200
NO_POSITION = -1  # as unsigned, past the end of every signal
UNNAMED = "\0"  # no signal is called so

# Loops that would cost 20 us a signal if they crossed into Python. Values lie at 0 in the glue's own memory.
GLUE = """
(module
  (import "circuit" "getWitness" (func $get_witness (param i32)))
  (import "circuit" "setInputSignal" (func $set_input (param i32 i32 i32)))
  (import "circuit" "readSharedRWMemory" (func $read_word (param i32) (result i32)))
  (import "circuit" "writeSharedRWMemory" (func $write_word (param i32 i32)))
  (memory (export "memory") 1)
  (func (export "read_witness") (param $count i32) (param $words i32)
    (local $wire i32) (local $word i32) (local $address i32)
    (block $done
      (loop $wires
        (br_if $done (i32.ge_u (local.get $wire) (local.get $count)))
        (call $get_witness (local.get $wire))
        (local.set $word (i32.const 0))
        (loop $element
          (i32.store (local.get $address) (call $read_word (local.get $word)))
          (local.set $address (i32.add (local.get $address) (i32.const 4)))
          (local.set $word (i32.add (local.get $word) (i32.const 1)))
          (br_if $element (i32.lt_u (local.get $word) (local.get $words))))
        (local.set $wire (i32.add (local.get $wire) (i32.const 1)))
        (br $wires))))
  (func (export "set_signal")
    (param $high i32) (param $low i32) (param $count i32) (param $words i32)
    (local $index i32) (local $word i32) (local $address i32)
    (block $done
      (loop $elements
        (br_if $done (i32.ge_u (local.get $index) (local.get $count)))
        (local.set $word (i32.const 0))
        (loop $element
          (call $write_word (local.get $word) (i32.load (local.get $address)))
          (local.set $address (i32.add (local.get $address) (i32.const 4)))
          (local.set $word (i32.add (local.get $word) (i32.const 1)))
          (br_if $element (i32.lt_u (local.get $word) (local.get $words))))
        (call $set_input (local.get $high) (local.get $low) (local.get $index))
        (local.set $index (i32.add (local.get $index) (i32.const 1)))
        (br $elements)))))
"""

UNKNOWN_SIGNAL, TOO_MANY, ALREADY_SET, ASSERTION, NO_MEMORY, OUT_OF_ARRAY = range(1, 7)
EXCEPTIONS = {
    UNKNOWN_SIGNAL: "signal not found",
    TOO_MANY: "too many signals set",
    ALREADY_SET: "signal already set",
    ASSERTION: "assertion failed",
    NO_MEMORY: "not enough memory",
    OUT_OF_ARRAY: "input signal array access exceeds the size",
}


class GeneratorException(Exception):  # noqa: N818 - the generator's own word
    """The generator called its exception handler."""

    def __init__(self, code: int) -> None:
        self.code = code
        super().__init__(EXCEPTIONS.get(code, f"exception {code}"))


class Circom2:
    """A running circom 2 generator; good for one witness."""

    def __init__(self, sandbox: Sandbox, module: wasmtime.Module, log: Callable[[str], None]) -> None:
        self.sandbox = sandbox
        self.log = log
        self.errors: list[str] = []
        self.log_words: list[str] = []
        self.circuit = sandbox.instantiate(module, self.imports())
        self.glue = sandbox.instantiate(glue_module(sandbox.runtime.engine), self.glue_imports())

    def imports(self) -> dict[tuple[str, str], HostFunction]:
        """The functions of the host that generators call."""
        return {
            ("runtime", "exceptionHandler"): self.raise_exception,
            ("runtime", "printErrorMessage"): self.note_error,
            ("runtime", "writeBufferMessage"): self.note_log,
            ("runtime", "showSharedRWMemory"): self.note_value,
            ("runtime", "error"): self.raise_old_exception,
            ("runtime", "log"): self.note_value,
        }

    def glue_imports(self) -> dict[tuple[str, str], wasmtime.Func]:
        """The circuit's functions that the glue loops over."""
        names = ("getWitness", "setInputSignal", "readSharedRWMemory", "writeSharedRWMemory")
        return {("circuit", name): self.circuit.function(name) for name in names}

    def raise_exception(self, code: int) -> None:
        """Called by the generator when it gives up."""
        raise GeneratorException(code)

    def raise_old_exception(self, code: int, *_: int) -> None:
        """The exception handler under its older name."""
        raise GeneratorException(code)

    def note_error(self) -> None:
        """Called with a line of an error in the message buffer."""
        if len(self.errors) < MAX_LINES:
            self.errors.append(self.message())

    def note_log(self) -> None:
        """Called with a piece of a log line in the message buffer; a newline ends the line."""
        text = self.message()
        if text == "\n":
            self.log(" ".join(self.log_words))
            self.log_words.clear()
        elif len(self.log_words) < MAX_LINES:
            self.log_words.append(text)

    def note_value(self, *_: int) -> None:
        """Called with a value of a log line in the shared memory."""
        if len(self.log_words) < MAX_LINES:
            self.log_words.append(str(self.shared_value()))

    def message(self) -> str:
        """The text in the generator's message buffer."""
        characters = bytearray()
        while len(characters) < MAX_MESSAGE and (code := self.circuit.call("getMessageChar")):
            characters.append(code & 0xFF)
        return characters.decode("utf-8", "replace")

    def shared_value(self) -> int:
        """The integer in the shared memory."""
        words = [self.circuit.call("readSharedRWMemory", index) for index in range(ELEMENT_WORDS)]
        return sum(word << (32 * index) for index, word in enumerate(words))

    def start(self) -> Curve:
        """Initialise the circuit; the curve whose scalar field it works in."""
        if 4 * self.circuit.call("getFieldNumLen32") != ELEMENT_BYTES:
            raise SynthesisError(SynthesisErrorKind.MODULE, "the circuit's field is not 32 bytes wide")
        self.circuit.call("getRawPrime")
        curve = curve_of(self.shared_value())
        self.guard(self.circuit.call, "init", 0)
        return curve

    def guard(self, function: Callable[..., int], *arguments: int | str) -> int:
        """Call into the generator; its exception becomes an error that holds its own words."""
        try:
            return function(*arguments)
        except GeneratorException as exception:
            raise self.describe(exception) from exception

    def describe(self, exception: GeneratorException) -> SynthesisError:
        """An exception of the running circuit, in the circuit's words."""
        kind = SynthesisErrorKind.MEMORY if exception.code == NO_MEMORY else SynthesisErrorKind.ASSERTION
        where = "; ".join(line.strip() for line in self.errors if line.strip())
        return SynthesisError(kind, f"{exception}: {where}" if where else str(exception))

    def set_inputs(self, inputs: Inputs) -> None:
        """Hand all signals over. The last one makes the circuit compute its witness."""
        self.check_inputs(inputs)
        for name, values in inputs.items():
            self.set_signal(name, values)
        if self.complaint(UNNAMED, 0) != TOO_MANY:
            raise incomplete(inputs, "the circuit waits for more")

    def check_inputs(self, inputs: Inputs) -> None:
        """Refuse unknown names, wrong lengths and missing signals. Raises InputError."""
        problems = [problem for name, values in inputs.items() for problem in self.problems(name, values)]
        if problems:
            raise InputError(*problems)
        check_total(self.circuit.call("getInputSize"), inputs)

    def problems(self, name: str, values: list[int]) -> list[InputProblem]:
        """What is wrong with a signal's name or length."""
        size = self.circuit.call("getInputSignalSize", *split_hash(name))
        if size == len(values) and size:
            return []
        if not self.knows(name):
            return [unknown_signal(name)]
        return [] if size == len(values) else [wrong_length(name, len(values), size)]

    def knows(self, name: str) -> bool:
        """Whether the circuit has such an input: the complaint about a place past its end tells."""
        return self.complaint(name, NO_POSITION) == OUT_OF_ARRAY

    def complaint(self, name: str, position: int) -> int:
        """The code of the exception that setting a signal at a position raises; 0 for none."""
        try:
            self.circuit.call("setInputSignal", *split_hash(name), position)
        except GeneratorException as exception:
            return exception.code
        return 0

    def set_signal(self, name: str, values: list[int]) -> None:
        """Hand one signal over."""
        packed = to_words(values).reshape(-1).view(np.uint8)
        memory = self.glue.memory()
        self.sandbox.reserve(memory, len(packed))
        self.sandbox.view(memory, 0, len(packed))[:] = packed
        try:
            self.glue.call("set_signal", *split_hash(name), len(values), ELEMENT_WORDS)
        except GeneratorException as exception:
            if exception.code == UNKNOWN_SIGNAL:
                raise InputError(unknown_signal(name)) from exception
            if exception.code in (TOO_MANY, ALREADY_SET, OUT_OF_ARRAY):
                raise InputError(InputProblem(name, "has more values than the circuit takes")) from exception
            raise self.describe(exception) from exception

    def read_witness(self) -> NDArray[np.uint64]:
        """All wires, (n, 4) uint64, plain."""
        count = self.circuit.call("getWitnessSize")
        memory = self.glue.memory()
        self.sandbox.reserve(memory, count * ELEMENT_BYTES)
        self.glue.call("read_witness", count, ELEMENT_WORDS)
        return self.sandbox.view(memory, 0, count * ELEMENT_BYTES).copy().view("<u8").reshape(count, 4)


@lru_cache(maxsize=4)
def glue_module(engine: wasmtime.Engine) -> wasmtime.Module:
    """The glue compiled for an engine."""
    return wasmtime.Module(engine, bytes(wasmtime.wat2wasm(GLUE)))
