"""The logins of a home that one person runs for themselves: made once, kept in a file that only they read."""

import json
import os
import secrets
from dataclasses import asdict, dataclass
from pathlib import Path

ADMINISTRATOR = "admin"


@dataclass(frozen=True, slots=True)
class Credentials:
    """The administrator's login and an API key of theirs."""

    user: str
    password: str
    api_key: str


def ensure_credentials(home: Path) -> Credentials:
    """The home's credentials: those that are kept, while the key is good, else fresh ones.

    The database must be there; `migrate` sees to that.
    """
    from proving.services.keys import create_key, ensure_superuser, find_key  # noqa: PLC0415 - needs Django set up

    path = home / "credentials.json"
    kept = _read(path)
    key = find_key(kept.api_key) if kept else None
    if kept and key and "admin" in key.scopes:
        return kept
    password = secrets.token_urlsafe(12)
    owner = ensure_superuser(ADMINISTRATOR, password)
    _, api_key = create_key(owner, "made at the first start", ("read", "submit", "admin"))
    fresh = Credentials(ADMINISTRATOR, password, api_key)
    _write(path, fresh)
    return fresh


def _read(path: Path) -> Credentials | None:
    try:
        return Credentials(**json.loads(path.read_text()))
    except (FileNotFoundError, json.JSONDecodeError, TypeError):
        return None


def _write(path: Path, credentials: Credentials) -> None:
    draft = path.with_suffix(".draft")
    draft.unlink(missing_ok=True)
    with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        json.dump(asdict(credentials), file, indent=1)
    draft.replace(path)
