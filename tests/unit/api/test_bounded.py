"""Under ASGI a body that is too large is cut off, wherever its size shows."""

import json
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from asgiref.sync import async_to_sync
from pytest_django import Settings

from proving.api import bounded
from proving.api.bounded import BoundedBodies

Message = dict[str, Any]


class Django:
    """Stands in for Django: reads the whole body, then answers with its length."""

    def __init__(self) -> None:
        self.read: int | None = None

    async def __call__(self, scope: Message, receive: Callable[[], Awaitable[Message]], send: Any) -> None:
        size = 0
        while True:
            message = await receive()
            if message["type"] == "http.disconnect":
                return
            size += len(message["body"])
            if not message.get("more_body"):
                break
        self.read = size
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b""})


def post(django: Django, chunks: list[bytes], **headers: str) -> tuple[int, bytes, int]:
    """Status, body and how many chunks were taken of a request."""
    taken = 0
    sent: list[Message] = []

    async def receive() -> Message:
        nonlocal taken
        if taken == len(chunks):
            return {"type": "http.disconnect"}
        taken += 1
        return {"type": "http.request", "body": chunks[taken - 1], "more_body": taken < len(chunks)}

    async def send(message: Message) -> None:
        sent.append(message)

    pairs = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
    scope = {"type": "http", "path": "/api/v1/jobs", "headers": pairs}
    async_to_sync(BoundedBodies(django))(scope, receive, send)
    status = next(message["status"] for message in sent if message["type"] == "http.response.start")
    return status, b"".join(message.get("body", b"") for message in sent), taken


@pytest.fixture(autouse=True)
def limits(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.CUZKWEB_MAX_JSON_BYTES = 100
    settings.CUZKWEB_MAX_UPLOAD_BYTES = 1000
    monkeypatch.setattr(bounded, "STRANGER_LIMIT", 10)
    monkeypatch.setattr(bounded, "LINGER_LIMIT", 50)
    monkeypatch.setattr(bounded, "is_known", lambda headers: headers.get("authorization") == "Bearer good")


def test_small_bodies_pass_whoever_sends_them() -> None:
    django = Django()
    assert post(django, [b"12345", b"678"], content_length="8")[0] == 200
    assert django.read == 8


def test_an_announced_excess_is_refused_before_django_sees_it() -> None:
    django = Django()
    status, body, taken = post(django, [b"x" * 20] * 40, content_length="800", authorization="Bearer good")
    assert (status, json.loads(body)["code"], django.read) == (413, "too_large", None)
    assert taken <= 4


def test_an_excess_that_shows_on_the_way_is_cut_off() -> None:
    django = Django()
    status, body, taken = post(
        django, [b"x" * 20] * 40, transfer_encoding="chunked", authorization="Bearer good"
    )
    assert (status, json.loads(body)["code"], django.read) == (413, "too_large", None)
    assert taken <= 10


def test_uploads_have_a_limit_of_their_own() -> None:
    django = Django()
    multipart = {"content_type": "multipart/form-data; boundary=x", "authorization": "Bearer good"}
    assert post(django, [b"x" * 100] * 8, content_length="800", **multipart)[0] == 200
    assert post(django, [b"x" * 100] * 11, content_length="1100", **multipart)[0] == 413


@pytest.mark.parametrize("framing", [{"content_length": "50"}, {"transfer_encoding": "chunked"}])
def test_large_bodies_of_strangers_are_not_taken(framing: dict[str, str]) -> None:
    django = Django()
    status, body, _ = post(django, [b"x" * 10] * 5, authorization="Bearer wrong", **framing)
    assert (status, json.loads(body)["code"], django.read) == (401, "not_authenticated", None)
