"""The host's byte budget: what synthesized partitions may hold while they wait for a device.

A partition reserves the whole of its job's `host_bytes` when its synthesis is claimed. The evaluations' share
goes back at hand-off, the rest at its end; a partition that waits for synthesis again holds nothing. What is
held stands in the partition's own record, so that the bytes of a dead worker come back with its assignment;
the sum a host is kept beside it, in the same transaction. Standard library only.
"""

from dataclasses import dataclass

from proving.tracker.outcomes import Refusal
from proving.tracker.records import PartitionRecord


@dataclass(frozen=True, slots=True)
class Room:
    """The budget of one host. `total_bytes` 0 means no limit."""

    total_bytes: int = 0
    held_bytes: int = 0

    @property
    def free_bytes(self) -> int:
        return max(0, self.total_bytes - self.held_bytes)

    def refuse(self, needed: int) -> Refusal | None:
        """Why `needed` more bytes cannot be held now, or None."""
        if not self.total_bytes or needed <= self.total_bytes - self.held_bytes:
            return None
        return Refusal.OVER_BUDGET if needed > self.total_bytes else Refusal.BUDGET_FULL


def held_changes(before: PartitionRecord | None, after: PartitionRecord | None) -> dict[str, int]:
    """By host, how many bytes more (or fewer) are held after a partition moved; no zeros."""
    changes: dict[str, int] = {}
    for record, sign in ((before, -1), (after, 1)):
        if record is not None and record.host is not None and record.held_bytes:
            changes[record.host] = changes.get(record.host, 0) + sign * record.held_bytes
    return {host: change for host, change in changes.items() if change}
