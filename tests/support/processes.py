"""Looking at processes from outside: whose they are, and waiting for what they do."""

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

Found = TypeVar("Found")


def processes_of(home: Path) -> list[int]:
    """The ids of this user's processes that were started with this home."""
    wanted = f"CUZKWEB_HOME={home}".encode()
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        try:
            if wanted in (entry / "environ").read_bytes().split(b"\0") and not is_zombie(entry):
                found.append(int(entry.name))
        except (FileNotFoundError, PermissionError, ProcessLookupError):
            continue
    return found


def is_zombie(entry: Path) -> bool:
    """Whether a process has ended and only waits to be noticed by its parent."""
    return (entry / "stat").read_text().rpartition(")")[2].split()[0] == "Z"


def children_of(pid: int) -> list[int]:
    """The ids of a process's own children."""
    return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def command_line(pid: int) -> str:
    """How a process was called, or nothing once it is gone."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
    except (FileNotFoundError, ProcessLookupError):
        return ""


def wait_for(condition: Callable[[], Found], what: str, seconds: float = 30.0) -> Found:
    """The first true answer of `condition`, asked again and again; AssertionError after `seconds`."""
    deadline = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < deadline, f"not within {seconds} s: {what}"
        time.sleep(0.02)
    return found
