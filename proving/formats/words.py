"""Integers as little-endian 64-bit words, and back; comparisons on whole arrays."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

WORD_BYTES = 8


def to_words(values: Iterable[int], words: int = 4) -> NDArray[np.uint64]:
    """Integers as (n, words) uint64, low word first. Raises OverflowError for one that does not fit."""
    size = words * WORD_BYTES
    packed = b"".join(value.to_bytes(size, "little") for value in values)
    return np.frombuffer(bytearray(packed), dtype="<u8").reshape(-1, words)


def to_integers(values: NDArray[np.uint64]) -> list[int]:
    """The rows of a (n, words) array as integers."""
    packed = np.ascontiguousarray(values).tobytes()
    size = values.shape[1] * WORD_BYTES
    return [int.from_bytes(packed[start : start + size], "little") for start in range(0, len(packed), size)]


def first_not_below(values: NDArray[np.uint64], modulus: int) -> int | None:
    """Index of the first row of a (n, words) array whose integer is not below the modulus."""
    undecided = np.arange(len(values))
    first: int | None = None
    for word in range(values.shape[1] - 1, -1, -1):
        limit = np.uint64(modulus >> (64 * word) & (2**64 - 1))
        column = values[:, word] if len(undecided) == len(values) else values[undecided, word]
        first = earlier(first, undecided, column > limit)
        undecided = undecided[column == limit]
        if not len(undecided):
            return first
    return earlier(first, undecided, np.ones(len(undecided), dtype=bool))


def earlier(first: int | None, rows: NDArray[np.int64], chosen: NDArray[np.bool_]) -> int | None:
    """The lower of an index and the first chosen one of some rising row numbers."""
    if not chosen.any():
        return first
    found = int(rows[int(chosen.argmax())])
    return found if first is None else min(first, found)
