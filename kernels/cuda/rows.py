"""The A and B matrices of a constraint system as the device reads them: compressed rows, few values."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

LONGEST_ROW = 64
"""Terms that one thread adds up; longer rows get a block each."""

COUNT_BYTES = 4
RECORD = np.dtype([("matrix", "<u4"), ("row", "<u4"), ("wire", "<u4"), ("value", "<u8", (4,))])
_MIX = np.array([0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0x27D4EB2F165667C5], dtype="<u8")


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """`starts` is (2 domain + 1,) u64: the rows of A, then those of B. `terms` is (terms, 2) u32: wire and
    the number of its value. `values` is (values, 4) u64, as in a zkey (times R^2). `long` is u32[]: the rows
    of more than LONGEST_ROW terms."""

    starts: NDArray[np.uint64]
    terms: NDArray[np.uint32]
    values: NDArray[np.uint64]
    long: NDArray[np.uint32]

    @property
    def nbytes(self) -> int:
        """What they take on the device."""
        return sum(array.nbytes for array in (self.starts, self.terms, self.values, self.long))


def compressed_rows(coefficients: NDArray[np.uint8], domain: int, wires: int) -> Rows:
    """The body of a zkey's coefficient section as rows. Raises ValueError where a record points outside."""
    records = np.frombuffer(coefficients.tobytes(), dtype=RECORD, offset=COUNT_BYTES)
    matrix, row, wire = (np.ascontiguousarray(records[name]) for name in ("matrix", "row", "wire"))
    if len(records) and (matrix.max() > 1 or row.max() >= domain or wire.max() >= wires):
        raise ValueError("a coefficient points outside of the constraint system")
    place = matrix.astype(np.uint64) * np.uint64(domain) + row
    order = None if _is_sorted(place) else np.argsort(place, kind="stable")
    if order is not None:
        place, wire = place[order], wire[order]
    values, numbers = distinct(np.ascontiguousarray(records["value"]))
    lengths = np.bincount(place.astype(np.int64), minlength=2 * domain)
    starts = np.zeros(2 * domain + 1, dtype="<u8")
    np.cumsum(lengths, out=starts[1:], dtype="<u8")
    terms = np.empty((len(wire), 2), dtype="<u4")
    terms[:, 0] = wire
    terms[:, 1] = numbers if order is None else numbers[order]
    return Rows(starts, terms, values, np.flatnonzero(lengths > LONGEST_ROW).astype("<u4"))


def distinct(values: NDArray[np.uint64]) -> tuple[NDArray[np.uint64], NDArray[np.uint32]]:
    """The different ones among (n, 4) values, and for each of the n its number among them.

    Found by a hash of 64 bits; where two values ever share one, all are kept as they are.
    """
    with np.errstate(over="ignore"):
        mixed = values * _MIX
        mixed ^= mixed >> np.uint64(29)
        hashes = (mixed * _MIX[::-1]).sum(axis=1, dtype=np.uint64)
    _, first, numbers = np.unique(hashes, return_index=True, return_inverse=True)
    found = np.ascontiguousarray(values[first])
    if not np.array_equal(found[numbers], values):
        return values, np.arange(len(values), dtype="<u4")
    return found, numbers.astype("<u4")


def _is_sorted(places: NDArray[np.uint64]) -> bool:
    return bool(np.all(places[1:] >= places[:-1]))
