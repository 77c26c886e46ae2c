"""Handing arrays over to the native library."""

import numpy as np
from numpy.typing import NDArray

from kernels.curves import Curve, Group
from kernels.library import LIB, LIBRARY, EngineUnavailable, call, thread_count

__all__ = [
    "LIB",
    "LIBRARY",
    "EngineUnavailable",
    "RawPoints",
    "Words",
    "address",
    "call",
    "point_count",
    "points",
    "thread_count",
    "words",
    "writable_words",
]

WORD_BYTES = 8

Words = NDArray[np.uint64]
RawPoints = NDArray[np.uint64] | NDArray[np.uint8]


def words(array: object, width: int, what: str) -> Words:
    """An (n, width) array of uint64 words, C-contiguous and aligned; copied only where it is not aligned.

    Raises ValueError when it is not such an array.
    """
    if not isinstance(array, np.ndarray) or array.dtype != np.dtype("<u8"):
        raise ValueError(f"{what} must be a numpy array of uint64 words, not {_described(array)}")
    if array.ndim != 2 or array.shape[1] != width:
        raise ValueError(f"{what} must have shape (n, {width}), not {array.shape}")
    if not array.flags.c_contiguous:
        raise ValueError(f"{what} must be C-contiguous")
    return np.require(array, requirements=["C", "A"])


def writable_words(array: object, width: int, what: str) -> Words:
    """As `words`, for an array that is changed in place: it must be aligned and writable itself."""
    checked = words(array, width, what)
    if checked is not array or not checked.flags.writeable:
        raise ValueError(f"{what} is changed in place: it must be aligned and writable")
    return checked


def points(curve: Curve, group: Group, array: object, what: str = "points") -> RawPoints:
    """Points as (n, 2W | 4W) uint64 words or as uint8 bytes of whole points, C-contiguous; alignment is free.

    Raises ValueError when they are not.
    """
    if not isinstance(array, np.ndarray) or array.dtype not in (np.dtype("<u8"), np.dtype("u1")):
        raise ValueError(f"{what} must be a numpy array of uint64 words or bytes, not {_described(array)}")
    if not array.flags.c_contiguous:
        raise ValueError(f"{what} must be C-contiguous")
    width = curve.point_words(group)
    if array.dtype == np.dtype("u1"):
        if array.nbytes % (width * WORD_BYTES):
            raise ValueError(
                f"{what}: {array.nbytes} bytes are no whole number of points of {width * WORD_BYTES}"
            )
    elif array.ndim != 2 or array.shape[1] != width:
        raise ValueError(f"{what} must have shape (n, {width}), not {array.shape}")
    return array


def point_count(curve: Curve, group: Group, array: RawPoints) -> int:
    """How many points the array holds."""
    return int(array.nbytes // curve.point_bytes(group))


def address(array: NDArray[np.uint64] | NDArray[np.uint8]) -> int:
    """Where the array's memory starts; the caller keeps the array alive."""
    return int(array.ctypes.data)


def _described(value: object) -> str:
    if isinstance(value, np.ndarray):
        return f"one of {value.dtype}"
    return type(value).__name__
