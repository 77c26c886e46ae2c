"""Where the embedded server listens, and how each library spells that address. Standard library only."""

import hashlib
import os
import tempfile
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

SOCKET_PATH_LIMIT = 100
"""Bytes; the kernel allows 107, and valkey-server appends nothing. Some room is left for other systems."""


def embedded_socket(home: Path) -> Path:
    """The unix socket of the server that belongs to `home`.

    It lies in the home's own `run` folder. Where that path is too long for a socket, it lies in a folder of
    the temporary directory that is this user's alone (`private_folder`), under a name made from the home.
    """
    direct = home.absolute() / "run" / "valkey.sock"
    if len(os.fsencode(direct)) <= SOCKET_PATH_LIMIT:
        return direct
    digest = hashlib.sha256(os.fsencode(home.absolute())).hexdigest()[:16]
    return Path(tempfile.gettempdir()) / f"cuzkweb-{os.getuid()}" / f"{digest}.sock"


def embedded_redis_url(home: Path) -> str:
    """The address of `home`'s own server as redis-py spells it."""
    return f"unix://{embedded_socket(home)}"


def private_folder(path: Path) -> Path:
    """Make `path` if need be, closed to others. Raises PermissionError where it is somebody else's."""
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    found = path.lstat()
    if found.st_uid != os.getuid() or path.is_symlink():
        raise PermissionError(f"{path} belongs to somebody else")
    if found.st_mode & 0o077:
        path.chmod(0o700)
    return path


def broker_url(redis_url: str) -> str:
    """`redis_url` as kombu spells it: only a socket's address differs (`redis+socket:///path?virtual_host=0`)."""
    parts = urlsplit(redis_url)
    if parts.scheme != "unix":
        return redis_url
    database = parse_qs(parts.query).get("db", ["0"])[0]
    return f"redis+socket://{parts.netloc}{parts.path}?virtual_host={database}"
