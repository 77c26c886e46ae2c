"""The process that cells are forked from: it has everything loaded that they need, and nothing secret.

`python -m proving.synthesis.nursery FD` serves requests that come over the socket FD and ends when the
other side is gone. It is started afresh, not forked from a worker, so that no password, key or input of the
service is in its memory. One cell serves one request: what a hostile module could do to one is gone with it.
"""

from __future__ import annotations

import gc
import json
import os
import selectors
import signal
import socket
import sys
from dataclasses import dataclass

from proving.synthesis import confine
from proving.synthesis.cell import Request, work
from proving.synthesis.engine import runtime
from proving.synthesis.host import HELPERS, helper_module, prepared
from proving.synthesis.sandbox import Limits

FILES = 4
REQUEST_BYTES = 1 << 16
HEADROOM = 512 << 20
"""Bytes that a cell may take besides the generator's memories: engine, compiled code, inputs, witness."""


@dataclass(slots=True)
class Cell:
    """A cell at work: its process, and the socket to whoever asked."""

    process: int
    handle: int
    reply: socket.socket


class Nursery:
    """Forks cells for requests, ends those that nobody waits for any more, tells how each has ended."""

    def __init__(self, control: socket.socket) -> None:
        self.control = control
        self.selector = selectors.DefaultSelector()
        self.selector.register(control, selectors.EVENT_READ)

    def serve(self) -> None:
        """Until the other side is gone."""
        while True:
            for key, _ in self.selector.select():
                if key.fileobj is self.control:
                    if not self.take_request():
                        return
                elif key.fd == key.data.handle:
                    self.bury(key.data)
                elif key.fd in self.selector.get_map():
                    os.kill(key.data.process, signal.SIGKILL)
                    self.selector.unregister(key.data.reply)

    def take_request(self) -> bool:
        """Fork a cell for the next request. False where there will be none any more."""
        message, files, _, _ = socket.recv_fds(self.control, REQUEST_BYTES, FILES)
        if not message:
            return False
        asked = json.loads(message)
        limits = Limits(asked["memory_bytes"], asked["seconds"])
        request = Request(asked["task"], asked["file"], asked["curve"], limits, *files)
        parent, process = os.getpid(), os.fork()
        if not process:
            live(request, parent)
        for file in files[1:]:
            os.close(file)
        cell = Cell(process, os.pidfd_open(process), socket.socket(fileno=files[0]))
        self.selector.register(cell.handle, selectors.EVENT_READ, cell)
        self.selector.register(cell.reply, selectors.EVENT_READ, cell)
        return True

    def bury(self, cell: Cell) -> None:
        """Tell how a cell has ended."""
        _, status = os.waitpid(cell.process, 0)
        self.selector.unregister(cell.handle)
        os.close(cell.handle)
        if cell.reply in self.selector.get_map():
            self.selector.unregister(cell.reply)
        try:
            cell.reply.sendall(json.dumps({"ended": os.waitstatus_to_exitcode(status)}).encode() + b"\n")
        except OSError:
            pass
        finally:
            cell.reply.close()


def live(request: Request, parent: int) -> None:
    """Be a cell: put up the walls, work, end."""
    status = 1
    try:
        confine.die_with(parent)
        shut_all_but(request)
        confine.limit(
            request.limits.memory_bytes + HEADROOM,
            request.limits.memory_bytes,
            int(request.limits.seconds) + 10,
        )
        confine.confine_calls()
        work(request)
        status = 0
    finally:
        os._exit(status)


def shut_all_but(request: Request) -> None:
    """Close every file but those of the request."""
    kept = sorted({0, 1, 2, request.reply, request.module, request.given, request.result})
    for low, high in zip(kept, [*kept[1:], os.sysconf("SC_OPEN_MAX")], strict=True):
        os.closerange(low + 1, high)


def prepare_helpers() -> dict[str, bytes]:
    """The helper modules, compiled in a child: the compiler's threads would not survive a fork."""
    reader, writer = os.pipe()
    if not os.fork():
        os.close(reader)
        with os.fdopen(writer, "wb") as out:
            for name in HELPERS:
                code = bytes(helper_module(runtime().engine, name).serialize())
                out.write(len(code).to_bytes(8, "little") + code)
        os._exit(0)
    os.close(writer)
    found = {}
    with os.fdopen(reader, "rb") as told:
        for name in HELPERS:
            found[name] = told.read(int.from_bytes(told.read(8), "little"))
    os.wait()
    return found


def main() -> None:
    """Serve."""
    control = socket.socket(fileno=int(sys.argv[1]))
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    prepared.update(prepare_helpers())
    confine.leave_the_network()
    confine.become_nobody()
    gc.freeze()
    Nursery(control).serve()


if __name__ == "__main__":
    main()
