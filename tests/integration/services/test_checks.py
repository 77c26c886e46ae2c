"""System checks speak up where settings would be unsafe."""

from pathlib import Path
from types import SimpleNamespace

import pytest
from pytest_django import Settings

from proving import checks


@pytest.fixture
def outside(settings: Settings) -> Settings:
    settings.ALLOWED_HOSTS = ["prover.example"]
    return settings


def ids(found: list) -> list[str]:
    return [message.id for message in found]


def test_a_single_host_by_default_is_fine(settings: Settings) -> None:
    settings.ALLOWED_HOSTS = ["localhost", "127.0.0.1", "[::1]"]
    settings.CUZKWEB_STATUS_OPEN_ON_LOOPBACK = True
    for check in (
        checks.check_secret_key,
        checks.check_hosts,
        checks.check_open_status,
        checks.check_database,
    ):
        assert check() == []


def test_a_secret_key_of_this_host_alone_is_told(outside: Settings) -> None:
    outside.SECRET_KEY_GIVEN = False
    assert ids(checks.check_secret_key()) == ["proving.W001"]
    outside.SECRET_KEY_GIVEN = True
    assert checks.check_secret_key() == []


def test_any_host_name_is_an_error(settings: Settings) -> None:
    settings.ALLOWED_HOSTS = ["*"]
    assert ids(checks.check_hosts()) == ["proving.E002"]


def test_an_open_status_is_told(outside: Settings) -> None:
    outside.CUZKWEB_STATUS_OPEN_ON_LOOPBACK = True
    assert ids(checks.check_open_status()) == ["proving.W002"]


def test_a_sqlite_database_behind_a_name_is_told(outside: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checks, "connection", SimpleNamespace(vendor="sqlite"))
    assert ids(checks.check_database()) == ["proving.W003"]
    monkeypatch.setattr(checks, "connection", SimpleNamespace(vendor="postgresql"))
    assert checks.check_database() == []


def test_a_home_that_everyone_may_write_to_is_an_error(settings: Settings, tmp_path: Path) -> None:
    settings.CUZKWEB_HOME = tmp_path
    assert checks.check_home() == []
    tmp_path.chmod(0o777)
    assert ids(checks.check_home()) == ["proving.E001"]


def test_a_server_of_live_state_without_a_password_is_told(settings: Settings) -> None:
    settings.REDIS_URL = "redis://live.example/0"
    assert ids(checks.check_redis()) == ["proving.W004"]
    for address in ("rediss://:secret@live.example/0", "unix:///run/redis.sock"):
        settings.REDIS_URL = address
        assert checks.check_redis() == []
