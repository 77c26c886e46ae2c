"""Digests of parameter files against a list of them, as parameters.json of rust-fil-proofs is one.

The list maps file names to objects. `digest` is the BLAKE2b-512 of the file, or the first 16 bytes of it as
Filecoin's lists have it; `blake2b` and `sha256` may stand there in full.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from proving.formats.errors import FormatError
from proving.formats.snarkjs import read_json

ALGORITHMS = {"digest": "blake2b", "blake2b": "blake2b", "sha256": "sha256"}
SHORTEST = 32  # hex digits
HEX = re.compile(r"[0-9a-f]+")
CHUNK = 1 << 20


@dataclass(frozen=True, slots=True)
class Digests:
    """The digests of a file, in hex."""

    blake2b: str
    sha256: str


def digest_file(path: Path | str) -> Digests:
    """Read a file once for both digests. Raises OSError."""
    blake2b, sha256 = hashlib.blake2b(), hashlib.sha256()
    with Path(path).open("rb") as handle:
        while chunk := handle.read(CHUNK):
            blake2b.update(chunk)
            sha256.update(chunk)
    return Digests(blake2b.hexdigest(), sha256.hexdigest())


def check_digest(path: Path | str, list_path: Path | str, name: str | None = None) -> Digests:
    """Hold a file against its entry in a list. Raises FormatError where they differ or there is no entry.

    `name` is what the list calls the file; its own name when left out.
    """
    expected = read_expected(list_path, name or Path(path).name)
    found = digest_file(path)
    for member, value in expected.items():
        whole = getattr(found, ALGORITHMS[member])
        if not whole.startswith(value) or (member != "digest" and whole != value):
            raise FormatError(
                path,
                "digest",
                f"the {ALGORITHMS[member]} digest begins with {whole[:16]}, the list has {value[:16]}",
            )
    return found


def read_expected(list_path: Path | str, name: str) -> dict[str, str]:
    """The digests that a list has for a name, in lower case."""
    document: Any = read_json(list_path)
    if not isinstance(document, dict):
        raise FormatError(list_path, "document", "must be an object of files and their digests")
    if name not in document:
        raise FormatError(list_path, name, "is not in the list")
    entry = document[name]
    if not isinstance(entry, dict):
        raise FormatError(list_path, name, "must be an object")
    found = {member: str(entry[member]).lower() for member in ALGORITHMS if member in entry}
    if not found:
        raise FormatError(list_path, name, "has no digest, blake2b or sha256")
    for member, value in found.items():
        if len(value) < SHORTEST or not HEX.fullmatch(value):
            raise FormatError(list_path, f"{name}.{member}", "must be at least 16 bytes in hex")
    return found
