"""The heartbeat of an assignment: a side thread that extends the lease while a stage works."""

import logging
import threading
import time
from types import TracebackType
from typing import Self

from django.conf import settings
from redis.exceptions import RedisError

from kernels.flag import Flag
from kernels.library import Cancelled
from proving.services import ear, live
from proving.tracker.outcomes import Beat, CancelRequested
from proving.tracker.records import Assignment

logger = logging.getLogger(__name__)

LONGEST_INTERVAL = 1.0
"""Seconds: a cancelled job is heard of this fast, however long the lease, even if nobody calls out."""

REST_STEP_SECONDS = 0.05

_leaving = threading.Event()


def hand_back() -> None:
    """This process is told to stop: what it works on is handed back at the next chance, for others to do."""
    _leaving.set()
    ear.call_all()


class Pulse:
    """Beats from entering to leaving. `stopped` turns true when the work is to stop.

    `flag` goes up at the same time: native code that watches it stops in the middle of its work.
    """

    def __init__(self, assignment: Assignment) -> None:
        self._assignment = assignment
        self._lease = settings.CUZKWEB_LEASE_SECONDS
        self._interval = min(self._lease / 3, LONGEST_INTERVAL)
        self._over = False
        self._called = threading.Event()
        self._thread = threading.Thread(target=self._beat, name="pulse", daemon=True)
        self.flag = Flag()

    def stopped(self) -> bool:
        """Whether to stop at the next chance: asked between native stages."""
        return self.flag() or _leaving.is_set()

    def rest(self, seconds: float) -> None:
        """Wait while the lease is kept alive. Raises Cancelled as soon as the work is to stop."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            if self.stopped():
                raise Cancelled
            time.sleep(REST_STEP_SECONDS)

    def __enter__(self) -> Self:
        ear.listen(self._assignment.job, self._called)
        self._thread.start()
        if _leaving.is_set():
            self.flag.up()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        ear.stop_listening(self._called)
        self._over = True
        self._called.set()
        self._thread.join()

    def _beat(self) -> None:
        last_heard = time.monotonic()
        while True:
            self._called.wait(self._interval)
            self._called.clear()
            if self._over:
                return
            if _leaving.is_set():
                self.flag.up()
            try:
                answer = live.store().heartbeat(self._assignment)
            except RedisError:
                logger.warning("no heartbeat for %s: the server is away", self._assignment.token())
                if time.monotonic() - last_heard > self._lease:
                    self.flag.up()
                continue
            last_heard = time.monotonic()
            if isinstance(answer, Beat):
                continue
            self.flag.up()
            if not isinstance(answer, CancelRequested):
                logger.warning("%s is no longer ours: %s", self._assignment.token(), answer)
                return
