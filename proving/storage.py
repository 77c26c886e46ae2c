"""What all hosts reach: a Django storage, where the deployment has one.

Its errors are the storage's own and many; here they are FileNotFoundError for an object that is not there and
StorageAway, an OSError, for all else, without their words.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import BinaryIO, TypeVar

from django.conf import settings
from django.core.files import File
from django.core.files.storage import Storage, storages

logger = logging.getLogger(__name__)

ALIAS = "shared"
CHUNK = 1 << 20

Result = TypeVar("Result")


class StorageAway(OSError):  # noqa: N818 - the fact, as an operator reads it
    """The shared storage did not do what it was asked."""


def is_shared() -> bool:
    """Whether the deployment has a storage that all of its hosts reach."""
    return ALIAS in settings.STORAGES


def put(name: str, file: BinaryIO) -> None:
    """Keep the whole of a file, from its beginning, under a name; what had the name is replaced."""
    file.seek(0)
    kept = _ask(lambda shared: shared.save(name, File(file, name)))
    if kept != name:
        raise StorageAway(f"the storage keeps {name} under another name: it has to overwrite")


def fetch(name: str) -> Iterator[bytes]:
    """The content of an object, piece by piece. Raises FileNotFoundError, StorageAway."""
    with _told(), _shared().open(name) as source:
        yield from source.chunks(CHUNK)


def exists(name: str) -> bool:
    """Whether there is an object of this name. Raises StorageAway."""
    return bool(_ask(lambda shared: shared.exists(name)))


def delete(name: str) -> None:
    """Let an object go, if it is there."""
    try:
        _ask(lambda shared: shared.delete(name))
    except FileNotFoundError:
        return


def folders(name: str) -> list[str]:
    """The folders directly below a folder, by their names."""
    return _listed(name)[0]


def names(folder: str) -> list[str]:
    """The objects directly in a folder, by their names."""
    return _listed(folder)[1]


def modified_at(name: str) -> datetime:
    """When an object was put there. Raises FileNotFoundError, StorageAway."""
    return _ask(lambda shared: shared.get_modified_time(name))


def _listed(folder: str) -> tuple[list[str], list[str]]:
    try:
        return _ask(lambda shared: shared.listdir(folder))
    except FileNotFoundError:
        return [], []


def _shared() -> Storage:
    return storages[ALIAS]


def _ask(question: Callable[[Storage], Result]) -> Result:
    with _told():
        return question(_shared())


@contextmanager
def _told() -> Iterator[None]:
    try:
        yield
    except OSError:
        raise
    except Exception as error:
        logger.warning("the shared storage: %s", type(error).__name__)
        raise StorageAway(f"the shared storage is away ({type(error).__name__})") from error
