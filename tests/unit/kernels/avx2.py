"""The test entries of the AVX2 engine (kernels/csrc/avx2/test_entries.cpp)."""

import ctypes
from collections.abc import Sequence
from enum import IntEnum

import numpy as np
import pytest
from numpy.typing import NDArray

from kernels import engine
from kernels.csrc.generate.vector_fields import FIELDS, VectorField
from kernels.curves import Curve, Group
from kernels.native import LIB, call

from .reference import Words

LANES = 4
OPERANDS = 4

needs_avx2 = pytest.mark.skipif(
    "avx2" not in engine.available(), reason="this build or CPU has no avx2 engine"
)


class Operation(IntEnum):
    PRODUCT = 0
    PRODUCT_SUM = 1
    SQUARE = 2
    PRODUCT_PLUS = 3
    REDUCED = 4
    NORMALISED = 5
    CANONICAL = 6
    PACKED = 7


def apply(field: VectorField, operation: Operation, *operands: Sequence[Sequence[int]]) -> list[list[int]]:
    """Do the operation on 4 elements at once; operands and result are 4 lists of signed limbs.

    Both forms of the field, with inlined and with called products, are computed and must agree.
    """
    lanes = [np.array(operand, dtype=np.int64).T.copy() for operand in operands]
    while len(lanes) < OPERANDS:
        lanes.append(np.zeros((field.limbs, LANES), dtype=np.int64))
    addresses = (ctypes.c_void_p * OPERANDS)(*(operand.ctypes.data for operand in lanes))
    outcomes = [np.empty((field.limbs, LANES), dtype=np.int64) for _ in range(2)]
    LIB.cuzk_avx2_apply.argtypes = (ctypes.c_int, ctypes.c_int, *[ctypes.c_void_p] * 3)
    pointers = [outcome.ctypes.data for outcome in outcomes]
    call("cuzk_avx2_apply", FIELDS.index(field), int(operation), addresses, *pointers)
    assert np.array_equal(*outcomes)
    return [[int(limb) for limb in lane] for lane in outcomes[0].T]


def multiply(
    curve: Curve, group: Group, points: Words, scalars: Words, *, window: int, threads: int
) -> NDArray[np.uint64]:
    """The sum of scalars[i] points[i] with windows of so many bits."""
    out = np.empty(curve.point_words(group), dtype=np.uint64)
    pointer = ctypes.c_void_p
    LIB.cuzk_avx2_multiply.argtypes = (
        *(ctypes.c_int, ctypes.c_int, pointer, pointer, ctypes.c_size_t),
        *(ctypes.c_int, ctypes.c_int, pointer),
    )
    operands = (points.ctypes.data, scalars.ctypes.data, len(scalars), window, threads, out.ctypes.data)
    call("cuzk_avx2_multiply", curve.index, int(group), *operands)
    return out
