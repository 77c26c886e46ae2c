"""The container that zkey, wtns and r1cs files share: a magic word, a version and sized sections.

    magic 4 bytes | version u32 | section count u32 | sections, each: type u32 | size u64 | body

Little-endian, sections in any order. The file is mapped, not read: a section's bytes are touched when its
reader touches them.
"""

from __future__ import annotations

import mmap
import struct
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from kernels.curves import CURVES, Curve
from proving.formats.errors import FormatError

HEADER = struct.Struct("<4sII")
SECTION_HEADER = struct.Struct("<IQ")
KNOWN_MAGICS = {
    b"zkey": "a zkey",
    b"wtns": "a wtns",
    b"r1cs": "an r1cs",
    b"ptau": "a ptau",
    b"\0asm": "a wasm",
}


@dataclass(slots=True)
class Section:
    """The body of one section, read from front to back."""

    file: str
    name: str
    body: NDArray[np.uint8]
    position: int = 0

    @property
    def remaining(self) -> int:
        """Bytes not yet taken."""
        return len(self.body) - self.position

    def refusal(self, reason: str) -> FormatError:
        """An error that names this file and section."""
        return FormatError(self.file, self.name, reason)

    def take(self, size: int, what: str) -> NDArray[np.uint8]:
        """The next `size` bytes as a view, uint8."""
        if size > self.remaining:
            raise self.refusal(f"too short for {what}: {size} bytes wanted, {self.remaining} left")
        start = self.position
        self.position += size
        return self.body[start : self.position]

    def take_integer(self, size: int, what: str) -> int:
        """The next `size` bytes as an unsigned little-endian integer."""
        return int.from_bytes(self.take(size, what).tobytes(), "little")

    def take_u32(self, what: str) -> int:
        """The next four bytes as an unsigned integer."""
        return self.take_integer(4, what)

    def take_words(self, rows: int, words: int, what: str) -> NDArray[np.uint64]:
        """The next rows * words * 8 bytes as a (rows, words) view, uint64, maybe unaligned."""
        return self.take(rows * words * 8, what).view("<u8").reshape(rows, words)

    def finish(self) -> None:
        """Refuse a body that is longer than what it says it holds."""
        if self.remaining:
            raise self.refusal(f"{self.remaining} bytes more than its counts call for")


@dataclass(frozen=True, slots=True)
class Container:
    """A mapped file and its sections by number."""

    file: str
    version: int
    sections: Mapping[int, NDArray[np.uint8]]
    names: Mapping[int, str]

    def section(self, number: int) -> Section:
        """One section by its number; refused when the file lacks it."""
        name = self.section_name(number)
        if number not in self.sections:
            raise FormatError(self.file, "section table", f"{name} is missing")
        return Section(self.file, name, self.sections[number])

    def section_name(self, number: int) -> str:
        """How an error calls a section."""
        return name_section(self.names, number)


def name_section(names: Mapping[int, str], number: int) -> str:
    """How an error calls a section: its number, and its subject where it is known."""
    return f"section {number} ({names[number]})" if number in names else f"section {number}"


def map_file(path: Path | str) -> NDArray[np.uint8]:
    """A file's bytes as a read-only uint8 array over its mapping. Raises OSError, FormatError if empty."""
    with Path(path).open("rb") as handle:
        try:
            return np.frombuffer(mmap.mmap(handle.fileno(), 0, access=mmap.ACCESS_READ), dtype=np.uint8)
        except ValueError as error:
            raise FormatError(path, "file", "is empty") from error


def open_container(
    path: Path | str, magic: bytes, versions: Collection[int], names: Mapping[int, str]
) -> Container:
    """Map a file and find its sections.

    `names` are the sections that the format knows: each may appear once. Others are skipped.
    Raises OSError when the file cannot be opened and FormatError when it is not such a file.
    """
    file, data = str(path), map_file(path)
    version, count = read_header(file, data, magic, versions)
    sections: dict[int, NDArray[np.uint8]] = {}
    position = HEADER.size
    for index in range(count):
        if position + SECTION_HEADER.size > len(data):
            raise FormatError(file, "section table", f"the file ends before section {index + 1} of {count}")
        number, body = read_section(file, data, position, names)
        position += SECTION_HEADER.size + len(body)
        if number in sections and number in names:
            raise FormatError(file, "section table", f"{name_section(names, number)} appears twice")
        sections[number] = body
    if position != len(data):
        raise FormatError(file, "end of file", f"{len(data) - position} bytes after the last section")
    return Container(file, version, sections, names)


def read_header(
    file: str, data: NDArray[np.uint8], magic: bytes, versions: Collection[int]
) -> tuple[int, int]:
    """Version and section count of a container. Raises FormatError."""
    wanted = magic.decode()
    found = data[:4].tobytes()
    if found != magic:
        other = f", it is {KNOWN_MAGICS[found]} file" if found in KNOWN_MAGICS else ""
        raise FormatError(file, "header", f"not a {wanted} file{other}: does not begin with {wanted!r}")
    if len(data) < HEADER.size:
        raise FormatError(file, "header", f"the file ends after {len(data)} bytes")
    _, version, count = HEADER.unpack(data[: HEADER.size].tobytes())
    if version not in versions:
        raise FormatError(file, "header", f"version {version} of {wanted} is not known")
    return version, count


def read_section(
    file: str, data: NDArray[np.uint8], position: int, names: Mapping[int, str]
) -> tuple[int, NDArray[np.uint8]]:
    """Number and body of the section that begins at a position. Raises FormatError."""
    start = position + SECTION_HEADER.size
    number, size = SECTION_HEADER.unpack(data[position:start].tobytes())
    if size > len(data) - start:
        left = len(data) - start
        raise FormatError(
            file, name_section(names, number), f"says {size} bytes, but the file ends after {left} of them"
        )
    return number, data[start : start + size]


def take_scalar_field(section: Section) -> Curve:
    """Read a field's width and prime; the curve that has it as its scalar field."""
    size = section.take_u32("the width of the field")
    if size != 32:
        raise section.refusal(f"the field is {size} bytes wide; the scalar fields known here have 32")
    prime = section.take_integer(size, "the prime")
    for curve in CURVES:
        if curve.r == prime:
            return curve
    raise section.refusal("the prime is not the order of a curve known here (bn254, bls12-381)")


def encode_container(
    magic: bytes, version: int, sections: list[tuple[int, list[bytes | memoryview]]]
) -> list[bytes | memoryview]:
    """The pieces of a container file, in the order given, to be written one after the other."""
    pieces: list[bytes | memoryview] = [HEADER.pack(magic, version, len(sections))]
    for number, body in sections:
        pieces.append(SECTION_HEADER.pack(number, sum(len(piece) for piece in body)))
        pieces.extend(body)
    return pieces
