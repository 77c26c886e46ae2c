"""Witness generators of circom 2: what they import, how signals go in and witnesses come out."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import wasmtime
from numpy.typing import NDArray

from kernels.curves import Curve
from proving.formats.words import to_words
from proving.synthesis.errors import InputError, InputProblem, SynthesisError, SynthesisErrorKind
from proving.synthesis.host import Host, helper_module
from proving.synthesis.inputs import Inputs
from proving.synthesis.names import split_hash
from proving.synthesis.sandbox import Exports, Sandbox
from proving.synthesis.signals import (
    ELEMENT_BYTES,
    ELEMENT_WORDS,
    curve_of,
    hold_against,
    incomplete,
    unknown_signal,
)

GLUED = ("getWitness", "setInputSignal", "readSharedRWMemory", "writeSharedRWMemory")
ERROR, TEXT, VALUE = 1, 2, 3
NO_POSITION = -1  # as unsigned, past the end of every signal
UNNAMED = "\0"  # no signal is called so

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
        self.host = Host(sandbox, "circom2_host", {})
        self.circuit = sandbox.instantiate(module, self.host.imports())
        self.host.give(self.circuit, ("getMessageChar", "readSharedRWMemory"))
        glue = helper_module(sandbox.runtime.engine, "circom2_glue")
        self.glue = sandbox.instantiate(
            glue, {("circuit", name): self.circuit.function(name) for name in GLUED}
        )

    def enter(self, exports: Exports, name: str, *arguments: int) -> int:
        """Call into the generator. Raises GeneratorException when it gives up."""
        try:
            return exports.call(name, *arguments)
        except wasmtime.Trap:
            code = self.host.take_exception()
            if code is None:
                raise
            raise GeneratorException(code) from None

    def read_journal(self) -> None:
        """Keep the errors that the circuit told, pass on its log lines."""
        words: list[str] = []
        for kind, text in journal_entries(self.host.take_journal()):
            if kind == ERROR:
                self.errors.append(text)
            elif text == "\n":
                self.log(" ".join(words))
                words.clear()
            else:
                words.append(text)
        if words:
            self.log(" ".join(words))

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
        try:
            self.enter(self.circuit, "init", 0)
        except GeneratorException as exception:
            raise self.describe(exception) from exception
        return curve

    def describe(self, exception: GeneratorException) -> SynthesisError:
        """An exception of the running circuit, in the circuit's words."""
        self.read_journal()
        kind = SynthesisErrorKind.MEMORY if exception.code == NO_MEMORY else SynthesisErrorKind.ASSERTION
        where = "; ".join(line.strip() for line in self.errors if line.strip())
        return SynthesisError(kind, f"{exception}: {where}" if where else str(exception))

    def set_inputs(self, inputs: Inputs) -> None:
        """Hand all signals over. The last one makes the circuit compute its witness."""
        self.check_inputs(inputs)
        for name, values in inputs.items():
            self.set_signal(name, values)
        self.read_journal()
        if self.complaint(UNNAMED, 0) != TOO_MANY:
            raise InputError(incomplete(inputs, "the circuit waits for more"))

    def check_inputs(self, inputs: Inputs) -> None:
        """Refuse unknown names, wrong lengths and missing signals. Raises InputError."""
        lengths = {name: self.find_length(name, len(values)) for name, values in inputs.items()}
        hold_against(inputs, lengths, self.circuit.call("getInputSize"))

    def find_length(self, name: str, expected: int) -> int | None:
        """How many values a signal takes, None for an unknown one. What is as long as expected is known."""
        length = self.circuit.call("getInputSignalSize", *split_hash(name))
        if length == expected and length:
            return length
        return length if self.knows(name) else None

    def knows(self, name: str) -> bool:
        """Whether the circuit has such an input: the complaint about a place past its end tells."""
        return self.complaint(name, NO_POSITION) == OUT_OF_ARRAY

    def complaint(self, name: str, position: int) -> int:
        """The code of the exception that setting a signal at a position raises; 0 for none."""
        try:
            self.enter(self.circuit, "setInputSignal", *split_hash(name), position)
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
            self.enter(self.glue, "set_signal", *split_hash(name), len(values), ELEMENT_WORDS)
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


def journal_entries(journal: bytes) -> Iterator[tuple[int, str]]:
    """What the host module noted: the kind of each entry and its text; values as decimal numbers."""
    position = 0
    while position < len(journal):
        kind, start = journal[position], position + 1
        if kind == VALUE:
            position = start + ELEMENT_BYTES
            yield kind, str(int.from_bytes(journal[start:position], "little"))
        else:
            end = journal.find(b"\0", start)
            end = len(journal) if end < 0 else end
            position = end + 1
            yield kind, journal[start:end].decode("utf-8", "replace")
