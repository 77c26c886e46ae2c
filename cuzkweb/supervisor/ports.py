"""Ports on loopback that nobody else has."""

import socket
from contextlib import closing

LOOPBACK = "127.0.0.1"


def listen(preferred: int, *, insist: bool = False) -> socket.socket:
    """A listening socket on `preferred`, or on any free port where that one is taken.

    With `insist`, a port that is taken raises OSError. The socket may be handed to a child process.
    """
    try:
        return _bound(preferred)
    except OSError:
        if insist:
            raise
    return _bound(0)


def free_port(preferred: int) -> int:
    """`preferred` if it is free just now, else another port that is."""
    with closing(listen(preferred)) as found:
        port: int = found.getsockname()[1]
        return port


def _bound(port: int) -> socket.socket:
    found = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        found.bind((LOOPBACK, port))
        found.listen(256)
    except OSError:
        found.close()
        raise
    return found
