"""`cuzkweb periodic`: the process that does what has to happen by itself."""

import argparse
import logging
import os
import signal
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from cuzkweb.ready import set_up_django

logger = logging.getLogger("cuzkweb.periodic")

TICK_SECONDS = 1.0


@dataclass(slots=True)
class Duty:
    """Something to do every so many seconds. One that fails is tried again when it is next due."""

    work: Callable[[], int]
    seconds: float
    due: float = 0.0

    def attend(self, now: float) -> None:
        """Do the work if it is due."""
        if now < self.due:
            return
        self.due = now + self.seconds
        try:
            self.work()
        except Exception:
            logger.exception("%s failed", self.work.__name__)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's own arguments."""
    parser.add_argument("--ready-file", type=Path, help=argparse.SUPPRESS)


def run(options: argparse.Namespace) -> int:
    """Do every duty when it is due, until a signal says stop."""
    set_up_django()
    from django.conf import settings
    from redis.exceptions import RedisError

    from proving.services import deliver, idempotency, live, retention, upkeep, uploads, webhooks

    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    lease: float = settings.CUZKWEB_LEASE_SECONDS
    duties = [
        Duty(upkeep.reap, min(TICK_SECONDS, lease / 3)),
        Duty(upkeep.resend, lease),
        Duty(upkeep.mend_jobs, lease),
        Duty(upkeep.sweep_spool, 60.0),
        Duty(retention.sweep_uploads, 60.0),
        Duty(uploads.forget_uploads, 60.0),
        Duty(retention.forget_jobs, 60.0),
        Duty(retention.forget_timelines, 60.0),
        Duty(retention.forget_sessions, 600.0),
        Duty(idempotency.forget_expired, 600.0),
        Duty(webhooks.forget_old, 3600.0),
    ]
    outward = threading.Thread(
        target=attend_all,
        args=([Duty(deliver.deliver_due, TICK_SECONDS)], TICK_SECONDS, stop),
        name="outward",
        daemon=True,
    )
    outward.start()  # receivers may be slow: what they hold up is each other, not the upkeep
    try:
        live.store().mark_started()
    except RedisError:
        logger.warning("the server of live state is away: uptime counts from when it is back")
    if options.ready_file:
        options.ready_file.write_text(str(os.getpid()))
    attend_all(duties, min(TICK_SECONDS, lease / 3), stop)
    outward.join(2.0)
    return 0


def attend_all(duties: list[Duty], pause: float, stop: threading.Event) -> None:
    """See to every duty that is due, again and again until `stop` is set.

    What became of this thread's connection is found out each time: a database that restarts is found again.
    """
    from django.db import close_old_connections

    while not stop.wait(pause):
        close_old_connections()
        for duty in duties:
            duty.attend(time.monotonic())
