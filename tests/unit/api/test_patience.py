"""Clients that send or take too slowly are let go."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any

from proving.api import patience
from proving.api.patience import Patience

SCOPE = {"type": "http", "headers": []}
SECONDS = 0.05


async def never() -> None:
    await asyncio.Event().wait()


def run(application: Callable[..., Awaitable[None]], receive: Any, send: Any = None) -> list[dict[str, Any]]:
    """What was sent while the application served one request."""
    sent: list[dict[str, Any]] = []

    async def keep(message: dict[str, Any]) -> None:
        sent.append(message)
        if send is not None:
            await send(message)

    asyncio.run(asyncio.wait_for(Patience(application, SECONDS)(SCOPE, receive, keep), 20))
    return sent


async def reading(_scope: Any, receive: Any, send: Any) -> None:
    """Reads a body and says how long it was; of one that breaks off it says nothing."""
    size, more = 0, True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            return
        size += len(message.get("body", b""))
        more = message.get("more_body", False)
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": str(size).encode()})


def test_a_body_that_comes_is_waited_for() -> None:
    pieces = iter([b"x" * 4096] * 3)

    async def receive() -> dict[str, Any]:
        await asyncio.sleep(0)
        piece = next(pieces)
        return {"type": "http.request", "body": piece, "more_body": pieces.__length_hint__() > 0}

    assert run(reading, receive)[-1]["body"] == b"12288"


def test_a_sender_that_falls_silent_is_told_so() -> None:
    first = [{"type": "http.request", "body": b"x", "more_body": True}]

    async def receive() -> dict[str, Any]:
        if not first:
            await never()
        return first.pop()

    start, body = run(reading, receive)

    assert start["status"] == 408
    assert (b"connection", b"close") in start["headers"]
    assert json.loads(body["body"])["code"] == "too_slow"


def test_a_trickle_is_not_enough(monkeypatch: Any) -> None:
    """Each byte comes in time, and all of them take too long: a second goes by for each."""
    now = iter(range(10_000))
    monkeypatch.setattr(patience.time, "monotonic", lambda: float(next(now)))
    received = []

    async def receive() -> dict[str, Any]:
        received.append(1)
        return {"type": "http.request", "body": b"x", "more_body": True}

    assert run(reading, receive)[0]["status"] == 408
    assert len(received) < 5


def test_the_services_own_time_does_not_count() -> None:
    async def slow(scope: Any, receive: Any, send: Any) -> None:
        await asyncio.sleep(3 * SECONDS)
        await reading(scope, receive, send)

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b"x", "more_body": False}

    assert run(slow, receive)[0]["status"] == 200


def test_waiting_for_the_end_of_a_stream_is_not_bounded() -> None:
    messages = iter([{"type": "http.request", "body": b"", "more_body": False}])

    async def streaming(_scope: Any, receive: Any, send: Any) -> None:
        await receive()
        await receive()
        await send({"type": "http.response.start", "status": 200, "headers": []})

    async def receive() -> dict[str, Any]:
        for message in messages:
            return message
        await asyncio.sleep(3 * SECONDS)
        return {"type": "http.disconnect"}

    assert run(streaming, receive)[0]["status"] == 200


def test_who_does_not_take_the_answer_is_let_go() -> None:
    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def stuck(message: dict[str, Any]) -> None:
        if message["type"] == "http.response.body":
            await never()

    sent = run(reading, receive, stuck)

    assert [message["type"] for message in sent] == ["http.response.start", "http.response.body"]
