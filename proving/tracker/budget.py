"""Byte budgets: what synthesized partitions hold on a host, what a proof holds on its device.

A partition reserves the whole of its job's `host_bytes` when its synthesis is claimed. The evaluations' share
goes back at hand-off, the rest at its end; a partition that waits for synthesis again holds nothing. On the
device it reserves `device_bytes` from claim to hand-off. What is held stands in the partition's own record,
so that the bytes of a dead worker come back with its assignment; the sum a place is kept beside it, in the
same transaction. Whoever waits for room waits in line: what stands before it is set aside first, so that a
big request is not overtaken by small ones for ever. Standard library only.
"""

from collections import Counter
from dataclasses import dataclass

from proving.tracker.outcomes import Refusal
from proving.tracker.records import PartitionRecord


@dataclass(frozen=True, slots=True)
class Room:
    """The budget of one place. `total_bytes` 0 means no limit; `ahead_bytes` are wanted by who came first."""

    total_bytes: int = 0
    held_bytes: int = 0
    ahead_bytes: int = 0

    @property
    def free_bytes(self) -> int:
        return max(0, self.total_bytes - self.held_bytes)

    def refuse(self, needed: int) -> Refusal | None:
        """Why `needed` more bytes cannot be held now, or None. Who needs nothing waits for nobody."""
        if not self.total_bytes or not needed:
            return None
        if needed > self.total_bytes:
            return Refusal.OVER_BUDGET
        fits = needed <= self.total_bytes - self.held_bytes - self.ahead_bytes
        return None if fits else Refusal.BUDGET_FULL


def held_changes(before: PartitionRecord | None, after: PartitionRecord | None) -> dict[str, int]:
    """By place, how many bytes more (or fewer) are held after a partition moved; no zeros."""
    changes: Counter[str] = Counter()
    for record, sign in ((before, -1), (after, 1)):
        for place, held in holdings(record):
            changes[place] += sign * held
    return {place: change for place, change in changes.items() if change}


def holdings(record: PartitionRecord | None) -> list[tuple[str, int]]:
    """What a partition holds, by place: hosts by their names, devices as `WorkerSpec.place` has it."""
    if record is None:
        return []
    pairs = ((record.host, record.held_bytes), (record.device, record.device_bytes))
    return [(place, held) for place, held in pairs if place is not None and held]
