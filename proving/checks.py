"""System checks for settings that would be unsafe where others can reach the service."""

from __future__ import annotations

import stat
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.core.checks import CheckMessage, Error, Tags, Warning, register  # noqa: A004
from django.db import connection

LOOPBACK = frozenset({"localhost", "127.0.0.1", "[::1]", "::1"})


def reachable_from_outside() -> bool:
    """Whether the service answers to names other than this host's own."""
    return not set(settings.ALLOWED_HOSTS) <= LOOPBACK


@register(Tags.security)
def check_home(**_: Any) -> list[CheckMessage]:
    """The folder that holds inputs, keys and the database is closed to others."""
    home: Path = settings.CUZKWEB_HOME
    if home.exists() and stat.S_IMODE(home.stat().st_mode) & stat.S_IWOTH:
        return [Error(f"everyone may write to {home}", hint="chmod o-w", id="proving.E001")]
    return []


@register(Tags.security, deploy=True)
def check_secret_key(**_: Any) -> list[CheckMessage]:
    """Several hosts must share one secret key; one that was drawn on this host is this host's alone."""
    if settings.SECRET_KEY_GIVEN or not reachable_from_outside():
        return []
    hint = "set CUZKWEB_SECRET_KEY, the same on every host"
    return [Warning("the secret key is the one kept in CUZKWEB_HOME", hint=hint, id="proving.W001")]


@register(Tags.security, deploy=True)
def check_hosts(**_: Any) -> list[CheckMessage]:
    """Any host name at all lets others forge links."""
    if "*" in settings.ALLOWED_HOSTS:
        return [Error("CUZKWEB_ALLOWED_HOSTS is *", hint="name the hosts", id="proving.E002")]
    return []


@register(Tags.security, deploy=True)
def check_open_status(**_: Any) -> list[CheckMessage]:
    """Behind a proxy that hides itself every request seems to come from this host."""
    if settings.CUZKWEB_STATUS_OPEN_ON_LOOPBACK and reachable_from_outside():
        hint = "unset CUZKWEB_STATUS_OPEN_ON_LOOPBACK, or be sure that the proxy sends X-Forwarded-For"
        return [Warning("the status is open to requests from this host", hint=hint, id="proving.W002")]
    return []


@register(Tags.security, deploy=True)
def check_redis(**_: Any) -> list[CheckMessage]:
    """Whoever reaches the server of live state without a password may lie to the whole service."""
    address = urlsplit(settings.REDIS_URL)
    if address.scheme == "unix" or address.password:
        return []
    hint = "give the server a user with a password (docker/README.md has the line), and TLS between hosts"
    return [Warning("the server of live state asks for no password", hint=hint, id="proving.W004")]


@register(Tags.database, deploy=True)
def check_database(**_: Any) -> list[CheckMessage]:
    """SQLite serves one host."""
    if connection.vendor == "sqlite" and reachable_from_outside():
        hint = "set DATABASE_URL to a PostgreSQL database"
        return [Warning("the database is SQLite, which suits one host", hint=hint, id="proving.W003")]
    return []
