"""Artefacts on this host: whole, held against their digest, fetched from the shared storage where missing.

Each file has a mark in HOME/cache/seen. It tells which file (inode, size, time of the last change) was found
to have the digest, so that a file is hashed once and again only when something has changed it. The mark's own
time is when the artefact was used last, and its lock keeps two processes from fetching the same thing, and
anybody from removing what another is about to open.
"""

from __future__ import annotations

import fcntl
import hashlib
import logging
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings

from proving import storage
from proving.models import Artefact

logger = logging.getLogger(__name__)

DIGEST = re.compile(r"[0-9a-f]{64}")
TRIES = 5


class DamagedArtefact(OSError):  # noqa: N818 - the fact, as an operator reads it
    """A file does not have its digest, and there is nowhere to fetch it from."""


@dataclass(frozen=True, slots=True)
class AtHand:
    """A file that was found good. `mark` changes whenever the file is another than before."""

    path: Path
    mark: str


@contextmanager
def at_hand(artefact: Artefact) -> Iterator[AtHand]:
    """The artefact's file on this host. It is not removed meanwhile; what is mapped from it stays anyway.

    Raises DamagedArtefact, and StorageAway where it would have to be fetched and cannot be.
    """
    for _ in range(TRIES):
        with _locked(artefact.path, fcntl.LOCK_SH) as seen:
            if (mark := _trusted(artefact, seen)) is not None:
                os.utime(seen)
                yield AtHand(artefact.path, mark)
                return
        with _locked(artefact.path, fcntl.LOCK_EX) as seen:
            if _trusted(artefact, seen) is None:
                _make_good(artefact)
                _vouch(artefact, seen)
    raise DamagedArtefact(f"the file of artefact {artefact} changes all the time")


def keep(artefact: Artefact, source: Path) -> None:
    """Have the content of `source`, which has the artefact's digest, on this host as the artefact's file."""
    path = artefact.path
    with _locked(path, fcntl.LOCK_EX) as seen:
        if _trusted(artefact, seen) is not None:
            return
        _sync(source)
        draft = path.with_name(f".{path.name}.{os.getpid()}")
        draft.unlink(missing_ok=True)
        draft.hardlink_to(source)
        draft.chmod(0o600)
        draft.replace(path)
        _sync(path.parent)
        _vouch(artefact, seen)


def recheck(artefact: Artefact) -> bool:
    """Hash an artefact's file again, whatever its mark says: False where it was damaged without a trace.

    A damaged file is fetched again at its next use.
    """
    with _locked(artefact.path, fcntl.LOCK_EX) as seen:
        if artefact.path.exists() and _digest(artefact.path) == artefact.sha256:
            return True
        logger.error("the file of artefact %s is damaged", artefact)
        os.ftruncate(seen, 0)
        return False


def make_room(size: int) -> int:
    """Remove what was not used for longest until `size` more bytes fit the cache. Returns how many went.

    Only what can be fetched again is removed: without a shared storage nothing ever is.
    """
    limit = int(settings.CUZKWEB_CACHE_BYTES)
    if not storage.is_shared() or not limit:
        return 0
    entries = sorted(_entries(), key=_used_at)
    total, gone = size + sum(path.stat().st_size for path in entries), 0
    for path in entries:
        if total <= limit:
            break
        length = path.stat().st_size
        if _remove(path):
            total -= length
            gone += 1
    return gone


def object_name(artefact: Artefact) -> str:
    """The artefact in the shared storage."""
    return f"artefacts/{artefact.sha256[:2]}/{artefact.sha256}"


@contextmanager
def _locked(path: Path, kind: int) -> Iterator[int]:
    """The mark of a file, open and locked: the one that lies there now, not one removed meanwhile."""
    seen = _mark_path(path)
    for folder in (seen.parent, path.parent):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    while True:
        descriptor = os.open(seen, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, kind)
            with suppress(FileNotFoundError):
                if os.fstat(descriptor).st_ino == seen.stat().st_ino:
                    yield descriptor
                    return
        finally:
            os.close(descriptor)


def _mark_path(path: Path) -> Path:
    home: Path = settings.CUZKWEB_HOME
    return home / "cache" / "seen" / path.name


def _trusted(artefact: Artefact, seen: int) -> str | None:
    """The mark, where the file is the one that it tells of."""
    told = os.pread(seen, 256, 0).decode()
    with suppress(FileNotFoundError):
        if told and told == _mark_of(artefact.path):
            return told
    return None


def _vouch(artefact: Artefact, seen: int) -> None:
    os.ftruncate(seen, 0)
    os.pwrite(seen, _mark_of(artefact.path).encode(), 0)


def _mark_of(path: Path) -> str:
    found = path.stat()
    return f"{found.st_ino} {found.st_size} {found.st_mtime_ns}"


def _make_good(artefact: Artefact) -> None:
    """Have the right file in its place, or raise."""
    path = artefact.path
    if path.exists() and path.stat().st_size == artefact.size and _digest(path) == artefact.sha256:
        return
    if path.exists():
        logger.error("the file of artefact %s is damaged", artefact)
    if not storage.is_shared():
        raise DamagedArtefact(f"the file of artefact {artefact} is damaged or gone: restore it from a backup")
    make_room(artefact.size)
    _fetch(artefact)


def _fetch(artefact: Artefact) -> None:
    """Download into a draft, and put it in its place when it has the digest."""
    path, digest = artefact.path, hashlib.sha256()
    for left in path.parent.glob(f".{path.name}.*"):
        left.unlink(missing_ok=True)
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            for chunk in storage.fetch(object_name(artefact)):
                digest.update(chunk)
                file.write(chunk)
            file.flush()
            os.fsync(file.fileno())
        if digest.hexdigest() != artefact.sha256:
            raise DamagedArtefact(f"artefact {artefact} is damaged in the shared storage")
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)
    logger.info("artefact %s fetched: %d bytes", artefact, artefact.size)


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _entries() -> list[Path]:
    root: Path = settings.CUZKWEB_HOME / "artefacts"
    return [path for path in root.glob("*/*") if DIGEST.fullmatch(path.name)]


def _used_at(path: Path) -> float:
    with suppress(FileNotFoundError):
        return _mark_path(path).stat().st_mtime
    return 0.0


def _remove(path: Path) -> bool:
    """Remove a file and its mark, unless somebody holds it."""
    try:
        with _locked(path, fcntl.LOCK_EX | fcntl.LOCK_NB):
            path.unlink(missing_ok=True)
            _mark_path(path).unlink(missing_ok=True)
    except BlockingIOError:
        return False
    return True
