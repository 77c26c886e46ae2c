"""Putting together the windows of a multi-scalar multiplication that a device has summed up."""

import numpy as np

from kernels.curves import Curve, Group
from kernels.native import Words, address, call, words


def combine(curve: Curve, group: Group, sums: Words, width: int) -> Words:
    """The sum of 2^(width k) sums[k], one affine Montgomery point, (2W | 4W,).

    `sums` is (windows, 4W | 8W): X, Y, ZZ and ZZZ in Montgomery form with x = X / ZZ and y = Y / ZZZ; ZZ = 0
    is infinity. Raises ValueError for an array of another shape.
    """
    array = words(sums, 2 * curve.point_words(group), "sums")
    if width < 0:
        raise ValueError(f"width must not be negative: {width}")
    out = np.empty(curve.point_words(group), dtype=np.uint64)
    call("cuzk_windows_combine", curve.index, int(group), address(array), len(array), width, address(out))
    return out
