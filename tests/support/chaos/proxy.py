"""A wire between the service and its server of live state, which the test can make slow or cut."""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

CHUNK = 1 << 16


class Wire:
    """Passes bytes on to `port` of loopback. `delay` is in seconds, for each chunk each way."""

    def __init__(self, port: int) -> None:
        self.delay = 0.0
        self.port = 0
        self._target = port
        self._loop = asyncio.new_event_loop()
        self._open: set[asyncio.StreamWriter] = set()
        self._ready = threading.Event()
        self._server: asyncio.Server | None = None
        self._thread = threading.Thread(target=self._run, daemon=True)

    def start(self) -> None:
        self._thread.start()
        self._ready.wait(10)

    def stop(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)

    def cut(self) -> None:
        """Drop every connection there is; new ones may come."""
        self._loop.call_soon_threadsafe(self._drop)

    def _drop(self) -> None:
        for writer in list(self._open):
            writer.transport.abort()

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._server = self._loop.run_until_complete(asyncio.start_server(self._connected, "127.0.0.1", 0))
        self.port = self._server.sockets[0].getsockname()[1]
        self._ready.set()
        self._loop.run_forever()
        self._drop()
        self._server.close()
        pending = asyncio.all_tasks(self._loop)
        for task in pending:
            task.cancel()
        with suppress(asyncio.CancelledError):
            self._loop.run_until_complete(asyncio.gather(*pending, return_exceptions=True))
        self._loop.close()

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            there, away = await asyncio.open_connection("127.0.0.1", self._target)
        except OSError:
            writer.transport.abort()
            return
        self._open |= {writer, away}
        try:
            await asyncio.gather(self._pass_on(reader, away), self._pass_on(there, writer))
        finally:
            self._open -= {writer, away}
            for end in (writer, away):
                end.transport.abort()

    async def _pass_on(self, source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            while chunk := await source.read(CHUNK):
                if self.delay:
                    await asyncio.sleep(self.delay)
                target.write(chunk)
                await target.drain()
        target.transport.abort()


@contextmanager
def wire_to(port: int) -> Iterator[Wire]:
    """A wire to a port of loopback."""
    wire = Wire(port)
    wire.start()
    try:
        yield wire
    finally:
        wire.stop()
