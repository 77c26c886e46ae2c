"""What a WebAssembly module imports and exports, read without compiling it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from kernels.curves import CURVES, Curve
from proving.formats.errors import FormatError

MAGIC = b"\0asm\x01\0\0\0"
IMPORT_SECTION, EXPORT_SECTION = 2, 7
FUNCTION, TABLE, MEMORY, GLOBAL, TAG = range(5)
MAX_ENTRIES = 100_000


@dataclass(frozen=True, slots=True)
class ModuleNames:
    """Names of a module: imports as "module.name"."""

    imports: tuple[str, ...]
    exports: tuple[str, ...]


class Reader:
    """Bytes of a module, read from front to back."""

    def __init__(self, file: str, content: bytes) -> None:
        self.file = file
        self.content = content
        self.position = 0

    @property
    def ended(self) -> bool:
        """Whether all bytes are read."""
        return self.position >= len(self.content)

    def refusal(self, reason: str) -> FormatError:
        """An error at this place."""
        return FormatError(self.file, f"byte {self.position}", reason)

    def take(self, size: int) -> bytes:
        """The next bytes."""
        taken = self.content[self.position : self.position + size]
        if len(taken) < size:
            raise self.refusal("the module ends here")
        self.position += size
        return taken

    def number(self) -> int:
        """An unsigned LEB128 number."""
        value = 0
        for shift in range(0, 70, 7):
            byte = self.take(1)[0]
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value
        raise self.refusal("a number is too long")

    def name(self) -> str:
        """A name with its length before it."""
        return self.take(self.number()).decode("utf-8", "replace")

    def entries(self) -> Iterator[None]:
        """Once for each entry of a section's vector."""
        count = self.number()
        if count > MAX_ENTRIES:
            raise self.refusal(f"{count} entries in a section")
        for _ in range(count):
            yield


def read_names(file: str, content: bytes) -> ModuleNames:
    """Imports and exports of a module. Raises FormatError."""
    if not content.startswith(MAGIC):
        raise FormatError(file, "header", "not a WebAssembly module of version 1")
    reader = Reader(file, content)
    reader.take(len(MAGIC))
    imports: list[str] = []
    exports: list[str] = []
    while not reader.ended:
        number = reader.take(1)[0]
        body = Reader(file, reader.take(reader.number()))
        if number == IMPORT_SECTION:
            imports = [read_import(body) for _ in body.entries()]
        elif number == EXPORT_SECTION:
            exports = [read_export(body) for _ in body.entries()]
    return ModuleNames(tuple(imports), tuple(exports))


def find_curve(content: bytes) -> Curve | None:
    """The curve whose scalar prime stands among a module's constants, if it is one alone."""
    found = [curve for curve in CURVES if curve.r.to_bytes(32, "little") in content]
    return found[0] if len(found) == 1 else None


def read_import(body: Reader) -> str:
    """One import's name; its type is read over."""
    module, name, kind = body.name(), body.name(), body.take(1)[0]
    if kind == FUNCTION:
        body.number()
    elif kind == TABLE:
        body.take(1)
        skip_limits(body)
    elif kind == MEMORY:
        skip_limits(body)
    elif kind == GLOBAL:
        body.take(2)
    elif kind == TAG:
        body.take(1)
        body.number()
    else:
        raise body.refusal(f"an import of unknown kind {kind}")
    return f"{module}.{name}"


def read_export(body: Reader) -> str:
    """One export's name."""
    name = body.name()
    body.take(1)
    body.number()
    return name


def skip_limits(body: Reader) -> None:
    """Read over the limits of a table or memory."""
    bounded = body.take(1)[0] & 1
    body.number()
    if bounded:
        body.number()
