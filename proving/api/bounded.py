"""Bodies under ASGI: Django keeps all of one before a view runs, so size and sender are looked at before."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from asgiref.sync import sync_to_async
from django.conf import settings
from django.contrib.auth import get_user
from django.http import HttpRequest
from django.http.cookie import parse_cookie

from proving.api.authentication import CHALLENGE
from proving.api.limits import body_limit
from proving.api.problems import CONTENT_TYPE, problem
from proving.services.keys import find_key

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]

STRANGER_LIMIT = 1 << 20
"""Bytes of a body that are taken from a caller who is not known."""

LINGER_LIMIT = 1 << 20
"""Bytes of a refused body that are read and dropped, so that its sender comes to read the answer."""


@dataclass(slots=True)
class Count:
    """The bytes of one body that have come in, and whether they are too many."""

    limit: int
    received: int = 0
    exceeded: bool = False
    answered: bool = False


class BoundedBodies:
    """An ASGI application in front of which bodies that are too large are cut off with a 413."""

    def __init__(self, application: Application) -> None:
        self.application = application

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.application(scope, receive, send)
            return
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        limit = body_limit(headers.get("content-type", ""))
        refusal = too_large(limit)
        large = "transfer-encoding" in headers or announces_more_than(STRANGER_LIMIT, headers)
        if large and not await sync_to_async(is_known)(headers):
            limit, refusal = STRANGER_LIMIT, unknown_caller()
        if announces_more_than(limit, headers):
            await refuse(refusal, receive, send)
            return
        count = Count(limit)
        await self.application(scope, counting(receive, count), noticing(send, count))
        if count.exceeded and not count.answered:
            await refuse(refusal, receive, send)


def announces_more_than(limit: int, headers: dict[str, str]) -> bool:
    """Whether a body of more than `limit` bytes is announced."""
    length = headers.get("content-length", "")
    return length.isdecimal() and int(length) > limit


def too_large(limit: int) -> dict[str, Any]:
    """The problem of a body past its limit."""
    return problem(413, "too_large", f"such a body may have at most {limit} bytes")


def unknown_caller() -> dict[str, Any]:
    """The problem of a large body from nobody that is known."""
    return problem(
        401, "not_authenticated", f"a body of more than {STRANGER_LIMIT} bytes wants a known API key"
    )


def counting(receive: Receive, count: Count) -> Receive:
    """A receive that ends the request, as if its sender had gone, once the body is too large."""

    async def receive_counted() -> Message:
        message = await receive()
        count.received += len(message.get("body", b""))
        if count.received > count.limit:
            count.exceeded = True
            return {"type": "http.disconnect"}
        return message

    return receive_counted


def noticing(send: Send, count: Count) -> Send:
    """A send that remembers whether the application has answered."""

    async def send_noticed(message: Message) -> None:
        count.answered = True
        await send(message)

    return send_noticed


def is_known(headers: dict[str, str]) -> bool:
    """Whether an API key or a staff member's session comes with the request."""
    scheme, _, plain = headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer" and find_key(plain.strip()) is not None:
        return True
    cookie = parse_cookie(headers.get("cookie", "")).get(settings.SESSION_COOKIE_NAME)
    if not cookie:
        return False
    request = HttpRequest()
    request.session = import_module(settings.SESSION_ENGINE).SessionStore(cookie)
    return bool(get_user(request).is_staff)


async def refuse(answer: dict[str, Any], receive: Receive, send: Send) -> None:
    """Answer with a problem; what the sender has under way is dropped up to a bound."""
    body = json.dumps(answer).encode()
    headers = [
        (b"content-type", CONTENT_TYPE.encode()),
        (b"content-length", str(len(body)).encode()),
        (b"connection", b"close"),
    ]
    if answer["status"] == 401:
        headers.append((b"www-authenticate", CHALLENGE.encode()))
    await send({"type": "http.response.start", "status": answer["status"], "headers": headers})
    await send({"type": "http.response.body", "body": body, "more_body": True})
    dropped = 0
    while dropped < LINGER_LIMIT:
        message = await receive()
        dropped += len(message.get("body", b""))
        if message["type"] == "http.disconnect" or not message.get("more_body"):
            break
    await send({"type": "http.response.body", "body": b""})
