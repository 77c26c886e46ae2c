"""Typed reading of environment variables. Every error names the variable and what was wanted."""

from __future__ import annotations

import os
import re
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote, urlencode, urlsplit

TRUE_WORDS = frozenset({"1", "true", "yes", "on"})
FALSE_WORDS = frozenset({"0", "false", "no", "off"})
LOOPBACK = frozenset({"localhost", "127.0.0.1", "[::1]", "::1"})

PATIENCE = {
    "connect_timeout": "10",
    "keepalives_idle": "10",
    "keepalives_interval": "5",
    "keepalives_count": "3",
    "tcp_user_timeout": "20000",
}
"""libpq's options: a host whose wire is cut hears of it after some seconds, not a quarter of an hour."""

SIZE_UNITS = {"": 1, "b": 1, "kib": 2**10, "mib": 2**20, "gib": 2**30, "kb": 10**3, "mb": 10**6, "gb": 10**9}
SIZE_PATTERN = re.compile(r"(\d+)\s*([a-z]*)", re.IGNORECASE)


class VariableError(ValueError):
    """A variable holds what its reader cannot take. The text never repeats a secret's value."""

    def __init__(self, name: str, wanted: str) -> None:
        super().__init__(f"environment variable {name}: {wanted}")


@dataclass(frozen=True, slots=True)
class Environment:
    """Reads typed values from a mapping of names to texts. An empty text counts as not set."""

    variables: Mapping[str, str]

    def text(self, name: str, default: str = "") -> str:
        return self.variables.get(name, "").strip() or default

    def boolean(self, name: str, *, default: bool) -> bool:
        word = self.text(name).lower()
        if not word:
            return default
        if word in TRUE_WORDS | FALSE_WORDS:
            return word in TRUE_WORDS
        raise VariableError(name, "wants 1 or 0 (or true, false, yes, no, on, off)")

    def integer(self, name: str, default: int, *, minimum: int = 0) -> int:
        text = self.text(name)
        if not text:
            return default
        if not re.fullmatch(r"[+-]?\d{1,18}", text) or int(text) < minimum:
            raise VariableError(name, f"wants an integer of at least {minimum}")
        return int(text)

    def seconds(self, name: str, default: float) -> float:
        text = self.text(name)
        if not text:
            return default
        if not re.fullmatch(r"\d{1,9}(\.\d{1,9})?", text) or float(text) <= 0:
            raise VariableError(name, "wants a positive number of seconds")
        return float(text)

    def size(self, name: str, default: int) -> int:
        """A number of bytes, plain or with a unit: 1048576, 512MiB, 4 GiB, 10GB."""
        text = self.text(name)
        if not text:
            return default
        match = SIZE_PATTERN.fullmatch(text)
        if not match or match[2].lower() not in SIZE_UNITS or len(match[1]) > 18:
            raise VariableError(name, "wants a number of bytes, such as 1048576 or 512MiB")
        return int(match[1]) * SIZE_UNITS[match[2].lower()]

    def names(self, name: str, default: tuple[str, ...] = ()) -> list[str]:
        """Texts divided by commas, blanks around them dropped."""
        text = self.text(name)
        return [part.strip() for part in text.split(",") if part.strip()] if text else list(default)

    def path(self, name: str, default: Path) -> Path:
        return Path(self.text(name) or default).expanduser().resolve()


def read_environment() -> Environment:
    """The environment of this process."""
    return Environment(os.environ)


def database_from_url(url: str, *, name: str = "DATABASE_URL") -> dict[str, Any]:
    """Django's settings for the database that a URL names: postgresql://... or sqlite:///absolute/path."""
    parts = urlsplit(url)
    if parts.scheme in {"postgres", "postgresql"}:
        return _postgresql(url, name)
    if parts.scheme == "sqlite" and not parts.netloc and parts.path.startswith("/") and len(parts.path) > 1:
        return sqlite_database(Path(unquote(parts.path)))
    raise VariableError(name, "wants postgresql://user:password@host/name or sqlite:////absolute/path")


def _postgresql(url: str, name: str) -> dict[str, Any]:
    parts = urlsplit(url)
    try:
        port = parts.port
    except ValueError:
        raise VariableError(name, "the port is not a number below 65536") from None
    database = unquote(parts.path.lstrip("/"))
    if not database:
        raise VariableError(name, "the name of the database is missing")
    return {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": database,
        "USER": unquote(parts.username or ""),
        "PASSWORD": unquote(parts.password or ""),
        "HOST": unquote(parts.hostname or ""),
        "PORT": str(port or ""),
        "CONN_MAX_AGE": 60,
        "CONN_HEALTH_CHECKS": True,
        "OPTIONS": {**PATIENCE, **dict(parse_qsl(parts.query))},
    }


def redis_from_url(url: str, *, name: str = "REDIS_URL") -> str:
    """The address of the server of messages and live state, checked, as redis-py spells it.

    redis:// and rediss:// (TLS) take a user, a password, a host, a port and a database; unix:// takes a path.
    With TLS the server's certificate is always checked: what the address leaves open is made `required`.
    """
    parts = urlsplit(url)
    query = dict(parse_qsl(parts.query))
    try:
        parts.port  # noqa: B018 - reading it is what checks it
    except ValueError:
        raise VariableError(name, "the port is not a number below 65536") from None
    if parts.scheme == "unix" and len(parts.path) > 1:
        return url
    if parts.scheme not in {"redis", "rediss"} or not parts.hostname:
        raise VariableError(name, "wants redis://, rediss:// or unix:///absolute/path")
    if not re.fullmatch(r"/?\d*", parts.path):
        raise VariableError(name, "the database is not a number")
    if parts.scheme == "redis":
        return url
    if query.get("ssl_cert_reqs", "required") not in {"required", "CERT_REQUIRED"}:
        raise VariableError(name, "with TLS the server's certificate is checked: ssl_cert_reqs=required")
    return parts._replace(query=urlencode({**query, "ssl_cert_reqs": "required"}, safe="/")).geturl()


def sqlite_database(path: Path) -> dict[str, Any]:
    """SQLite for many processes: write-ahead log, transactions that lock at their start, 20 s patience."""
    return {
        "ENGINE": "django.db.backends.sqlite3",
        "NAME": str(path),
        "OPTIONS": {
            "transaction_mode": "IMMEDIATE",
            "timeout": 20,
            "init_command": "PRAGMA journal_mode=WAL",
        },
    }


def secret_key(env: Environment, kept: Path, hosts: Sequence[str], *, shared: bool) -> str:
    """The service's secret: given, or, for a service that this host alone reaches, kept in a file.

    Raises VariableError where others reach the service by a name of `hosts`, or several hosts share a
    storage: there it has to be given, for the file is one host's and lies beside what it protects.
    """
    if given := env.text("CUZKWEB_SECRET_KEY"):
        return given
    if shared or not set(hosts) <= LOOPBACK:
        wanted = (
            "is required, the same on every host, where others reach the service or hosts share a storage"
        )
        raise VariableError("CUZKWEB_SECRET_KEY", wanted)
    return kept_secret(kept)


def kept_secret(path: Path) -> str:
    """The secret in a file that only its owner reads, drawn and written by whoever comes first."""
    try:
        return path.read_text(encoding="ascii").strip()
    except FileNotFoundError:
        pass
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    with os.fdopen(
        os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="ascii"
    ) as file:
        file.write(secrets.token_urlsafe(48))
        file.flush()
        os.fsync(file.fileno())
    try:
        path.hardlink_to(draft)
    except FileExistsError:
        pass
    finally:
        draft.unlink()
    return path.read_text(encoding="ascii").strip()
