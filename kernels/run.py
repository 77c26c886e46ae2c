"""What every device does around the stages of one proof."""

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Protocol, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from kernels.device import Cancelled, Stage

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Run:
    """What the caller of one proof hears and says between its stages."""

    cancelled: Callable[[], bool]
    report: Callable[[Stage, float], None]

    def stage(self, stage: Stage, work: Callable[[], Result]) -> Result:
        """Do the work of one stage and report its time; raises Cancelled instead when the caller says so."""
        if self.cancelled():
            raise Cancelled
        started = time.monotonic()
        result = work()
        self.report(stage, time.monotonic() - started)
        return result

    def stages(
        self, stages: Sequence[Stage], work: Callable[[], tuple[list[Result], list[float]]]
    ) -> dict[Stage, Result]:
        """As `stage` for stages that are done in one go: their results and the seconds of each."""
        if self.cancelled():
            raise Cancelled
        results, seconds = work()
        for stage, spent in zip(stages, seconds, strict=True):
            self.report(stage, spent)
        return dict(zip(stages, results, strict=True))


class BusyClock:
    """Counts the seconds in which at least one thread is inside."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._inside = 0
        self._since = 0.0
        self._seconds = 0.0

    def __enter__(self) -> Self:
        with self._lock:
            if self._inside == 0:
                self._since = time.monotonic()
            self._inside += 1
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._lock:
            self._inside -= 1
            if self._inside == 0:
                self._seconds += time.monotonic() - self._since

    def seconds(self) -> float:
        """So far, the present stay included."""
        with self._lock:
            running = time.monotonic() - self._since if self._inside else 0.0
            return self._seconds + running


class Shaped(Protocol):
    """The sizes of a loaded key."""

    @property
    def wires(self) -> int: ...

    @property
    def log_domain(self) -> int: ...


def require_shapes(
    key: Shaped,
    witness: NDArray[np.uint64],
    a: NDArray[np.uint64] | None,
    b: NDArray[np.uint64] | None,
) -> None:
    """Refuse arrays that do not belong to the key; raises ValueError with both sizes."""
    if witness.shape != (key.wires, 4):
        raise ValueError(f"witness has {len(witness)} values, key wants {key.wires}")
    for name, evaluations in (("a", a), ("b", b)):
        if evaluations is not None and evaluations.shape != (1 << key.log_domain, 4):
            raise ValueError(f"{name} has {len(evaluations)} evaluations, key wants {1 << key.log_domain}")
