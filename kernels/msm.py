"""Multi-scalar multiplication: the sum of scalars[i] points[i]."""

import ctypes
import weakref
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
        call("cuzk_bases_bytes", self._open_handle(), ctypes.byref(size))
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
        call("cuzk_bases_multiply", self._open_handle(), *operands, thread_count(threads))
        return out

    def close(self) -> None:
        """Free the engine's copy; harmless when done twice. No `msm` may be running."""
        self._release()

    def _open_handle(self) -> ctypes.c_void_p:
        if not self._release.alive:
            raise ValueError("these bases are closed")
        return self._handle


def msm(curve: Curve, group: Group, points_montgomery: RawPoints, scalars: Words, threads: int = 0) -> Words:
    """One multiplication without keeping the bases; see `Bases`. As many scalars as points, or fewer."""
    with Bases(curve, group, points_montgomery, threads) as bases:
        return bases.msm(scalars, threads)
