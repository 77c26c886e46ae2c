"""Files in pieces by the tus protocol: resumed, checked, kept once, thrown away; circuits made of them."""

import base64
import hashlib
import os
from collections.abc import Callable, Iterable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from proving.models import Artefact, Circuit, ResumableUpload
from proving.services import uploads
from proving.services.errors import ServiceError
from tests.integration.conftest import Caller, CircuitFolder

pytestmark = pytest.mark.django_db

UPLOADS, CIRCUITS = "/api/v1/uploads", "/api/v1/circuits"
DATA = bytes(range(256)) * 40
TUS = {"tus-resumable": "1.0.0"}
PIECE = "application/offset+octet-stream"


def b64(data: bytes | str) -> str:
    return base64.b64encode(data.encode() if isinstance(data, str) else data).decode()


class Sender:
    """Somebody who speaks the protocol by hand."""

    def __init__(self, client: Client) -> None:
        self.client = client

    def create(self, size: int, sha256: str | None = None, **headers: str) -> Any:
        told = f"filename {b64('key.zkey')}" + (f",sha256 {b64(sha256)}" if sha256 else "")
        return self.client.post(
            UPLOADS, headers={**TUS, "upload-length": str(size), "upload-metadata": told, **headers}
        )

    def patch(self, place: str, offset: int, data: bytes, **headers: str) -> Any:
        given = {**TUS, "upload-offset": str(offset), **headers}
        return self.client.patch(place, data, content_type=PIECE, headers=given)

    def head(self, place: str) -> Any:
        return self.client.head(place, headers=TUS)

    def send(self, path: Path) -> str:
        """A whole file; its upload's id."""
        data = path.read_bytes()
        made = self.create(len(data), hashlib.sha256(data).hexdigest())
        half = len(data) // 2
        self.patch(made["Location"], 0, data[:half])
        assert self.patch(made["Location"], half, data[half:]).status_code == 204
        found: str = made.json()["id"]
        return found


@pytest.fixture
def sender(caller: Caller) -> Sender:
    return Sender(caller.client)


@pytest.fixture
def place(sender: Sender) -> str:
    """An upload that waits for its first byte."""
    made = sender.create(len(DATA), hashlib.sha256(DATA).hexdigest())
    assert made.status_code == 201, made.content
    found: str = made["Location"]
    return found


def test_what_the_service_can_do_is_told(sender: Sender, settings: Settings) -> None:
    answer = sender.client.options(UPLOADS)
    assert (answer.status_code, answer["Tus-Version"]) == (204, "1.0.0")
    assert answer["Tus-Extension"] == "creation,checksum,expiration,termination"
    assert answer["Tus-Max-Size"] == str(settings.CUZKWEB_MAX_UPLOAD_BYTES)


def test_a_file_arrives_in_pieces(sender: Sender, place: str) -> None:
    assert sender.head(place)["Upload-Offset"] == "0"
    first = sender.patch(place, 0, DATA[:1000])
    assert (first.status_code, first["Upload-Offset"], first["Tus-Resumable"]) == (204, "1000", "1.0.0")
    told = sender.head(place)
    assert (told["Upload-Offset"], told["Upload-Length"]) == ("1000", str(len(DATA)))
    assert told["Cache-Control"] == "no-store"
    assert sender.client.get(place).json()["complete"] is False
    sender.patch(place, 1000, DATA[1000:])
    document = sender.client.get(place).json()
    assert (document["complete"], document["sha256"]) == (True, hashlib.sha256(DATA).hexdigest())
    assert document["name"] == "key.zkey"
    assert "Upload-Expires" in told


@pytest.mark.parametrize("version", [{}, {"tus-resumable": "0.2.2"}])
def test_another_version_is_refused(sender: Sender, place: str, version: dict[str, str]) -> None:
    answer = sender.client.head(place, headers=version)
    assert (answer.status_code, answer["Tus-Version"]) == (412, "1.0.0")


def test_a_piece_goes_where_the_file_ends(sender: Sender, place: str) -> None:
    sender.patch(place, 0, DATA[:1000])
    for offset in (0, 999, 1001):
        answer = sender.patch(place, offset, b"x")
        assert (answer.status_code, answer.json()["code"]) == (409, "wrong_offset")
    assert sender.head(place)["Upload-Offset"] == "1000"


def test_more_than_was_announced_is_refused_whole(sender: Sender, place: str) -> None:
    answer = sender.patch(place, 0, DATA + b"x")
    assert (answer.status_code, answer.json()["code"]) == (413, "past_its_size")
    assert sender.head(place)["Upload-Offset"] == "0"


def test_a_damaged_piece_does_not_count(sender: Sender, place: str) -> None:
    checksum = {"upload-checksum": f"sha256 {b64(hashlib.sha256(DATA[:9]).digest())}"}
    answer = sender.patch(place, 0, DATA[:8] + b"?", **checksum)
    assert (answer.status_code, answer.json()["title"]) == (460, "Checksum Mismatch")
    assert sender.head(place)["Upload-Offset"] == "0"
    assert sender.patch(place, 0, DATA[:9], **checksum).status_code == 204


def test_a_whole_file_with_another_digest_is_thrown_away(sender: Sender, place: str) -> None:
    answer = sender.patch(place, 0, DATA[::-1])
    assert (answer.status_code, answer.json()["code"]) == (422, "digest_mismatch")
    assert sender.head(place).status_code == 404


@pytest.mark.parametrize(
    "headers",
    [
        {"upload-length": "many"},
        {"upload-length": "-1"},
        {"upload-metadata": "filename ???"},
        {"upload-metadata": f"sha256 {b64('not hex')}"},
        {"upload-length": "0"},
    ],
)
def test_a_bad_announcement_is_refused(sender: Sender, headers: dict[str, str]) -> None:
    assert sender.create(5, **headers).status_code in {400, 422}
    assert not ResumableUpload.objects.exists()


@pytest.mark.parametrize(
    ("kind", "headers", "status"),
    [
        ("application/json", {"upload-offset": "0"}, 415),
        (PIECE, {"upload-offset": "x"}, 400),
        (PIECE, {}, 400),
        (PIECE, {"upload-offset": "0", "upload-checksum": "md5 xxxx"}, 400),
    ],
)
def test_a_bad_piece_is_refused(
    sender: Sender, place: str, kind: str, headers: dict[str, str], status: int
) -> None:
    answer = sender.client.patch(place, b"{}", content_type=kind, headers={**TUS, **headers})
    assert answer.status_code == status
    assert answer["Content-Type"] == "application/problem+json"


def test_too_large_a_file_and_too_many_bytes_are_refused(sender: Sender, settings: Settings) -> None:
    settings.CUZKWEB_MAX_UPLOAD_BYTES = 1000
    assert sender.create(1001).json()["code"] == "bad_size"
    settings.CUZKWEB_UPLOAD_QUOTA_BYTES = 1500
    kept = sender.create(900)
    answer = sender.create(601)
    assert (answer.status_code, answer.json()["code"]) == (413, "upload_quota")
    assert sender.client.delete(kept["Location"], headers=TUS).status_code == 204
    assert sender.create(601).status_code == 201


def test_without_room_on_the_disk_nothing_is_begun(sender: Sender, settings: Settings) -> None:
    settings.CUZKWEB_MIN_FREE_BYTES = 1 << 60
    answer = sender.create(5)
    assert (answer.status_code, answer.json()["code"]) == (503, "no_room")
    assert "Retry-After" in answer


def test_anothers_upload_is_not_there(
    sender: Sender, place: str, calling: Callable[[User], Caller], bob: User
) -> None:
    stranger = Sender(calling(bob).client)
    assert stranger.head(place).status_code == 404
    assert stranger.client.get(place).status_code == 404
    assert stranger.patch(place, 0, DATA).status_code == 404
    assert stranger.client.delete(place, headers=TUS).status_code == 404
    assert stranger.client.get(UPLOADS).json()["results"] == []
    answer = stranger.client.post(
        CIRCUITS, {"name": "x", "proving_key": place.rpartition("/")[2]}, content_type="application/json"
    )
    assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (422, "#/proving_key")


def test_two_connections_do_not_mix(sender: Sender, place: str) -> None:
    upload = ResumableUpload.objects.get()

    def chunks() -> Iterable[bytes]:
        yield DATA[:10]
        answer = sender.patch(place, 0, b"x")
        assert (answer.status_code, answer.json()["code"]) == (423, "upload_busy")
        yield DATA[10:20]

    assert uploads.append(upload, 0, chunks()) == 20


def test_what_came_before_a_fault_is_kept(place: str) -> None:
    upload = ResumableUpload.objects.get()

    def chunks() -> Iterable[bytes]:
        yield DATA[:10]
        raise ConnectionError

    with pytest.raises(ConnectionError):
        uploads.append(upload, 0, chunks())
    assert uploads.offset_of(upload) == 10


def test_what_nobody_comes_back_for_goes(sender: Sender, place: str, settings: Settings) -> None:
    sender.patch(place, 0, DATA[:10])
    assert uploads.forget_uploads() == 0
    upload = ResumableUpload.objects.get()
    path = uploads.path_of(upload)
    ResumableUpload.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    assert sender.head(place).status_code == 404
    assert uploads.forget_uploads() == 1
    assert not path.exists()
    path.write_bytes(b"of nobody")
    assert uploads.forget_uploads() == 0
    os.utime(path, (0, 0))
    assert uploads.forget_uploads() == 1
    assert list(path.parent.iterdir()) == []


def test_a_piece_puts_the_end_off(sender: Sender, place: str) -> None:
    soon = timezone.now() + timedelta(seconds=5)
    ResumableUpload.objects.update(expires_at=soon)
    sender.patch(place, 0, DATA[:10])
    assert ResumableUpload.objects.get().expires_at > soon


def test_uploads_are_found_by_their_digest(sender: Sender, place: str) -> None:
    sender.create(5)
    found = sender.client.get(UPLOADS, {"sha256": hashlib.sha256(DATA).hexdigest()}).json()["results"]
    assert [row["links"]["self"] for row in found] == ["/api/v1" + place.split("/api/v1")[1]]
    assert sender.client.get(UPLOADS, {"sha256": "x"}).status_code == 400


def register(caller: Caller, **fields: str) -> Any:
    return caller.post(CIRCUITS, {"name": "multiplier", **fields})


def test_a_circuit_is_made_of_uploads(sender: Sender, caller: Caller, multiplier: CircuitFolder) -> None:
    parts = {
        "proving_key": sender.send(multiplier.zkey),
        "witness_generator": sender.send(multiplier.wasm),
        "r1cs": sender.send(multiplier.r1cs),
        "verifying_key": sender.send(multiplier.vkey),
    }
    made = register(caller, **parts)
    assert made.status_code == 201, made.content
    assert made.json()["proving_key"]["sha256"] == hashlib.sha256(multiplier.zkey.read_bytes()).hexdigest()
    again = register(caller, **parts)
    assert (again.status_code, again.json()["id"]) == (200, made.json()["id"])
    kept = ResumableUpload.objects.get(pk=parts["proving_key"])
    assert not uploads.path_of(kept).exists()
    assert uploads.offset_of(kept) == kept.size
    assert Artefact.objects.count() == 3


def test_content_that_is_here_is_not_sent_again(
    sender: Sender, caller: Caller, circuit: Circuit, calling: Callable[[User], Caller], bob: User
) -> None:
    reference = f"sha256:{circuit.proving_key_id}"
    made = register(caller, name="second", proving_key=reference)
    assert made.status_code == 201, made.content
    assert made.json()["proving_key"]["sha256"] == circuit.proving_key_id
    refused = register(calling(bob), name="mine", proving_key=reference)
    assert (refused.status_code, refused.json()["code"]) == (422, "not_found")


def test_half_a_file_makes_no_circuit(sender: Sender, caller: Caller, place: str) -> None:
    sender.patch(place, 0, DATA[:10])
    answer = register(caller, proving_key=place.rpartition("/")[2])
    assert (answer.status_code, answer.json()["code"]) == (422, "upload_incomplete")
    assert answer.json()["errors"][0]["pointer"] == "#/proving_key"


def test_a_bad_file_stays_for_another_try(sender: Sender, caller: Caller, place: str) -> None:
    sender.patch(place, 0, DATA)
    answer = register(caller, proving_key=place.rpartition("/")[2])
    assert (answer.status_code, answer.json()["code"]) == (422, "bad_proving_key")
    assert sender.head(place).status_code == 200


def test_a_crash_before_the_digest_was_noted_does_no_harm(place: str) -> None:
    upload = ResumableUpload.objects.get()
    uploads.path_of(upload).write_bytes(DATA)
    assert uploads.digest_of(upload) == upload.expected
    uploads.path_of(upload).write_bytes(DATA[::-1])
    ResumableUpload.objects.update(sha256="")
    with pytest.raises(ServiceError, match="thrown away"):
        uploads.digest_of(ResumableUpload.objects.get())
