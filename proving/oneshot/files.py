"""Mapped files of snarkjs, read as memory.

Only files as they should be are read here: anything else raises Unusual, and the readers of
`proving.formats`, which say what is wrong with a file, have the word.
"""

import ctypes
import mmap
from dataclasses import dataclass
from pathlib import Path

from kernels.curves import CURVES, Curve, Group

HEADER_BYTES = 12
PAGE = mmap.PAGESIZE


class Unusual(Exception):  # noqa: N818 - an outcome: not for this path
    """A file that the plain path has to look at."""


def require(condition: bool, /) -> None:  # noqa: FBT001 - reads as a sentence
    """Raise Unusual where something is not as it should be."""
    if not condition:
        raise Unusual


@dataclass(frozen=True, slots=True)
class Part:
    """Bytes `start` to `end` of a mapped file."""

    start: int
    end: int

    @property
    def size(self) -> int:
        """How many bytes."""
        return self.end - self.start


class MappedFile:
    """A file of sections (magic, version, count, then type u32, size u64 and body of each), mapped."""

    def __init__(self, path: Path, magic: bytes, versions: tuple[int, ...]) -> None:
        with path.open("rb") as handle:
            try:
                self.data = mmap.mmap(handle.fileno(), 0, access=mmap.ACCESS_COPY)
            except ValueError as error:  # empty
                raise Unusual from error
        self._view = ctypes.c_char.from_buffer(self.data)
        self._address = ctypes.addressof(self._view)
        require(self.data[:4] == magic and len(self.data) >= HEADER_BYTES)
        require(self.u32(4) in versions)
        self.sections: dict[int, Part] = {}
        position = HEADER_BYTES
        for _ in range(self.u32(8)):
            require(position + 12 <= len(self.data))
            number, size = self.u32(position), self.integer(position + 4, 8)
            position += 12
            require(size <= len(self.data) - position and number not in self.sections)
            self.sections[number] = Part(position, position + size)
            position += size
        require(position == len(self.data))

    def section(self, number: int) -> Part:
        """One section by its number."""
        require(number in self.sections)
        return self.sections[number]

    def integer(self, at: int, size: int) -> int:
        """An unsigned little-endian number."""
        return int.from_bytes(self.data[at : at + size], "little")

    def u32(self, at: int) -> int:
        """A number of four bytes."""
        return self.integer(at, 4)

    def address(self, at: int) -> int:
        """Where offset `at` is in memory."""
        return self._address + at

    def forget(self, part: Part) -> None:
        """Let the system take back the memory of a part that is not needed again."""
        first, last = -(-part.start // PAGE) * PAGE, part.end // PAGE * PAGE
        if last > first and hasattr(mmap, "MADV_DONTNEED"):
            self.data.madvise(mmap.MADV_DONTNEED, first, last - first)


@dataclass(frozen=True, slots=True)
class Key:
    """A proving key: sizes, single points as Montgomery words, and where its arrays are."""

    file: MappedFile
    curve: Curve
    wires: int
    public_count: int
    log_domain: int
    alpha1: bytes
    beta1: bytes
    beta2: bytes
    gamma2: bytes
    delta1: bytes
    delta2: bytes

    def points(self, number: int, group: Group, count: int) -> Part:
        """A section that holds so many points of a group."""
        part = self.file.section(number)
        require(part.size == count * self.curve.point_bytes(group))
        return part


def read_key(path: Path) -> Key:
    """Map a Groth16 zkey. Raises Unusual, or OSError where there is none."""
    file = MappedFile(path, b"zkey", (1,))
    protocol, header = file.section(1), file.section(2)
    require(protocol.size == 4 and file.u32(protocol.start) == 1)
    curve = key_curve(file, header)
    at = header.start + 8 + 8 * curve.fq_words + 8 * curve.fr_words
    wires, public_count, domain = file.u32(at), file.u32(at + 4), file.u32(at + 8)
    require(public_count < wires and public_count < domain and domain.bit_count() == 1)
    log_domain = domain.bit_length() - 1
    require(log_domain <= curve.two_adicity)
    at += 12
    points = []
    for group in (Group.G1, Group.G1, Group.G2, Group.G2, Group.G1, Group.G2):
        size = curve.point_bytes(group)
        points.append(file.data[at : at + size])
        at += size
    require(at == header.end)
    alpha1, beta1, beta2, gamma2, delta1, delta2 = points
    require_record(file, curve)
    return Key(file, curve, wires, public_count, log_domain, alpha1, beta1, beta2, gamma2, delta1, delta2)


def key_curve(file: MappedFile, header: Part) -> Curve:
    """The curve whose primes the header of a key names."""
    for curve in CURVES:
        base = (8 * curve.fq_words).to_bytes(4, "little") + curve.q.to_bytes(8 * curve.fq_words, "little")
        scalar = (8 * curve.fr_words).to_bytes(4, "little") + curve.r.to_bytes(8 * curve.fr_words, "little")
        expected = base + scalar
        if file.data[header.start : header.start + len(expected)] == expected:
            return curve
    raise Unusual


def require_record(file: MappedFile, curve: Curve) -> None:
    """The ceremony's record must be long enough for the contributions that it counts."""
    record = file.section(10)
    require(record.size >= 68)
    least = 80 * curve.fq_words + 72
    require(file.u32(record.start + 64) * least <= record.size - 68)


@dataclass(frozen=True, slots=True)
class Values:
    """The values of a witness: a section of a mapped file."""

    file: MappedFile
    part: Part
    count: int


def read_values(path: Path, curve: Curve) -> Values:
    """Map a wtns file for a curve. Raises Unusual, or OSError where there is none."""
    file = MappedFile(path, b"wtns", (1, 2))
    header, values = file.section(1), file.section(2)
    require(header.size == 40 and file.u32(header.start) == 32)
    require(file.integer(header.start + 4, 32) == curve.r)
    count = file.u32(header.start + 36)
    require(values.size == 32 * count)
    return Values(file, values, count)
