"""What processes of a service take while they work: memory, open files, threads; and whether it grows."""

import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.support.processes import children_of
from tests.support.stack import Stack

FORKING = ("synthesis", "finalize")
WARM_SHARE = 0.2
"""The first part of a run fills caches and is left out of a slope."""


@dataclass(frozen=True, slots=True)
class Footprint:
    """One process at one time; memory in bytes, `anonymous` is what no file backs."""

    name: str
    pid: int
    resident: int
    anonymous: int
    files: int
    threads: int


@dataclass(frozen=True, slots=True)
class Growth:
    """How one process grew over a run: slopes per thousand jobs, and medians of the first and last tenth."""

    name: str
    anonymous_slope: float
    anonymous_first: int
    anonymous_last: int
    files_slope: float
    files_first: int
    files_last: int
    threads_last: int

    def __str__(self) -> str:
        first, last = self.anonymous_first / 2**20, self.anonymous_last / 2**20
        return (
            f"{self.name:14} {first:7.1f} -> {last:7.1f} MiB, {self.anonymous_slope / 2**10:+8.1f} KiB; "
            f"files {self.files_first:4} -> {self.files_last:4}, {self.files_slope:+.3f}; "
            f"{self.threads_last} threads"
        )


def footprints(stack: Stack) -> list[Footprint]:
    """Every process of a running service: its programs, their pool children, the supervisor."""
    named = {"supervisor": stack.process.pid, **stack.state()["processes"]}
    for name in FORKING:
        for number, pid in enumerate(sorted(children_of(named[name])), 1):
            named[f"{name} {number}"] = pid
    return [footprint(name, pid) for name, pid in named.items()]


def footprint(name: str, pid: int) -> Footprint:
    """One process. FileNotFoundError once it is gone."""
    told = {}
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        key, _, value = line.partition(":")
        told[key] = value.split()
    resident, anonymous = (int(told[key][0]) * 1024 for key in ("VmRSS", "RssAnon"))
    files = len(list(Path(f"/proc/{pid}/fd").iterdir()))
    return Footprint(name, pid, resident, anonymous, files, int(told["Threads"][0]))


def growths(samples: Sequence[tuple[int, Sequence[Footprint]]]) -> list[Growth]:
    """How each process grew, from (jobs done, footprints) in the order in which they were taken."""
    warm = WARM_SHARE * samples[-1][0]
    rows: dict[str, list[tuple[int, Footprint]]] = {}
    for done, found in samples:
        for print_ in found if done >= warm else ():
            rows.setdefault(print_.name, []).append((done, print_))
    return [growth(name, taken) for name, taken in rows.items() if len(taken) > 2]


def growth(name: str, taken: Sequence[tuple[int, Footprint]]) -> Growth:
    """The growth of one process."""
    done = [jobs / 1_000 for jobs, _ in taken]
    tenth = max(1, len(taken) // 10)

    def ends(values: Sequence[int]) -> tuple[int, int]:
        return int(statistics.median(values[:tenth])), int(statistics.median(values[-tenth:]))

    anonymous = [found.anonymous for _, found in taken]
    files = [found.files for _, found in taken]
    return Growth(
        name,
        slope(done, anonymous),
        *ends(anonymous),
        slope(done, files),
        *ends(files),
        taken[-1][1].threads,
    )


def slope(x: Sequence[float], y: Sequence[float]) -> float:
    """Of the line of least squares."""
    return statistics.linear_regression(x, y).slope


def pids(samples: Iterable[Footprint]) -> dict[str, int]:
    """Which process has which name."""
    return {found.name: found.pid for found in samples}
