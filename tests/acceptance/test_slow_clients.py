"""A real web process against clients that hold on to it, and bodies larger than its memory may be."""

import http.client
import json
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import httpx
import pytest

from cuzkweb.supervisor.ports import listen
from tests.support.processes import wait_for
from tests.support.stack import make_credentials
from tests.support.valkey import die_with_parent

pytestmark = pytest.mark.acceptance

CLIENT_SECONDS = 4.0
"""Long enough that a sender who has to wait for a busy machine is not taken for a slow one."""
HEAD = b"POST /api/v1/jobs HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
MEBIBYTE = 1 << 20


class Web:
    """A web server alone: no workers, and nobody at the address of the live state."""

    def __init__(self, home: Path, port: int, process: subprocess.Popen[bytes]) -> None:
        self.home, self.port, self.process = home, port, process
        self.address = f"http://127.0.0.1:{port}"
        self.key = json.loads((home / "credentials.json").read_text())["api_key"]

    def connect(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), 10)

    def memory(self) -> int:
        """Bytes of its own that the process holds (what it maps of files is not its own)."""
        lines = Path(f"/proc/{self.process.pid}/status").read_text().splitlines()
        return next(int(line.split()[1]) << 10 for line in lines if line.startswith("RssAnon"))


@pytest.fixture(scope="module")
def web(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Web]:
    home = tmp_path_factory.mktemp("home")
    environment = {
        **os.environ,
        "CUZKWEB_HOME": str(home),
        "CUZKWEB_CLIENT_SECONDS": str(CLIENT_SECONDS),
        "REDIS_URL": f"unix://{home}/nobody.sock",
    }
    make_credentials(home, environment)
    with listen(0) as listener:
        listener.set_inheritable(True)
        argv = [sys.executable, "-m", "cuzkweb", "web", "--fd", str(listener.fileno())]
        with (home / "log.txt").open("wb") as log:
            process = subprocess.Popen(
                argv,
                env=environment,
                stdout=log,
                stderr=log,
                pass_fds=(listener.fileno(),),
                preexec_fn=die_with_parent,  # noqa: PLW1509
            )
        found = Web(home, listener.getsockname()[1], process)
        try:
            wait_for(lambda: answers(found), "the web answers", 90)
            yield found
        finally:
            process.terminate()
            process.wait(30)


def answers(web: Web) -> bool:
    assert web.process.poll() is None, (web.home / "log.txt").read_text()
    try:
        return httpx.get(f"{web.address}/healthz", timeout=2).status_code == 200
    except httpx.HTTPError:
        return False


def closed(connection: socket.socket) -> bool:
    """Whether the other side has closed it by now."""
    connection.setblocking(False)
    try:
        while connection.recv(1 << 16):
            pass
    except BlockingIOError:
        return False
    except ConnectionError:
        return True
    return True


def test_connections_that_never_finish_a_request_are_closed_and_hold_nobody_up(web: Web) -> None:
    slow = [web.connect() for _ in range(200)]
    try:
        for number, connection in enumerate(slow):
            connection.sendall(HEAD if number % 2 else b"")
        began = time.monotonic()
        assert answers(web), "while all of them hang on"

        def all_closed() -> bool:
            for connection in slow:
                try:
                    connection.send(b"X-a: b\r\n")  # a header a time, for ever
                except (BlockingIOError, ConnectionError):
                    continue
            return all(closed(connection) for connection in slow)

        wait_for(all_closed, "they are closed", 30)
        assert time.monotonic() - began < 30
    finally:
        for connection in slow:
            connection.close()


def test_a_body_that_does_not_come_is_answered_and_the_connection_closed(web: Web) -> None:
    with closing(web.connect()) as connection:
        connection.sendall(HEAD + b"Content-Length: 1000\r\n\r\n{")
        reply = http.client.HTTPResponse(connection)
        reply.begin()
        assert reply.status == 408
        assert json.loads(reply.read())["code"] == "too_slow"
        wait_for(lambda: closed(connection), "it is closed", 10)


def test_a_connection_is_used_again_in_time(web: Web) -> None:
    with httpx.Client(base_url=web.address) as client:
        assert [client.get("/healthz").status_code for _ in range(3)] == [200] * 3


def test_a_large_upload_is_never_in_memory(web: Web) -> None:
    size, piece = 160 * MEBIBYTE, os.urandom(MEBIBYTE)
    peak, over = [web.memory()], threading.Event()
    before = peak[0]

    def watch() -> None:
        while not over.wait(0.01):
            peak[0] = max(peak[0], web.memory())

    head = b'--x\r\nContent-Disposition: form-data; name="%s"%s\r\n\r\n'
    before_it = head % (b"name", b"") + b"large\r\n" + head % (b"proving_key", b'; filename="k"')
    after_it = b"\r\n--x--\r\n"

    def body() -> Iterator[bytes]:
        yield before_it
        for _ in range(size // MEBIBYTE):
            yield piece
        yield after_it

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        headers = {
            "Authorization": f"Bearer {web.key}",
            "Content-Type": "multipart/form-data; boundary=x",
            "Content-Length": str(len(before_it) + size + len(after_it)),
        }
        answer = httpx.post(f"{web.address}/api/v1/circuits", content=body(), headers=headers, timeout=120)
    finally:
        over.set()
        watcher.join()

    assert 400 <= answer.status_code < 500, answer.text
    assert [fault["code"] for fault in answer.json()["errors"]] == ["bad_proving_key"], answer.text
    assert peak[0] - before < 64 * MEBIBYTE
    uploads = web.home / "uploads"
    wait_for(lambda: not [path for path in uploads.rglob("*") if path.is_file()], "nothing of it is left", 10)
