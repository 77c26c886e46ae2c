"""HTTP connections as the web server holds them: those that ask for nothing are closed."""

from __future__ import annotations

import asyncio
import resource
from contextlib import suppress
from typing import Any, ClassVar

from uvicorn.protocols.http.h11_impl import H11Protocol

FILES_BESIDE = 512
"""Open files that a web process has besides its connections."""


class PatientProtocol(H11Protocol):
    """Closes a connection whose next request has not become whole after `seconds`, and those past `most`."""

    seconds: ClassVar[float] = 30.0
    most: ClassVar[int] = 4096
    _timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        if len(self.connections) > self.most:
            transport.abort()
            return
        self._expect_request()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._expect_request()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_timer()
        super().connection_lost(exc)

    def _expect_request(self) -> None:
        """Start the clock where no request is at work; bytes that trickle in do not set it back."""
        if self.cycle is not None and not self.cycle.response_complete:
            self._stop_timer()
        elif self._timer is None:
            self._timer = self.loop.call_later(self.seconds, self._give_up)

    def _give_up(self) -> None:
        self._timer = None
        if self.cycle is None or self.cycle.response_complete:
            self.transport.close()

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


def patient_protocol(seconds: float, most: int) -> type[PatientProtocol]:
    """The protocol with these bounds."""
    return type("Protocol", (PatientProtocol,), {"seconds": seconds, "most": most})


def allow_connections(most: int) -> None:
    """Let this process have that many open files, as far as the system lets it."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = most + FILES_BESIDE
    with suppress(ValueError, OSError):
        bound = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (bound, hard))
