"""Uploaded files: staged and hashed, published under the digest of their content once they are good."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, runtime_checkable

from django.conf import settings

from proving import storage
from proving.models import Artefact
from proving.services.artefact_cache import keep, make_room, object_name


class Upload(Protocol):
    """A file that is being handed in: what Django's uploaded files are."""

    def chunks(self) -> Iterator[bytes]: ...


@runtime_checkable
class UploadOnDisk(Protocol):
    """An upload that already lies in a file of its own."""

    def temporary_file_path(self) -> str: ...


@dataclass(frozen=True, slots=True)
class StagedFile:
    """An upload that lies whole on this host, not yet published."""

    path: Path
    sha256: str
    size: int


@contextmanager
def staged(**uploads: Upload | None) -> Iterator[dict[str, StagedFile]]:
    """The uploads that were given, staged under their names; what was not published is gone afterwards."""
    with ExitStack() as stack:
        yield {
            name: stack.enter_context(_staged_file(upload))
            for name, upload in uploads.items()
            if upload is not None
        }


@contextmanager
def _staged_file(upload: Upload) -> Iterator[StagedFile]:
    if isinstance(upload, UploadOnDisk):
        path = Path(upload.temporary_file_path())
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        yield StagedFile(path, digest, path.stat().st_size)
        return
    digest_so_far = hashlib.sha256()
    with tempfile.NamedTemporaryFile(dir=settings.FILE_UPLOAD_TEMP_DIR, prefix="staged-") as file:
        for chunk in upload.chunks():
            digest_so_far.update(chunk)
            file.write(chunk)
        file.flush()
        yield StagedFile(Path(file.name), digest_so_far.hexdigest(), file.tell())


def publish(file: StagedFile) -> Artefact:
    """Keep a staged file for good: under its digest it is whole, or absent.

    Where hosts share a storage it goes there before anybody hears of it. Raises OSError.
    """
    artefact = Artefact(sha256=file.sha256, size=file.size)
    keep(artefact, file.path)
    if storage.is_shared() and not storage.exists(object_name(artefact)):
        with file.path.open("rb") as content:
            storage.put(object_name(artefact), content)
        make_room(0)
    kept, _ = Artefact.objects.get_or_create(sha256=file.sha256, defaults={"size": file.size})
    return kept
