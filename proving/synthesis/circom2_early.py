"""The first witness generators of circom 2, which cannot say how long a signal is, nor some of them how many
values they take.

They would let a signal that is too long run over into the next one, and so make up for a missing one. Their
memory holds a table of 256 entries, right behind the shared memory: the hash of each input's name and, in 32
bits, its place among the signals. Inputs lie one after the other, so that the distance from one place to the
next is the length of a signal; the last one ends where the number of values says.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise

import numpy as np
import wasmtime
from numpy.typing import NDArray

from proving.synthesis.circom2 import TOO_MANY, UNNAMED, Circom2, GeneratorException, journal_entries
from proving.synthesis.errors import SynthesisError, SynthesisErrorKind
from proving.synthesis.inputs import Inputs
from proving.synthesis.names import hash_signal, to_i32
from proving.synthesis.sandbox import Sandbox
from proving.synthesis.signals import hold_against

SHARED_BYTES = 40  # a value with its two words of form
ENTRIES = 256
ENTRY = np.dtype([("low", "<u4"), ("high", "<u4"), ("place", "<u4")])
COUNTER_END = 1 << 20  # well behind the number of values, which follows the table
COUNT_SECONDS = 5.0


class EarlyCircom2(Circom2):
    """A running generator of circom 2.0; good for one witness."""

    def __init__(self, sandbox: Sandbox, module: wasmtime.Module, log: Callable[[str], None]) -> None:
        super().__init__(sandbox, module, log)
        self.module = module

    def read_journal(self) -> None:
        """Pass on the values that the circuit logs, each a line of its own."""
        for _, text in journal_entries(self.host.take_journal()):
            self.log(text)

    def check_inputs(self, inputs: Inputs) -> None:
        """Refuse unknown names, wrong lengths and missing signals. Raises InputError."""
        found = self.find_lengths()
        lengths = {name: found.get(hash_signal(name)) for name in inputs}
        hold_against(inputs, lengths, sum(found.values()))

    def find_lengths(self) -> dict[int, int]:
        """The number of values of every input by the hash of its name."""
        places = self.read_places()
        if not places:
            return {}
        ordered = sorted(places, key=places.__getitem__)
        end = places[ordered[0]] + self.count_values(ordered[0])
        if end <= places[ordered[-1]]:
            raise SynthesisError(SynthesisErrorKind.MODULE, "the inputs of the circuit are not in one piece")
        ends = [*(places[following] for _, following in pairwise(ordered)), end]
        return {name: limit - places[name] for name, limit in zip(ordered, ends, strict=True)}

    def read_places(self) -> dict[int, int]:
        """The place of every input among the circuit's signals by the hash of its name."""
        start = self.circuit.call("getSharedRWMemoryStart") + SHARED_BYTES
        table = self.sandbox.view(self.circuit.memory(), start, ENTRIES * ENTRY.itemsize).view(ENTRY)
        return {
            int(low) | int(high) << 32: int(place)
            for low, high, place in table[(table["low"] | table["high"]) != 0]
        }

    def count_values(self, name: int) -> int:
        """How many values the circuit takes, given the hash of an input."""
        if "getInputSize" in self.circuit:
            return self.circuit.call("getInputSize")
        limits = self.sandbox.limits
        sandbox = Sandbox(self.sandbox.runtime, replace(limits, seconds=min(COUNT_SECONDS, limits.seconds)))
        with sandbox.running():
            other = EarlyCircom2(sandbox, self.module, lambda _line: None)
            other.start()
            return other.watch_counter(name)

    def watch_counter(self, name: int) -> int:
        """The number of values, as the setting of one of them betrays it: nothing else is counted down.

        The last value makes the circuit run: one that does so at the first, to whatever end, takes no more.
        This instance is spoilt.
        """
        before = self.read_numbers()
        try:
            self.enter(self.circuit, "setInputSignal", to_i32(name >> 32), to_i32(name & 0xFFFFFFFF), 0)
        except (GeneratorException, wasmtime.Trap):
            return 1
        if self.complaint(UNNAMED, 0) == TOO_MANY:
            return 1
        counted = before[(before > 0) & (self.read_numbers() == before - 1)]
        if len(counted) != 1:
            reason = "the circuit does not count its inputs as circom's do"
            raise SynthesisError(SynthesisErrorKind.MODULE, reason)
        return int(counted[0])

    def read_numbers(self) -> NDArray[np.int64]:
        """The beginning of the memory in words of 32 bits."""
        memory = self.circuit.memory()
        size = min(COUNTER_END, memory.data_len(self.sandbox.store))
        return self.sandbox.view(memory, 0, size).view("<u4").astype(np.int64)
