"""The heartbeat of an assignment: a side thread that extends the lease while a stage works."""

import logging
import threading
import time
from types import TracebackType
from typing import Self

from django.conf import settings
from redis.exceptions import RedisError

from proving.services import live
from proving.tracker.outcomes import Beat, CancelRequested
from proving.tracker.records import Assignment

logger = logging.getLogger(__name__)

LONGEST_INTERVAL = 1.0
"""Seconds: a cancelled job is heard of this fast, however long the lease."""


_leaving = threading.Event()


def hand_back() -> None:
    """This process is told to stop: what it works on is handed back at the next chance, for others to do."""
    _leaving.set()


class Pulse:
    """Beats from entering to leaving. `stopped` turns true when the work is to stop."""

    def __init__(self, assignment: Assignment) -> None:
        self._assignment = assignment
        self._lease = settings.CUZKWEB_LEASE_SECONDS
        self._interval = min(self._lease / 3, LONGEST_INTERVAL)
        self._over = threading.Event()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._beat, name="pulse", daemon=True)

    def stopped(self) -> bool:
        """Whether to stop at the next chance: asked between native stages."""
        return self._stop.is_set() or _leaving.is_set()

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._over.set()
        self._thread.join()

    def _beat(self) -> None:
        last_heard = time.monotonic()
        while not self._over.wait(self._interval):
            try:
                answer = live.store().heartbeat(self._assignment)
            except RedisError:
                logger.warning("no heartbeat for %s: the server is away", self._assignment.token())
                if time.monotonic() - last_heard > self._lease:
                    self._stop.set()
                continue
            last_heard = time.monotonic()
            if isinstance(answer, Beat):
                continue
            self._stop.set()
            if not isinstance(answer, CancelRequested):
                logger.warning("%s is no longer ours: %s", self._assignment.token(), answer)
                return
