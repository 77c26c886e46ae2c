"""Slow clients: who sends a body, or takes an answer, too slowly is let go, whatever it costs them."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from proving.api.problems import CONTENT_TYPE, problem

Message = Any
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Any, Receive, Send], Awaitable[None]]

LEAST_BYTES_A_SECOND = 1024
"""A body may come slower than this for as long as a client may be silent, and no longer."""


GONE = {"type": "http.disconnect"}


class TooSlow(Exception):  # noqa: N818 - the fact
    """A client does not take what is sent to it."""


@dataclass(slots=True)
class Pace:
    """How long one body was waited for, and what came of it."""

    seconds: float
    waited: float = 0.0
    received: int = 0
    complete: bool = False
    late: bool = False
    answered: bool = False

    def is_slow(self) -> bool:
        """Whether less came than has to."""
        return self.received < LEAST_BYTES_A_SECOND * (self.waited - self.seconds)


class Patience:
    """An ASGI application in front of another, with so many seconds of patience."""

    def __init__(self, application: Application, seconds: float) -> None:
        self.application = application
        self.seconds = seconds

    async def __call__(self, scope: Any, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.application(scope, receive, send)
            return
        pace = Pace(self.seconds)
        with suppress(TooSlow):
            await self.application(scope, self.waiting(receive, pace), self.sending(send, pace))
        if pace.late and not pace.answered:
            await answer_slow(send)

    def waiting(self, receive: Receive, pace: Pace) -> Receive:
        """A receive that waits for a body as long as it comes; then it is as if the sender had gone.

        The time that others take does not count.
        """

        async def receive_in_time() -> Message:
            if pace.complete:
                return await receive()
            began = time.monotonic()
            try:
                async with asyncio.timeout(self.seconds):
                    message = await receive()
            except TimeoutError:
                pace.late = pace.complete = True
                return GONE
            pace.waited += time.monotonic() - began
            pace.received += len(message.get("body", b""))
            pace.complete = message["type"] != "http.request" or not message.get("more_body", False)
            if not pace.complete and pace.is_slow():
                pace.late = pace.complete = True
                return GONE
            return message

        return receive_in_time

    def sending(self, send: Send, pace: Pace) -> Send:
        """A send that waits until what was sent has been taken, and not for ever."""

        async def send_in_time(message: Message) -> None:
            pace.answered = True
            try:
                async with asyncio.timeout(self.seconds):
                    await send(message)
            except TimeoutError:
                raise TooSlow from None

        return send_in_time


async def answer_slow(send: Send) -> None:
    """The answer to a body that does not come."""
    body = json.dumps(problem(408, "too_slow", "the body of the request comes too slowly")).encode()
    headers = [
        (b"content-type", CONTENT_TYPE.encode()),
        (b"content-length", str(len(body)).encode()),
        (b"connection", b"close"),
    ]
    await send({"type": "http.response.start", "status": 408, "headers": headers})
    await send({"type": "http.response.body", "body": body})
