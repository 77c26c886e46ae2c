"""Uploads under ASGI, read as they arrive.

Django's handler keeps a whole body before it calls a view, and forgets it when the connection breaks. What
goes to an upload is handed to its view at once instead: whatever came before a break has been kept.
"""

from __future__ import annotations

import asyncio
import contextvars
import re
from collections.abc import Awaitable, Callable
from concurrent.futures import CancelledError
from typing import Any

from django.core.handlers.asgi import ASGIHandler

UPLOAD = re.compile(r"/api/v1/uploads/[^/]+")
IDLE_SECONDS = 60.0
"""How long a sender may send nothing before it is taken for gone."""

Receive = Callable[[], Awaitable[Any]]


class ArrivingBody:
    """The body of a request, for a view that reads it in a thread while the event loop receives it.

    It ends where the body ends, and where its sender has gone. Callable as what it receives from.
    """

    def __init__(self, receive: Receive) -> None:
        self._receive = receive
        self._loop = asyncio.get_running_loop()
        self._context = contextvars.copy_context()
        self._kept = b""
        self._more = True
        self.over = asyncio.Event()

    async def __call__(self) -> Any:
        """The next message after the body: that the sender has gone."""
        return await self._receive()

    def read(self, size: int = -1) -> bytes:
        """At most `size` bytes, or all of them; b"" at the end."""
        while self._more and (size < 0 or not self._kept):
            self._kept += self._next()
        end = len(self._kept) if size < 0 else size
        found, self._kept = self._kept[:end], self._kept[end:]
        return found

    def close(self) -> None:
        """Nothing is read any more."""
        self._more = False

    def _next(self) -> bytes:
        # Not in the reading thread's context: a server that resumes reading a connection in it keeps it for
        # every later request of that connection.
        context = self._context.copy()
        coming = context.run(asyncio.run_coroutine_threadsafe, self(), self._loop)
        try:
            message = coming.result(IDLE_SECONDS)
        except (TimeoutError, CancelledError):
            coming.cancel()
            self._more = False
            return b""
        if message["type"] != "http.request":
            self._more = False
            return b""
        if not message.get("more_body", False):
            self._more = False
            self._loop.call_soon_threadsafe(self.over.set)
        found: bytes = message.get("body", b"")
        return found


class Handler(ASGIHandler):
    """Django's handler, but for the bodies of uploads."""

    async def handle(self, scope: Any, receive: Any, send: Any) -> None:
        """One request."""
        if scope["method"] == "PATCH" and UPLOAD.fullmatch(scope["path"]):
            receive = ArrivingBody(receive)
        await super().handle(scope, receive, send)

    async def read_body(self, receive: Any) -> Any:
        """The body as a file: of an upload, the part of it that has not come yet included."""
        return receive if isinstance(receive, ArrivingBody) else await super().read_body(receive)

    async def listen_for_disconnect(self, receive: Any) -> None:
        """Waits until the sender has gone. One who goes in the middle of a body is told to nobody: what came
        of it is still being kept."""
        if isinstance(receive, ArrivingBody):
            await receive.over.wait()
        await super().listen_for_disconnect(receive)
