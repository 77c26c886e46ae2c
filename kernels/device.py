"""The only seam between the provers and what computes for them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kernels.curves import Curve


@dataclass(frozen=True, slots=True)
class KeyPoints:
    """The points of a proving key, affine, Montgomery words (n, 2W) in G1 and (n, 4W) in G2.

    `a`, `b1` and `b2` run over all wires, `c` over the private wires (public_count + 1 and on), `h` over
    the domain. All-zero rows are the point at infinity. The arrays may be unaligned views of a mapped file.
    """

    curve: Curve
    log_domain: int
    public_count: int
    a: NDArray[np.uint64]
    b1: NDArray[np.uint64]
    b2: NDArray[np.uint64]
    c: NDArray[np.uint64]
    h: NDArray[np.uint64]
