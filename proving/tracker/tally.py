"""How many partitions of a job are where: kept beside the records, in the same transaction as each move.

A reader learns from the tally what a job looks like without reading its partitions, and checks the records
that it does read against it. Standard library only.
"""

from collections import Counter
from collections.abc import Iterable, Mapping

from proving.tracker.budget import holdings
from proving.tracker.records import PartitionRecord, Phase

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


def phase_counts(counts: Mapping[str, int]) -> dict[str, int]:
    """The phases of a tally, in the order of the pipeline."""
    return {str(phase): counts[phase] for phase in Phase if counts.get(phase)}


def total(counts: Mapping[str, int]) -> int:
    return sum(counts.get(phase, 0) for phase in Phase)


def bytes_by_place(counts: Mapping[str, int]) -> dict[str, int]:
    return {
        name.removeprefix(BYTES): count for name, count in counts.items() if count and name.startswith(BYTES)
    }
