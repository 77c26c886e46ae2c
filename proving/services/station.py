"""Who this process is among the workers: set once when a worker starts, read by the stages."""

import queue
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

from proving.tracker.records import WorkerKind


@dataclass(frozen=True, slots=True)
class Station:
    """A worker process. `name` is its Celery node name; a pool child works in one `slot` of it (from 1).

    A device's process has no children: its threads take `slots` partitions at a time. `threads` is how many
    its native code may use; 0 means every core.
    """

    kind: WorkerKind
    name: str
    host: str
    device: str = ""
    ordinal: int = 0
    threads: int = 1
    slot: int | None = None
    slots: int = 1

    @property
    def claimant(self) -> str:
        """The name under which this process claims work, one claim at a time."""
        return self.name if self.slot is None else f"{self.kind}.{self.slot}@{self.host}"

    @property
    def claimants(self) -> tuple[str, ...]:
        """The names of all slots of this process: gpu0@host, gpu0.2@host."""
        node = self.name.partition("@")[0]
        return (self.claimant, *(f"{node}.{number}@{self.host}" for number in range(2, self.slots + 1)))


class _Occupied:
    station: Station | None = None
    free: "queue.LifoQueue[str]" = queue.LifoQueue()


def occupy(station: Station) -> None:
    """Make this process the given worker."""
    free: queue.LifoQueue[str] = queue.LifoQueue()
    for name in reversed(station.claimants):
        free.put(name)
    _Occupied.station, _Occupied.free = station, free


def take_slot(slot: int) -> None:
    """Make this process one pool child of the worker that it was forked from."""
    occupy(replace(here(), slot=slot))


@contextmanager
def claiming() -> Iterator[str]:
    """The name of a slot that no other thread of this process claims under meanwhile."""
    free = _Occupied.free
    name = free.get()
    try:
        yield name
    finally:
        free.put(name)


def here() -> Station:
    """The worker that this process is. Raises RuntimeError in a process that is none."""
    if _Occupied.station is None:
        raise RuntimeError("this process is no worker: stages run in processes that `cuzkweb worker` starts")
    return _Occupied.station
