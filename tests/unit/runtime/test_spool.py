"""The spool: whole files or none, private ones, and nothing left behind."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pytest_django import Settings

from kernels.device import ProverSums
from proving import spool


@pytest.fixture(autouse=True)
def home(tmp_path: Path, settings: Settings) -> Path:
    settings.CUZKWEB_HOME = tmp_path
    return tmp_path


def words(count: int, start: int = 0) -> np.ndarray:
    return np.arange(start, start + 4 * count, dtype=np.uint64).reshape(-1, 4)


def some_evaluations(start: int = 0) -> spool.Evaluations:
    return spool.Evaluations(words(5, start), words(8, start + 100), words(8, start + 200))


def test_inputs_come_back_as_they_went_in() -> None:
    spool.store_input("job", 3, b'{"a": 1}')

    assert spool.read_input("job", 3) == b'{"a": 1}'
    with pytest.raises(FileNotFoundError):
        spool.read_input("job", 4)


def test_uploads_are_written_chunk_by_chunk() -> None:
    with spool.witness_upload("job", 0) as absent:
        assert absent is None

    assert spool.store_witness_upload("job", 0, iter([b"wt", b"ns"])) == 4

    with spool.witness_upload("job", 0) as path:
        assert path is not None
        assert path.read_bytes() == b"wtns"


def test_evaluations_are_mapped_as_they_were_written() -> None:
    size = spool.write_evaluations("job", 0, 1, some_evaluations())

    found = spool.map_evaluations("job", 0, 1)

    assert size == spool.PAGE + 32 * (5 + 8 + 8)
    np.testing.assert_array_equal(found.witness, words(5))
    np.testing.assert_array_equal(found.a, words(8, 100))
    np.testing.assert_array_equal(found.b, words(8, 200))
    assert not found.a.flags.writeable


def test_evaluations_belong_to_one_attempt() -> None:
    for attempt in (1, 2, 10):
        spool.write_evaluations("job", 0, attempt, some_evaluations(attempt))

    assert spool.map_evaluations("job", 0, 2).witness[0, 0] == 2
    with pytest.raises(FileNotFoundError):
        spool.map_evaluations("job", 0, 9)


def test_an_attempt_that_begins_anew_drops_what_earlier_ones_left() -> None:
    points = ProverSums(*(np.arange(8, dtype=np.uint64) for _ in range(5)))
    for index in (1, 11):
        spool.store_input("job", index, b"{}")
        for attempt in (1, 2, 3):
            spool.write_evaluations("job", index, attempt, some_evaluations())
            spool.store_public("job", index, attempt, words(2))
            spool.store_sums("job", index, attempt, points)
    (spool.job_folder("job") / ".1.2.evaluations.77.part").write_bytes(b"half")

    spool.drop_earlier("job", 1, 3)

    left = {path.name for path in spool.job_folder("job").iterdir()}
    kinds = ("evaluations", "public", "sums")
    assert left == {
        *("1.input", "11.input"),
        *(f"1.3.{kind}" for kind in kinds),
        *(f"11.{attempt}.{kind}" for attempt in (1, 2, 3) for kind in kinds),
    }


def test_evaluations_that_are_not_whole_are_refused() -> None:
    spool.write_evaluations("job", 0, 1, some_evaluations())
    path = spool.job_folder("job") / "0.1.evaluations"
    path.write_bytes(path.read_bytes()[:-32])

    with pytest.raises(ValueError, match="not whole"):
        spool.map_evaluations("job", 0, 1)


def test_sums_belong_to_one_attempt() -> None:
    points = [np.arange(8, dtype=np.uint64) + step for step in range(5)]
    spool.store_sums("job", 0, 2, ProverSums(*points))

    found = spool.read_sums("job", 0, 2)

    for name, point in zip(("a", "b1", "b2", "c", "h"), points, strict=True):
        np.testing.assert_array_equal(getattr(found, name), point)
    with pytest.raises(FileNotFoundError):
        spool.read_sums("job", 0, 1)


def test_a_write_that_fails_leaves_nothing(home: Path) -> None:
    def broken() -> object:
        yield b"half"
        raise OSError("the disk is full")

    with pytest.raises(OSError, match="full"):
        spool.store_witness_upload("job", 0, broken())

    assert [path for path in (home / "spool").rglob("*") if path.is_file()] == []


def test_everything_is_its_owners_alone(home: Path) -> None:
    spool.store_input("job", 0, b"{}")
    spool.write_evaluations("job", 0, 1, some_evaluations())

    for path in [home / "spool", *(home / "spool").rglob("*")]:
        assert path.stat().st_mode & 0o077 == 0, path


def test_partitions_are_cleared_one_by_one() -> None:
    for index in (1, 10, 11):
        spool.store_input("job", index, b"{}")

    spool.clear_partition("job", 1)

    assert sorted(path.name for path in spool.job_folder("job").iterdir()) == ["10.input", "11.input"]
    spool.clear_job("job")
    assert not spool.job_folder("job").exists()


@given(st.lists(st.text(min_size=1, max_size=300), min_size=2, max_size=2, unique=True))
def test_any_text_is_a_jobs_id_and_stays_inside_the_spool(names: list[str]) -> None:
    folders = [spool.job_folder(name) for name in names]

    assert folders[0] != folders[1]
    for folder in folders:
        assert folder.parent == spool.root()
        assert folder.resolve().parent == spool.root().resolve()
        assert not folder.name.startswith(".")
        assert len(folder.name.encode()) < 256
