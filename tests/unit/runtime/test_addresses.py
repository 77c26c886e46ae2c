"""Addresses of the embedded server, in everybody's spelling."""

from pathlib import Path

import pytest

from cuzkweb.addresses import (
    SOCKET_PATH_LIMIT,
    broker_url,
    embedded_redis_url,
    embedded_socket,
    private_folder,
)


def test_a_socket_lies_in_its_home_when_the_path_is_short() -> None:
    assert embedded_socket(Path("/srv/cuzk")) == Path("/srv/cuzk/run/valkey.sock")
    assert embedded_redis_url(Path("/srv/cuzk")) == "unix:///srv/cuzk/run/valkey.sock"


def test_a_deep_home_gets_a_short_path_of_its_own() -> None:
    deep = [Path("/srv") / ("x" * 120) / name for name in "ab"]

    found = [embedded_socket(home) for home in deep]

    assert found[0] != found[1]
    assert all(len(str(path)) <= SOCKET_PATH_LIMIT for path in found)
    assert found[0] == embedded_socket(deep[0])


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ("unix:///run/v.sock", "redis+socket:///run/v.sock?virtual_host=0"),
        ("unix:///run/v.sock?db=3", "redis+socket:///run/v.sock?virtual_host=3"),
        ("unix://me:secret@/run/v.sock?db=3", "redis+socket://me:secret@/run/v.sock?virtual_host=3"),
        ("redis://:secret@host:6379/1", "redis://:secret@host:6379/1"),
        ("rediss://host/0", "rediss://host/0"),
    ],
)
def test_kombu_spells_only_sockets_differently(given: str, wanted: str) -> None:
    assert broker_url(given) == wanted


def test_a_folder_that_others_may_read_is_closed(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    folder.mkdir(mode=0o755)

    assert private_folder(folder).stat().st_mode & 0o777 == 0o700


def test_a_link_in_place_of_a_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "run").symlink_to(tmp_path / "elsewhere")

    with pytest.raises(PermissionError):
        private_folder(tmp_path / "run")
