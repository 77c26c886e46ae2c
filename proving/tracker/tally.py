"""How many partitions of a job are where: kept beside the records, in the same transaction as each move.

A reader learns from the tally what a job looks like without reading its partitions, and checks the records
that it does read against it. Standard library only.
"""

from collections import Counter
from collections.abc import Collection, Iterable
from functools import cached_property

from proving.tracker.budget import holdings
from proving.tracker.records import PartitionRecord, Phase

PHASES = tuple(str(phase) for phase in Phase)
HELD = "held"
BYTES = "bytes:"


def tally(records: Iterable[PartitionRecord | None]) -> dict[str, int]:
    """Partitions by phase, those that somebody works on (`held`), and bytes held by place (`bytes:...`)."""
    found: Counter[str] = Counter()
    for record in records:
        if record is None:
            continue
        found[str(record.phase)] += 1
        if record.assignment is not None:
            found[HELD] += 1
        for place, held in holdings(record):
            found[BYTES + place] += held
    return {name: count for name, count in found.items() if count}


def moved(before: PartitionRecord | None, after: PartitionRecord) -> dict[str, int]:
    """What a partition's move changes of its job's tally; no zeros."""
    change = Counter(tally([after]))
    change.subtract(tally([before]))
    return {name: count for name, count in change.items() if count}


class Counts(dict[str, int]):
    """A tally that is read and not written: what follows from it is worked out once."""

    @cached_property
    def phases(self) -> dict[str, int]:
        """The phases alone, in the order of the pipeline."""
        return {phase: self[phase] for phase in PHASES if self.get(phase)}

    @cached_property
    def total(self) -> int:
        """All partitions."""
        return sum(self.phases.values())

    @cached_property
    def places(self) -> dict[str, int]:
        """Bytes held, by place."""
        return {
            name.removeprefix(BYTES): count
            for name, count in self.items()
            if count and name.startswith(BYTES)
        }


def summed(tallies: Collection[Counts]) -> Counter[str]:
    """All of them together. Those that are one and the same object are added once, times their number."""
    found: Counter[str] = Counter()
    times = Counter(map(id, tallies))
    for counts in {id(counts): counts for counts in tallies}.values():
        for name, count in counts.items():
            found[name] += count * times[id(counts)]
    return found
