"""The A and B columns of a constraint system, multiplied by a witness."""

import ctypes

import numpy as np
from numpy.typing import NDArray

from kernels.curves import Curve
from kernels.native import Words, address, call, thread_count, words

RawBytes = bytes | bytearray | memoryview | NDArray[np.uint8]

COUNT_BYTES = 4
RECORD_BYTES = 12 + 32


def evaluate(
    curve: Curve, coefficients: RawBytes, witness: Words, domain: int, threads: int = 0
) -> tuple[Words, Words]:
    """The values of A and B on the domain: two arrays (domain, 4) of Montgomery words.

    `coefficients` is the body of section 4 of a zkey: a u32 count, then records of u32 matrix (0 A, 1 B),
    u32 row, u32 wire and a coefficient of 32 bytes times R^2. `witness` is (wires, 4) plain words. Raises
    ValueError, naming the record, when one points outside, and when the length does not fit the count.
    """
    values = words(witness, curve.fr_words, "witness")
    records = np.frombuffer(coefficients, dtype=np.uint8)
    count = _record_count(records)
    if domain < 0:
        raise ValueError(f"domain must not be negative: {domain}")
    a, b = (np.empty((domain, curve.fr_words), dtype=np.uint64) for _ in range(2))
    bad = ctypes.c_size_t()
    system = (address(records) + COUNT_BYTES, count, address(values), len(values), domain)
    out = (address(a), address(b), thread_count(threads), ctypes.byref(bad))
    call("cuzk_constraints_evaluate", curve.index, *system, *out)
    if bad.value != count:
        raise ValueError(_describe(records, bad.value, len(values), domain))
    return a, b


def _record_count(records: NDArray[np.uint8]) -> int:
    if len(records) < COUNT_BYTES:
        raise ValueError("coefficients: the count is missing")
    count = int.from_bytes(records[:COUNT_BYTES].tobytes(), "little")
    if len(records) != COUNT_BYTES + RECORD_BYTES * count:
        needed = COUNT_BYTES + RECORD_BYTES * count
        raise ValueError(f"coefficients: {count} records need {needed} bytes, not {len(records)}")
    return count


def _describe(records: NDArray[np.uint8], index: int, wires: int, domain: int) -> str:
    start = COUNT_BYTES + RECORD_BYTES * index
    matrix, row, wire = np.frombuffer(records[start : start + 12].tobytes(), dtype="<u4").tolist()
    if matrix > 1:
        return f"coefficient {index}: matrix {matrix} is neither A (0) nor B (1)"
    if row >= domain:
        return f"coefficient {index}: row {row} is outside of the domain of {domain}"
    return f"coefficient {index}: wire {wire} is outside of the witness of {wires}"
