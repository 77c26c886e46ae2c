"""Tables of precomputed multiples: more memory for fewer additions in a sum over points that stay.

A table has rows; row k holds 2^(window sets k) times each point, in the format of this process's engine, so
that digits of different places share their buckets.
"""

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kernels.curves import Curve, Group
from kernels.native import RawPoints, Words, address, call, point_count, points, thread_count


@dataclass(frozen=True, slots=True)
class Shape:
    """Digits of `window` bits, of which `sets` in a row have buckets of their own; `rows` of multiples."""

    window: int
    sets: int
    rows: int


def choose_shape(curve: Curve, group: Group, count: int, rows: int) -> Shape | None:
    """The shape that sums `count` points by long scalars fastest; None where the engine has no tables."""
    window, sets, found = ctypes.c_int(), ctypes.c_int(), ctypes.c_int(rows)
    results = (ctypes.byref(window), ctypes.byref(sets), ctypes.byref(found))
    call("cuzk_table_choose", curve.index, int(group), count, *results)
    return Shape(window.value, sets.value, found.value) if found.value > 1 else None


def fill_table(
    curve: Curve, group: Group, arrays: Sequence[RawPoints], shape: Shape, out: Words, *, threads: int = 0
) -> None:
    """Write the table of the points of all arrays, end to end, to `out`: (rows, points, 2W | 4W) words.

    The arrays are affine and Montgomery, as for `kernels.msm.Bases`. Raises ValueError for a malformed array
    or another size of `out`, EngineUnavailable where the engine has no tables.
    """
    raw = [points(curve, group, array) for array in arrays]
    sizes = [point_count(curve, group, array) for array in raw]
    expected = (shape.rows, sum(sizes), curve.point_words(group))
    if out.shape != expected or out.dtype != np.uint64 or not out.flags.c_contiguous:
        raise ValueError(f"a table of {expected} words is wanted, not {out.shape} of {out.dtype}")
    places = (ctypes.c_void_p * len(raw))(*(address(array) for array in raw))
    counts = (ctypes.c_size_t * len(raw))(*sizes)
    form = (shape.window, shape.sets, shape.rows)
    given = (places, counts, len(raw), *form, address(out), thread_count(threads))
    call("cuzk_table_build", curve.index, int(group), *given)
