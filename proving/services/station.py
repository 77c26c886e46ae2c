"""Who this process is among the workers: set once when a worker starts, read by the stages."""

from dataclasses import dataclass, replace

from proving.tracker.records import WorkerKind


@dataclass(frozen=True, slots=True)
class Station:
    """A worker process. `name` is its Celery node name; a pool child works in one `slot` of it (from 1).

    `threads` is how many its native code may use; 0 means every core.
    """

    kind: WorkerKind
    name: str
    host: str
    device: str = ""
    ordinal: int = 0
    threads: int = 1
    slot: int | None = None

    @property
    def claimant(self) -> str:
        """The name under which this process claims work, one claim at a time."""
        return self.name if self.slot is None else f"{self.kind}.{self.slot}@{self.host}"


class _Occupied:
    station: Station | None = None


def occupy(station: Station) -> None:
    """Make this process the given worker."""
    _Occupied.station = station


def take_slot(slot: int) -> None:
    """Make this process one pool child of the worker that it was forked from."""
    _Occupied.station = replace(here(), slot=slot)


def here() -> Station:
    """The worker that this process is. Raises RuntimeError in a process that is none."""
    if _Occupied.station is None:
        raise RuntimeError("this process is no worker: stages run in processes that `cuzkweb worker` starts")
    return _Occupied.station
