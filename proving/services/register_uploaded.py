"""Registering a circuit from files that are here already: uploaded in pieces before, or another circuit's."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings
from django.contrib.auth.models import User
from django.db.models import Q

from proving.choices import ProofKind
from proving.models import Artefact, Circuit, ResumableUpload, new_ulid
from proving.services import uploads
from proving.services.artefact_cache import at_hand
from proving.services.errors import ServiceError, invalid
from proving.services.register import CircuitFiles, Registered, register_circuit

CHUNK = 1 << 20
BY_CONTENT = re.compile(r"sha256:([0-9a-f]{64})")
PARTS = ("proving_key", "witness_generator", "r1cs")


@dataclass(frozen=True, slots=True)
class FileHere:
    """A file on this host, handed in as if it had just been uploaded."""

    path: Path

    def temporary_file_path(self) -> str:
        return str(self.path)

    def chunks(self) -> Iterator[bytes]:
        with self.path.open("rb") as file:
            yield from iter(lambda: file.read(CHUNK), b"")


def register_uploaded(
    owner: User, name: str, proof_kind: ProofKind, references: Mapping[str, str]
) -> Registered:
    """Register a circuit from files that have names here: ids of uploads that are whole, or `sha256:<hex>`
    for the content of a file that a circuit of the owner's has.

    ServiceError as `register_circuit`, and for names that mean no such file.
    """
    with ExitStack() as stack:
        found: dict[str, ResumableUpload] = {}
        files = {}
        for part, reference in references.items():
            if content := BY_CONTENT.fullmatch(reference):
                artefact = _own_artefact(owner, content[1], part)
                files[part] = FileHere(stack.enter_context(_second_name(artefact)))
            else:
                found[part] = _whole_upload(owner, reference, part)
                files[part] = FileHere(stack.enter_context(_path_of(found[part])))
        registered = register_circuit(owner, name, proof_kind, CircuitFiles(**files))
    for part, upload in found.items():
        _let_go(upload, getattr(registered.circuit, part) if part in PARTS else None)
    return registered


def _whole_upload(owner: User, reference: str, part: str) -> ResumableUpload:
    try:
        upload = uploads.find_upload(owner, reference)
        uploads.digest_of(upload)
    except ServiceError as error:
        raise invalid(f"/{part}", error.code, error.detail) from error
    return upload


def _own_artefact(owner: User, sha256: str, part: str) -> Artefact:
    uses = Q(proving_key=sha256) | Q(witness_generator=sha256) | Q(r1cs=sha256)
    if not Circuit.objects.filter(uses, owner=owner).exists():
        raise invalid(f"/{part}", "not_found", "none of your circuits has a file with this content")
    return Artefact.objects.get(pk=sha256)


@contextmanager
def _path_of(upload: ResumableUpload) -> Iterator[Path]:
    if upload.artefact is None:
        yield uploads.path_of(upload)
        return
    with _second_name(upload.artefact) as path:
        yield path


@contextmanager
def _second_name(artefact: Artefact) -> Iterator[Path]:
    """An artefact's file under a name of its own, so that nobody's lock is held while it is read."""
    path = Path(settings.FILE_UPLOAD_TEMP_DIR) / f"again-{new_ulid()}"
    with at_hand(artefact) as file:
        path.hardlink_to(file.path)
    try:
        yield path
    finally:
        path.unlink()


def _let_go(upload: ResumableUpload, artefact: Artefact | None) -> None:
    """The circuit keeps the content now: the upload's own name for it goes, and its share of the quota."""
    if artefact is None or artefact.sha256 != upload.sha256:
        return
    ResumableUpload.objects.filter(pk=upload.pk).update(artefact=artefact)
    uploads.path_of(upload).unlink(missing_ok=True)
