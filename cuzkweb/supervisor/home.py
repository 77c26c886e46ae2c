"""What lies in HOME/run: the lock of the one supervisor, and what others may know of it."""

import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from cuzkweb.addresses import private_folder


class AlreadyUp(Exception):  # noqa: N818 - the fact, as the person reads it
    """Another supervisor runs in this home."""


@dataclass(frozen=True, slots=True)
class Addresses:
    """Where a running service is found. Flower's login is "name:password"; both are None without Flower."""

    web: str
    redis_url: str
    flower: str | None = None
    flower_login: str | None = None


@contextmanager
def locked(home: Path) -> Iterator[None]:
    """Hold the home for this process. Raises AlreadyUp, with the other's process id, when it is held."""
    run = private_folder(home / "run")
    private_folder(run / "ready")
    descriptor = os.open(run / "up.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            other = os.pread(descriptor, 32, 0).decode() or "?"
            raise AlreadyUp(f"{home} is in use: a service with process id {other} runs there") from None
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, str(os.getpid()).encode(), 0)
        forget_state(home)
        yield
    finally:
        os.close(descriptor)


def write_state(home: Path, addresses: Addresses, processes: dict[str, int]) -> None:
    """Tell others what runs here (HOME/run/up.json, this user's alone)."""
    document = {"pid": os.getpid(), **asdict(addresses), "processes": processes}
    path = home / "run" / "up.json"
    draft = path.with_suffix(".draft")
    draft.touch(mode=0o600)
    draft.write_text(json.dumps(document, indent=1))
    draft.replace(path)


def read_state(home: Path) -> dict[str, Any] | None:
    """What `write_state` told, or None where nothing runs: a killed supervisor leaves its file behind."""
    if not _is_held(home):
        return None
    try:
        found: dict[str, Any] = json.loads((home / "run" / "up.json").read_text())
    except (FileNotFoundError, json.JSONDecodeError):
        return None
    return found


def _is_held(home: Path) -> bool:
    """Whether a supervisor holds the home."""
    try:
        with (home / "run" / "up.lock").open("rb") as lock:
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except FileNotFoundError:
        return False
    except BlockingIOError:
        return True
    return False


def forget_state(home: Path) -> None:
    """Nothing runs here any more."""
    (home / "run" / "up.json").unlink(missing_ok=True)
