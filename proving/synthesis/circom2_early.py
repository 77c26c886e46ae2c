"""The first witness generators of circom 2, which cannot say how long a signal is.

They would let a signal that is too long run over into the next one. Their memory begins with a table that
holds, right behind the hash of each input's name, its place among the signals, in 32 bits: the distance from
one place to the next is the room that a signal has.
"""

from __future__ import annotations

from itertools import pairwise

from proving.synthesis.circom2 import Circom2, journal_entries
from proving.synthesis.errors import InputError, InputProblem
from proving.synthesis.inputs import Inputs
from proving.synthesis.names import hash_signal
from proving.synthesis.signals import check_total, unknown_signal, wrong_length

TABLE_END = 1 << 20  # well behind the table, which follows the constants of the field


class EarlyCircom2(Circom2):
    """A running generator of circom 2.0; good for one witness."""

    def read_journal(self) -> None:
        """Pass on the values that the circuit logs, each a line of its own."""
        for _, text in journal_entries(self.host.take_journal()):
            self.log(text)

    def check_inputs(self, inputs: Inputs) -> None:
        """Refuse unknown names, signals that run into the next, and missing ones where that shows."""
        places = {name: self.find_place(name) for name in inputs}
        problems = [unknown_signal(name) for name, place in places.items() if place is None]
        problems += self.overruns(
            {name: place for name, place in places.items() if place is not None}, inputs
        )
        if problems:
            raise InputError(*problems)
        if "getInputSize" in self.circuit:
            self.check_count(self.circuit.call("getInputSize"), places, inputs)

    def check_count(self, wanted: int, places: dict[str, int | None], inputs: Inputs) -> None:
        """Refuse too few values; too many are those of the last signal, whose end only the count tells."""
        check_total(wanted, inputs)
        excess = sum(map(len, inputs.values())) - wanted
        if excess:
            last = max(places, key=lambda name: places[name] or 0)
            raise InputError(wrong_length(last, len(inputs[last]), len(inputs[last]) - excess))

    def overruns(self, places: dict[str, int], inputs: Inputs) -> list[InputProblem]:
        """Signals that are longer than the distance to the next one that is given."""
        ordered = sorted(places, key=places.__getitem__)
        rooms = {name: places[following] - places[name] for name, following in pairwise(ordered)}
        return [
            wrong_length(name, len(inputs[name]), room)
            for name, room in rooms.items()
            if len(inputs[name]) > room
        ]

    def find_place(self, name: str) -> int | None:
        """The place of an input among the circuit's signals."""
        memory = self.circuit.memory()
        size = min(TABLE_END, memory.data_len(self.sandbox.store))
        table = self.sandbox.view(memory, 0, size).tobytes()
        found = table.find(hash_signal(name).to_bytes(8, "little"))
        return int.from_bytes(table[found + 8 : found + 12], "little") if found >= 0 else None
