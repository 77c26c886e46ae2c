"""Where the spool's files lie: in a folder of this host, or in the storage that all hosts share.

A folder holds the files of one job. A file is whole or absent. Of the shared storage this host keeps copies
without a name: a process that is killed leaves none of them behind.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Protocol

from proving import storage

TEMPORARY = ".part"

Chunks = Iterable[bytes | memoryview]


class Shelf(Protocol):
    """Files by the names of their folder and their own."""

    def write(self, folder: str, name: str, chunks: Chunks) -> int:
        """Write a file whole or not at all. Returns its bytes."""
        ...

    def open(self, folder: str, name: str) -> BinaryIO:
        """A file of this host with the content, to be read or mapped. Raises FileNotFoundError."""
        ...

    def names(self, folder: str) -> list[str]:
        """The files of a folder, drafts included."""
        ...

    def delete(self, folder: str, names: Iterable[str]) -> None:
        """Let files go, those that are there."""
        ...

    def drop(self, folder: str) -> None:
        """Let a folder go, with everything in it."""
        ...

    def folders(self) -> list[str]:
        """Every folder."""
        ...

    def touched_at(self, folder: str) -> float:
        """When something was last written into a folder, seconds since 1970; now for one that is gone."""
        ...


@dataclass(frozen=True, slots=True)
class LocalShelf:
    """Folders below `root`, 0700, files 0600; written under a temporary name, synced, renamed."""

    root: Path

    def write(self, folder: str, name: str, chunks: Chunks) -> int:
        path = self.root / folder / name
        for level in (self.root, path.parent):
            level.mkdir(mode=0o700, parents=True, exist_ok=True)
        temporary = path.with_name(f".{name}.{os.getpid()}{TEMPORARY}")
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        try:
            with os.fdopen(descriptor, "wb") as file:
                for chunk in chunks:
                    file.write(chunk)
                size = file.tell()
                file.flush()
                os.fsync(file.fileno())
            temporary.replace(path)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
        _sync_folder(path.parent)
        return size

    def open(self, folder: str, name: str) -> BinaryIO:
        return (self.root / folder / name).open("rb")

    def names(self, folder: str) -> list[str]:
        try:
            return [path.name for path in (self.root / folder).iterdir()]
        except FileNotFoundError:
            return []

    def delete(self, folder: str, names: Iterable[str]) -> None:
        for name in names:
            (self.root / folder / name).unlink(missing_ok=True)

    def drop(self, folder: str) -> None:
        shutil.rmtree(self.root / folder, ignore_errors=True)

    def folders(self) -> list[str]:
        try:
            return [entry.name for entry in os.scandir(self.root) if entry.is_dir()]
        except FileNotFoundError:
            return []

    def touched_at(self, folder: str) -> float:
        try:
            return (self.root / folder).stat().st_mtime
        except FileNotFoundError:
            return float("inf")


@dataclass(frozen=True, slots=True)
class SharedShelf:
    """Objects below the prefix `root`; copies on this host are unnamed files of the folder `copies`."""

    root: str
    copies: Path

    def write(self, folder: str, name: str, chunks: Chunks) -> int:
        with self._unnamed() as file:
            for chunk in chunks:
                file.write(chunk)
            size = file.tell()
            storage.put(f"{self.root}/{folder}/{name}", file)
        return size

    def open(self, folder: str, name: str) -> BinaryIO:
        file = self._unnamed()
        try:
            for chunk in storage.fetch(f"{self.root}/{folder}/{name}"):
                file.write(chunk)
            file.flush()
            file.seek(0)
        except BaseException:
            file.close()
            raise
        return file

    def names(self, folder: str) -> list[str]:
        return storage.names(f"{self.root}/{folder}")

    def delete(self, folder: str, names: Iterable[str]) -> None:
        for name in names:
            storage.delete(f"{self.root}/{folder}/{name}")

    def drop(self, folder: str) -> None:
        self.delete(folder, self.names(folder))

    def folders(self) -> list[str]:
        return storage.folders(self.root)

    def touched_at(self, folder: str) -> float:
        found = [float("-inf")]
        for name in self.names(folder):
            with _unless_gone():
                found.append(storage.modified_at(f"{self.root}/{folder}/{name}").timestamp())
        return max(found)

    def _unnamed(self) -> BinaryIO:
        self.copies.mkdir(mode=0o700, parents=True, exist_ok=True)
        return tempfile.TemporaryFile(dir=self.copies)


@contextmanager
def _unless_gone() -> Iterator[None]:
    try:
        yield
    except FileNotFoundError:
        return


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
