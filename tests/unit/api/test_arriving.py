"""A body that a thread reads while the event loop receives it."""

import asyncio
import contextvars
from typing import Any

from proving.api.arriving import ArrivingBody

PLACE: contextvars.ContextVar[str] = contextvars.ContextVar("place", default="server")


def test_the_server_receives_in_its_own_context_whoever_reads() -> None:
    """What a server hooks up to a connection while it receives stays with the connection."""
    places: list[str] = []

    async def receive() -> Any:
        places.append(PLACE.get())
        return {"type": "http.request", "body": b"x", "more_body": len(places) < 3}

    def read(body: ArrivingBody) -> bytes:
        PLACE.set("reader")
        return body.read()

    async def serve() -> bytes:
        return await asyncio.to_thread(read, ArrivingBody(receive))

    assert asyncio.run(serve()) == b"xxx"
    assert places == ["server"] * 3
