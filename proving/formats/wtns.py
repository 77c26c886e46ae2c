"""Witness files (`.wtns`) of circom and snarkjs: one plain scalar a wire, wire 0 is the constant one."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from kernels.curves import Curve
from proving.formats.container import encode_container, open_container, take_scalar_field
from proving.formats.errors import FormatError
from proving.formats.files import write_atomically
from proving.formats.words import first_not_below, to_integers

MAGIC = b"wtns"
SECTIONS = {1: "header", 2: "values"}
FR_WORDS = 4
SECRET_MODE = 0o600


@dataclass(frozen=True, slots=True, eq=False)
class Witness:
    """The value of every wire: (n, 4) uint64, plain and canonical, low word first. values[0] is one."""

    curve: Curve
    values: NDArray[np.uint64]

    def public(self, count: int) -> list[int]:
        """The public signals: wires 1 to `count`, outputs first."""
        return to_integers(self.values[1 : count + 1])


def read_witness(path: Path | str, curve: Curve | None = None, variable_count: int | None = None) -> Witness:
    """Map a witness file and check it.

    Refuses values that are not below r, a wire 0 that is not one, and, where the caller names them, another
    curve or another number of wires than the key has. Raises FormatError, or OSError when there is no file.
    The values are a view of the mapped file.
    """
    container = open_container(path, MAGIC, (1, 2), SECTIONS)
    header = container.section(1)
    found = take_scalar_field(header)
    count = header.take_u32("the number of values")
    header.finish()
    if curve is not None and found != curve:
        raise header.refusal(
            f"the curve of the witness, {found.name}, does not match the key's, {curve.name}"
        )
    body = container.section(2)
    if len(body.body) != count * FR_WORDS * 8:
        raise body.refusal(f"has {len(body.body)} bytes where {count} values of 32 bytes are promised")
    if variable_count is not None and count != variable_count:
        raise header.refusal(f"the witness has {count} values, the key wants {variable_count}")
    values = body.take_words(count, FR_WORDS, "the values")
    check_values(container.file, body.name, found, values)
    return Witness(found, values)


def check_values(file: str, place: str, curve: Curve, values: NDArray[np.uint64]) -> None:
    """Refuse a witness whose wire 0 is not one or that has a value not below r. Raises FormatError."""
    if not len(values) or to_integers(values[:1]) != [1]:
        raise FormatError(file, f"{place}, wire 0", "the constant wire is not 1")
    bad = first_not_below(values, curve.r)
    if bad is not None:
        raise FormatError(
            file, f"{place}, wire {bad}", f"the value is not below the scalar field of {curve.name}"
        )


def write_witness(path: Path | str, witness: Witness) -> None:
    """Write a witness file as snarkjs does, readable by its owner alone. Raises OSError."""
    write_atomically(path, encode_witness(witness), mode=SECRET_MODE)


def encode_witness(witness: Witness) -> list[bytes | memoryview]:
    """The pieces of a witness file."""
    header = (32).to_bytes(4, "little") + witness.curve.r.to_bytes(32, "little")
    header += len(witness.values).to_bytes(4, "little")
    values = np.ascontiguousarray(witness.values, dtype="<u8")
    return encode_container(MAGIC, 2, [(1, [header]), (2, [values.tobytes()])])
