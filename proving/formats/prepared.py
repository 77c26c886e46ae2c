"""Prepared keys: the points of a zkey in an engine's own format with multiples, in a file beside it.

All numbers are little-endian. A header of 192 bytes: magic "cuzkprep", u32 version, u32 curve, u64 size of
the zkey, i64 its time of change in ns, u32 wires, u32 public signals, u32 log of the domain, u32 rows, u32
layout, zeros to byte 64; then for each of the tables C and H end to end, A, B1, B2: u32 window, u32 sets, u64
points, u64 place in the file, u64 bytes. The tables begin on pages (`kernels.multiples` says what they hold).
proving/oneshot/prepared.cpp reads it. The points themselves are not checked there: every proof is.
"""

import secrets
import struct
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from kernels.curves import Group
from kernels.multiples import Shape, choose_shape, fill_table
from kernels.native import RawPoints, point_count
from proving.groth16.proving_key import ProvingKey

MAGIC, VERSION = b"cuzkprep", 1
LAYOUT = 1  # the AVX2 engine: Montgomery with R = 2^261 (BN254) or 2^392 (BLS12-381)
HEADER_BYTES, PAGE = 192, 4096
SUFFIX = ".prepared"


@dataclass(frozen=True, slots=True)
class Table:
    """One table of the file: its points, its shape and where it stands."""

    group: Group
    arrays: tuple[RawPoints, ...]
    shape: Shape
    count: int
    start: int
    size: int


def path_beside(zkey: Path) -> Path:
    """Where the prepared key of a zkey is looked for."""
    return zkey.with_name(zkey.name + SUFFIX)


def plan_tables(key: ProvingKey, rows: int) -> list[Table] | None:
    """The tables for a key, or None where the engine has none."""
    points, curve = key.points, key.curve
    wanted = (
        (Group.G1, (points.c, points.h)),
        (Group.G1, (points.a,)),
        (Group.G1, (points.b1,)),
        (Group.G2, (points.b2,)),
    )
    tables, start = [], PAGE
    for group, arrays in wanted:
        count = sum(point_count(curve, group, array) for array in arrays)
        shape = choose_shape(curve, Group.G1, count, rows)  # A, B1 and B2 share their digits
        if shape is None:
            return None
        size = shape.rows * count * curve.point_bytes(group)
        tables.append(Table(group, arrays, shape, count, start, size))
        start += -(-size // PAGE) * PAGE
    return tables


def write_prepared(path: Path, key: ProvingKey, zkey: Path, tables: list[Table], threads: int = 0) -> int:
    """Write the file, whole or not at all; its size in bytes. Raises OSError."""
    about = zkey.stat()
    sizes = (key.variable_count, key.public_count, key.log_domain, tables[0].shape.rows, LAYOUT)
    header = MAGIC + struct.pack(
        "<IIQq5I", VERSION, key.curve.index, about.st_size, about.st_mtime_ns, *sizes
    )
    header = header.ljust(64, b"\0")
    for table in tables:
        header += struct.pack(
            "<IIQQQ", table.shape.window, table.shape.sets, table.count, table.start, table.size
        )
    total = tables[-1].start + tables[-1].size
    fresh = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    try:
        with fresh.open("xb") as handle:
            handle.write(header.ljust(PAGE, b"\0"))
            handle.truncate(total)
        for table in tables:
            fill(fresh, key, table, threads)
        fresh.replace(path)
    finally:
        fresh.unlink(missing_ok=True)
    return total


def fill(path: Path, key: ProvingKey, table: Table, threads: int) -> None:
    """Compute one table into its place."""
    words = (table.shape.rows, table.count, key.curve.point_words(table.group))
    out = np.memmap(path, dtype="<u8", mode="r+", offset=table.start, shape=words)
    fill_table(key.curve, table.group, table.arrays, table.shape, out, threads=threads)
    out.flush()
