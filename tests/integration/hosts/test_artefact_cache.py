"""Artefacts on a host: fetched once, held against their digest, bounded in bytes."""

import hashlib
import os
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from pytest_django import Settings

from proving import storage
from proving.models import Artefact
from proving.services import artefact_cache
from proving.services.artefact_cache import DamagedArtefact, at_hand, make_room, object_name, recheck


@pytest.fixture
def shared(home: Path, tmp_path: Path, settings: Settings) -> Path:
    """A storage beside this host's home, as a folder."""
    folder = tmp_path / "storage"
    options = {"location": str(folder), "allow_overwrite": True}
    settings.STORAGES = {
        **settings.STORAGES,
        "shared": {"BACKEND": "django.core.files.storage.FileSystemStorage", "OPTIONS": options},
    }
    return folder


@pytest.fixture
def fetched(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What was asked of the storage."""
    asked: list[str] = []
    real = storage.fetch

    def fetch(name: str) -> Iterator[bytes]:
        asked.append(name)
        yield from real(name)

    monkeypatch.setattr(storage, "fetch", fetch)
    return asked


def stored(folder: Path, content: bytes) -> Artefact:
    """An artefact that lies in the storage and not on this host."""
    artefact = Artefact(sha256=hashlib.sha256(content).hexdigest(), size=len(content))
    path = folder / object_name(artefact)
    path.parent.mkdir(parents=True)
    path.write_bytes(content)
    return artefact


def content_of(artefact: Artefact) -> bytes:
    with at_hand(artefact) as found:
        return found.path.read_bytes()


def files(home: Path) -> set[str]:
    return {path.name for path in (home / "artefacts").rglob("*") if path.is_file()}


def test_what_is_missing_is_fetched_and_then_kept(home: Path, shared: Path, fetched: list[str]) -> None:
    artefact = stored(shared, b"a key")

    assert [content_of(artefact), content_of(artefact)] == [b"a key"] * 2

    assert fetched == [object_name(artefact)]
    assert files(home) == {artefact.sha256}
    assert artefact.path.stat().st_mode & 0o077 == 0


def test_several_at_once_share_one_download(shared: Path, fetched: list[str]) -> None:
    artefact, everybody = stored(shared, b"a key"), threading.Barrier(6)

    def ask(_: int) -> bytes:
        everybody.wait(10)
        return content_of(artefact)

    with ThreadPoolExecutor(6) as pool:
        found = list(pool.map(ask, range(6)))

    assert found == [b"a key"] * 6
    assert len(fetched) == 1


def test_a_file_that_was_changed_is_fetched_again(home: Path, shared: Path, fetched: list[str]) -> None:
    artefact = stored(shared, b"a key")
    with at_hand(artefact) as before:
        pass
    artefact.path.write_bytes(b"a kez")

    with at_hand(artefact) as after:
        assert after.path.read_bytes() == b"a key"

    assert after.mark != before.mark, "what was mapped of the damaged file is not taken for this one"
    assert len(fetched) == 2


def test_damage_that_left_no_trace_is_found_by_hashing(shared: Path, fetched: list[str]) -> None:
    artefact = stored(shared, b"a key")
    assert content_of(artefact) == b"a key"
    was = artefact.path.stat()
    with artefact.path.open("r+b") as file:
        file.write(b"X")
    os.utime(artefact.path, ns=(was.st_atime_ns, was.st_mtime_ns))
    assert content_of(artefact) == b"X key", "nothing shows"

    assert recheck(artefact) is False

    assert content_of(artefact) == b"a key"
    assert recheck(artefact) is True


def test_what_has_not_its_digest_is_never_put_in_place(home: Path, shared: Path) -> None:
    artefact = stored(shared, b"a key")
    (shared / object_name(artefact)).write_bytes(b"another")

    with pytest.raises(DamagedArtefact, match="in the shared storage"), at_hand(artefact):
        pass

    assert files(home) == set()


def test_a_download_that_breaks_off_leaves_nothing(
    home: Path, shared: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    artefact = stored(shared, b"a key")

    def broken(_: str) -> Iterator[bytes]:
        yield b"a "
        raise storage.StorageAway("cut off")

    with monkeypatch.context() as patched:
        patched.setattr(storage, "fetch", broken)
        with pytest.raises(storage.StorageAway), at_hand(artefact):
            pass
    assert files(home) == set()

    (artefact.path.parent / f".{artefact.sha256}.1").write_bytes(b"of a killed process")
    assert content_of(artefact) == b"a key"
    assert files(home) == {artefact.sha256}


def test_what_was_not_used_for_longest_makes_room(home: Path, shared: Path, settings: Settings) -> None:
    settings.CUZKWEB_CACHE_BYTES = 250
    keys = [stored(shared, bytes([number]) * 100) for number in range(3)]
    for key in (keys[0], keys[1], keys[0]):
        content_of(key)

    content_of(keys[2])

    assert files(home) == {keys[0].sha256, keys[2].sha256}
    assert content_of(keys[1]) == b"\1" * 100, "and comes back when it is wanted"


def test_what_is_being_opened_is_not_removed(home: Path, shared: Path, settings: Settings) -> None:
    settings.CUZKWEB_CACHE_BYTES = 150
    first, second = (stored(shared, bytes([number]) * 100) for number in range(2))

    with at_hand(first) as held:
        assert content_of(second) == b"\1" * 100
        assert held.path.read_bytes() == b"\0" * 100


def test_without_a_storage_nothing_is_removed_and_damage_is_told(
    home: Path, tmp_path: Path, settings: Settings
) -> None:
    settings.CUZKWEB_CACHE_BYTES = 1
    artefact = Artefact(sha256=hashlib.sha256(b"a key").hexdigest(), size=5)
    (tmp_path / "upload").write_bytes(b"a key")
    artefact_cache.keep(artefact, tmp_path / "upload")
    assert make_room(100) == 0
    assert content_of(artefact) == b"a key"

    artefact.path.write_bytes(b"a kez")

    with pytest.raises(DamagedArtefact, match="backup"), at_hand(artefact):
        pass
