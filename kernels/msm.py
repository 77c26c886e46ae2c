"""Multi-scalar multiplication: the sum of scalars[i] points[i]."""

import ctypes
import weakref
from collections.abc import Sequence
from types import TracebackType
from typing import Self

import numpy as np

from kernels.curves import Curve, Group
from kernels.native import (
    LIB,
    RawPoints,
    Words,
    address,
    call,
    point_count,
    points,
    thread_count,
    words,
)


class Bases:
    """Points in the format of this process's engine, ready to be multiplied many times.

    `points_montgomery` is (n, 2W | 4W) words or bytes, affine, Montgomery, alignment free; it is copied.
    Threads may share one object. Raises ValueError for a malformed array.
    """

    def __init__(self, curve: Curve, group: Group, points_montgomery: RawPoints, threads: int = 0) -> None:
        raw = points(curve, group, points_montgomery)
        self.curve, self.group = curve, group
        self._count = point_count(curve, group, raw)
        handle = ctypes.c_void_p()
        what = (curve.index, int(group), address(raw), self._count)
        call("cuzk_bases_load", *what, thread_count(threads), ctypes.byref(handle))
        self._handle = handle
        self._release = weakref.finalize(self, LIB.cuzk_bases_free, handle)

    def __len__(self) -> int:
        return self._count

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def nbytes(self) -> int:
        """Bytes that the engine's copy takes. Raises ValueError after close."""
        size = ctypes.c_size_t()
        call("cuzk_bases_bytes", self.handle, ctypes.byref(size))
        return size.value

    def msm(self, scalars: Words, threads: int = 0) -> Words:
        """The sum over the first len(scalars) points, one affine Montgomery point, (2W | 4W,).

        scalars are (n, 4) plain words, n at most len(self); n = 0 gives infinity. Raises ValueError
        otherwise.
        """
        factors = words(scalars, self.curve.fr_words, "scalars")
        if len(factors) > self._count:
            raise ValueError(f"{len(factors)} scalars for {self._count} points")
        out = np.empty(self.curve.point_words(self.group), dtype=np.uint64)
        operands = (address(factors), len(factors), address(out))
        call("cuzk_bases_multiply", self.handle, *operands, thread_count(threads))
        return out

    def close(self) -> None:
        """Free the engine's copy; harmless when done twice. No `msm` may be running."""
        self._release()

    @property
    def handle(self) -> int:
        """The engine's own name for them. Raises ValueError after close."""
        if not self._release.alive:
            raise ValueError("these bases are closed")
        return self._handle.value or 0


def msm_all(all_bases: Sequence[Bases], scalars: Words, threads: int = 0) -> tuple[list[Words], list[float]]:
    """The sum over each of the bases by the same scalars, which are cut and sorted once; and their seconds.

    The bases are of one curve; sizes and results are as for `Bases.msm`. The seconds are wall time, the
    sorting in the first. Raises ValueError as `Bases.msm` does.
    """
    curve = all_bases[0].curve
    factors = words(scalars, curve.fr_words, "scalars")
    for bases in all_bases:
        if bases.curve != curve or len(factors) > len(bases):
            raise ValueError(f"{len(factors)} scalars for {len(bases)} points of {bases.curve.name}")
    outs = [np.empty(curve.point_words(bases.group), dtype=np.uint64) for bases in all_bases]
    count = len(all_bases)
    handles = (ctypes.c_void_p * count)(*(bases.handle for bases in all_bases))
    places = (ctypes.c_void_p * count)(*(address(out) for out in outs))
    seconds = (ctypes.c_double * count)()
    operands = (address(factors), len(factors), places, seconds)
    call("cuzk_bases_multiply_all", handles, count, *operands, thread_count(threads))
    return outs, list(seconds)


def msm(curve: Curve, group: Group, points_montgomery: RawPoints, scalars: Words, threads: int = 0) -> Words:
    """One multiplication without keeping the bases; see `Bases`. As many scalars as points, or fewer."""
    with Bases(curve, group, points_montgomery, threads) as bases:
        return bases.msm(scalars, threads)
