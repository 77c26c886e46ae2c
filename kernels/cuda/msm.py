"""Multi-scalar multiplications on the device: digits sorted once, points added into buckets, buckets reduced.

What comes back is one sum for each set of digits; `combined` makes the result of them on the CPU.
"""

from dataclasses import dataclass

import numpy as np

from kernels import modules, sum_launches, windows
from kernels.cuda.driver import Arena, Buffer
from kernels.cuda.place import Workplace
from kernels.curves import Curve, Group
from kernels.native import Words
from kernels.sum_launches import Adding, Recoding, Sorting


class Sorter:
    """Room for the digits of up to `most` scalars."""

    def __init__(self, place: Workplace, arena: Arena, recoding: Recoding, most: int) -> None:
        self.recoding = recoding
        self._place = place
        self._counts = arena.allocate(Sorting.counts_bytes(recoding))
        described = np.frombuffer(recoding.packed(), dtype=np.uint8)
        recoding_at = arena.allocate(described.nbytes)
        place.put(recoding_at.address, described)
        self.sorting = Sorting(
            recoding,
            recoding_at=recoding_at.address,
            counts=self._counts.address,
            totals=arena.allocate(Sorting.totals_bytes(recoding)).address,
            entries=arena.allocate(Sorting.entries_bytes(recoding, most)).address,
        )

    def sort(self, scalars: int, count: int, stride: int) -> None:
        """Queue the sorting of `count` scalars; `stride` is how many points one multiple has."""
        place, counts = self._place, self._counts
        place.driver.clear(counts.address, counts.nbytes, place.stream)
        if count:
            place.run(sum_launches.sort_digits(self.sorting, scalars=scalars, count=count, stride=stride))


@dataclass(frozen=True, slots=True, eq=False)
class SetSums:
    """The sums of the sets of digits, (sets, 2 point words) as x, y, zz, zzz, the lowest set first."""

    curve: Curve
    group: Group
    width: int
    words: Words


class Adder:
    """Buckets of one sum, empty at first. Room for it is the arena's."""

    def __init__(
        self, place: Workplace, arena: Arena, curve: Curve, group: Group, recoding: Recoding
    ) -> None:
        self._place = place
        self._curve, self._group = curve, group
        size = modules.sum_bytes(curve, group)
        buckets = arena.allocate(Adding.buckets_bytes(recoding, size))
        partials = Adding.partial_count(place.threads)

        def room(nbytes: int) -> int:
            return arena.allocate(nbytes).address

        self._adding = Adding(
            module=modules.sums(curve, group),
            recoding=recoding,
            sum_bytes=size,
            threads=place.threads,
            buckets=buckets.address,
            partials=room(partials * size),
            partial_buckets=room(4 * partials),
            pairs=room(Adding.pairs_bytes(recoding, size)),
            sums=room(Adding.sums_bytes(recoding, size)),
        )
        self.empty(buckets)

    def empty(self, buckets: Buffer) -> None:
        """All-zero buckets are at infinity."""
        self._place.driver.clear(buckets.address, buckets.nbytes, self._place.stream)

    def add(self, points_at: int, sorter: Sorter) -> None:
        """Queue the addition of the points that sorted digits name."""
        sorting = sorter.sorting
        self._place.run(
            sum_launches.add_entries(
                self._adding, points=points_at, entries=sorting.entries, total=sorting.total
            )
        )

    def sums(self) -> SetSums:
        """Reduce the buckets, and wait for what comes of it."""
        adding = self._adding
        self._place.run(sum_launches.reduce_buckets(adding))
        found = self._place.read(adding.sums, adding.recoding.sets, adding.sum_bytes // 8)
        return SetSums(self._curve, self._group, adding.recoding.width, found)


def combined(sums: SetSums) -> Words:
    """The sum of 2^(width k) set_k, one affine point, (2W | 4W,) Montgomery words."""
    return windows.combine(sums.curve, sums.group, sums.words, sums.width)
