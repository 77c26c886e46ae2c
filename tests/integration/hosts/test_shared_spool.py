"""The spool in a storage that hosts share: the same promises as on one host's disk."""

import os
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest
from pytest_django import Settings

from kernels.device import ProverSums
from proving import spool, storage
from proving.services import health


@pytest.fixture(autouse=True)
def shared(tmp_path: Path, settings: Settings) -> Path:
    settings.CUZKWEB_HOME = tmp_path / "home"
    folder = tmp_path / "storage"
    options = {"location": str(folder), "allow_overwrite": True}
    settings.STORAGES = {
        **settings.STORAGES,
        "shared": {"BACKEND": "django.core.files.storage.FileSystemStorage", "OPTIONS": options},
    }
    return folder


def words(count: int) -> np.ndarray:
    return np.arange(4 * count, dtype=np.uint64).reshape(-1, 4)


def test_another_host_reads_what_one_host_wrote(settings: Settings, tmp_path: Path) -> None:
    spool.store_input("job", 0, b"{}")
    spool.store_witness_upload("job", 1, iter([b"wt", b"ns"]))
    spool.write_evaluations("job", 0, 1, spool.Evaluations(words(5), words(8), words(8)))
    spool.store_public("job", 0, 1, words(2))
    spool.store_sums("job", 0, 1, ProverSums(*[np.arange(8, dtype=np.uint64)] * 5))

    settings.CUZKWEB_HOME = tmp_path / "another host"

    assert spool.read_input("job", 0) == b"{}"
    with spool.witness_upload("job", 1) as path:
        assert path is not None
        assert path.read_bytes() == b"wtns"
    np.testing.assert_array_equal(spool.map_evaluations("job", 0, 1).a, words(8))
    np.testing.assert_array_equal(spool.read_public("job", 0, 1), words(2))
    np.testing.assert_array_equal(spool.read_sums("job", 0, 1).h, np.arange(8))


def test_no_host_keeps_a_copy_with_a_name(tmp_path: Path) -> None:
    spool.write_evaluations("job", 0, 1, spool.Evaluations(words(5), words(8), words(8)))

    found = spool.map_evaluations("job", 0, 1)

    assert [path for path in (tmp_path / "home").rglob("*") if path.is_file()] == []
    assert found.witness[4, 3] == 19


def test_nothing_is_left_of_a_job(shared: Path) -> None:
    for index in (1, 10):
        spool.store_input("job", index, b"{}")
        spool.store_public("job", index, 1, words(1))

    spool.clear_partition("job", 1, keep_input=True)
    assert sorted(storage.names("spool/job")) == ["1.input", "10.1.public", "10.input"]
    spool.clear_job("job", keep_inputs=True)
    assert sorted(storage.names("spool/job")) == ["1.input", "10.input"]
    spool.clear_job("job")

    assert [path for path in shared.rglob("*") if path.is_file()] == []


def test_what_is_not_there_is_not_found() -> None:
    with pytest.raises(FileNotFoundError):
        spool.read_input("job", 0)
    with spool.witness_upload("job", 0) as path:
        assert path is None
    assert spool.read_public("job", 0, 1) is None
    spool.clear_job("job")


def test_what_no_job_owns_is_swept_after_its_time(shared: Path) -> None:
    for name in ("orphan", "fresh", "running"):
        spool.store_input(name, 0, b"{}")
    old = datetime(2020, 1, 1, tzinfo=UTC).timestamp()
    for name in ("orphan", "running"):
        os.utime(shared / "spool" / name / "0.input", (old, old))

    assert spool.sweep(lambda names: {"running"} & set(names), 3600) == 1

    left = [name for name in storage.folders("spool") if storage.names(f"spool/{name}")]
    assert sorted(left) == ["fresh", "running"]


def test_a_storage_that_fails_says_so_without_its_words(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise RuntimeError("credentials of somebody")

    monkeypatch.setattr("django.core.files.storage.FileSystemStorage._save", refuse)

    with pytest.raises(storage.StorageAway, match=r"^the shared storage is away \(RuntimeError\)$"):
        spool.store_input("job", 0, b"{}")


def test_a_service_is_not_ready_without_its_storage(monkeypatch: pytest.MonkeyPatch) -> None:
    assert health._storage_answers() is True

    def refuse(*_: object) -> bool:
        raise RuntimeError

    monkeypatch.setattr("django.core.files.storage.FileSystemStorage.exists", refuse)

    assert health._storage_answers() is False
