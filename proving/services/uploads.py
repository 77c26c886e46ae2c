"""Files that arrive in pieces: kept through broken connections and restarts, checked by digest, thrown away
when their sender does not come back.

How much of a file is here is what its own file on this host says: nothing else can be right after a crash.
Whoever adds to it holds a lock on it, so that two connections of one sender never mix.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import BinaryIO

from django.conf import settings
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import QuerySet, Sum
from django.utils import timezone

from proving.models import ResumableUpload
from proving.services.errors import Refusal, ServiceError, conflict, invalid, not_found

RETRY_AFTER_SECONDS = 30


@dataclass(frozen=True, slots=True)
class Checksum:
    """What a sender says of one piece: its SHA-256."""

    sha256: bytes


def create_upload(owner: User, size: int, name: str = "", expected: str = "") -> ResumableUpload:
    """Announce a file of `size` bytes, with its SHA-256 in hex where it is known.

    ServiceError where it is larger than any file may be, than what is left of the owner's share, or than the
    disk has room for.
    """
    if not 1 <= size <= settings.CUZKWEB_MAX_UPLOAD_BYTES:
        limit = settings.CUZKWEB_MAX_UPLOAD_BYTES
        refusal = Refusal.INVALID if size < 1 else Refusal.TOO_LARGE
        raise ServiceError(refusal, "bad_size", f"a file may have 1 to {limit} bytes, not {size}")
    if shutil.disk_usage(_folder()).free < size + settings.CUZKWEB_MIN_FREE_BYTES:
        detail = "the disk of the service has no room for the file now"
        raise ServiceError(Refusal.UNAVAILABLE, "no_room", detail, retry_after=RETRY_AFTER_SECONDS)
    with transaction.atomic():
        User.objects.select_for_update().get(pk=owner.pk)
        _check_quota(owner, size)
        return ResumableUpload.objects.create(
            owner=owner, size=size, name=name, expected=expected, expires_at=_expiry()
        )


def uploads_of(owner: User) -> QuerySet[ResumableUpload]:
    """The owner's uploads that have not expired."""
    return ResumableUpload.objects.filter(owner=owner, expires_at__gt=timezone.now())


def find_upload(owner: User, upload_id: str) -> ResumableUpload:
    """The owner's upload with this id. ServiceError when there is none, or it has expired."""
    found = None if "\0" in upload_id else uploads_of(owner).filter(pk=upload_id).first()
    if found is None:
        raise not_found("upload")
    return found


def offset_of(upload: ResumableUpload) -> int:
    """How many of its bytes are here."""
    if upload.artefact_id is not None:
        return upload.size
    try:
        return path_of(upload).stat().st_size
    except FileNotFoundError:
        return 0


def append(
    upload: ResumableUpload, offset: int, chunks: Iterable[bytes], checksum: Checksum | None = None
) -> int:
    """Add what comes, as far as it comes, from `offset` on. Returns the new offset.

    With a checksum the piece counts only when it has come whole and has it. ServiceError: somebody else adds
    to the upload now, `offset` is not where it ends, the piece goes past its size, or a digest is wrong; a
    whole file with a wrong digest is deleted.
    """
    with _locked(upload) as file:
        here = file.seek(0, os.SEEK_END)
        if offset != here or upload.artefact_id is not None:
            raise conflict("wrong_offset", f"the upload goes on at {offset_of(upload)}, not at {offset}")
        try:
            here += _write(file, chunks, upload.size - here, checksum)
        except ServiceError:
            file.truncate(offset)
            raise
        finally:
            file.flush()
            os.fsync(file.fileno())
        ResumableUpload.objects.filter(pk=upload.pk).update(expires_at=_expiry())
        if here == upload.size:
            _complete(upload)
    return here


def digest_of(upload: ResumableUpload) -> str:
    """The SHA-256 of a file that has come whole. ServiceError where it has not, or has another one."""
    if upload.sha256:
        return upload.sha256
    with _locked(upload) as file:
        here = file.seek(0, os.SEEK_END)
        if here != upload.size:
            raise conflict("upload_incomplete", f"{here} of {upload.size} bytes of the upload are here")
        return _complete(upload)


def remove_upload(upload: ResumableUpload) -> None:
    """Throw an upload away. ServiceError while somebody adds to it."""
    with _locked(upload):
        path_of(upload).unlink(missing_ok=True)
        upload.delete()


def forget_uploads() -> int:
    """Throw away what has expired, and files without a row. Returns how many went."""
    doomed = list(ResumableUpload.objects.filter(expires_at__lte=timezone.now()))
    for upload in doomed:
        path_of(upload).unlink(missing_ok=True)
        upload.delete()
    known = set(ResumableUpload.objects.values_list("pk", flat=True))
    orphans = [path for path in _folder().iterdir() if path.name not in known and _is_old(path)]
    for path in orphans:
        path.unlink(missing_ok=True)
    return len(doomed) + len(orphans)


def path_of(upload: ResumableUpload) -> Path:
    """Where what came of an upload lies on this host."""
    return _folder() / upload.pk


def _folder() -> Path:
    folder = Path(settings.FILE_UPLOAD_TEMP_DIR) / "resumable"
    folder.mkdir(mode=0o700, exist_ok=True)
    return folder


def _expiry() -> datetime:
    return timezone.now() + timedelta(seconds=settings.CUZKWEB_KEEP_UPLOADS_SECONDS)


def _check_quota(owner: User, size: int) -> None:
    limit = settings.CUZKWEB_UPLOAD_QUOTA_BYTES
    unused = uploads_of(owner).filter(artefact=None)
    taken = unused.aggregate(total=Sum("size"))["total"] or 0
    if limit and taken + size > limit:
        detail = f"uploads that no circuit uses yet may have {limit} bytes together: {taken} are taken"
        raise ServiceError(Refusal.TOO_LARGE, "upload_quota", detail)


@contextmanager
def _locked(upload: ResumableUpload) -> Iterator[BinaryIO]:
    """The upload's file, for its holder alone."""
    flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC
    with os.fdopen(os.open(path_of(upload), flags, 0o600), "r+b") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            detail = "another connection adds to this upload now"
            raise ServiceError(Refusal.LOCKED, "upload_busy", detail, retry_after=1) from None
        yield file


def _write(file: BinaryIO, chunks: Iterable[bytes], room: int, checksum: Checksum | None) -> int:
    digest, written = hashlib.sha256(), 0
    for chunk in chunks:
        written += len(chunk)
        if written > room:
            raise ServiceError(Refusal.TOO_LARGE, "past_its_size", "more came than was announced")
        if checksum is not None:
            digest.update(chunk)
        file.write(chunk)
    if checksum is not None and digest.digest() != checksum.sha256:
        raise ServiceError(Refusal.DAMAGED, "checksum_mismatch", "the piece does not have its checksum")
    return written


def _complete(upload: ResumableUpload) -> str:
    """All of it is here: note its digest, or throw it away where that is not the one announced."""
    with path_of(upload).open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if upload.expected and found != upload.expected:
        path_of(upload).unlink(missing_ok=True)
        upload.delete()
        detail = f"the file has the SHA-256 {found}, not the one announced: it was thrown away"
        raise invalid("", "digest_mismatch", detail)
    upload.sha256 = found
    ResumableUpload.objects.filter(pk=upload.pk).update(sha256=found)
    return found


def _is_old(path: Path) -> bool:
    """Whether a file without a row is more than one that is just being made."""
    try:
        return timezone.now().timestamp() - path.stat().st_mtime > settings.CUZKWEB_KEEP_UPLOADS_SECONDS
    except FileNotFoundError:
        return False
