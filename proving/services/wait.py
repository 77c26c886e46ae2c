"""Waiting for a job to end without holding anything but a thread."""

from __future__ import annotations

import time
from collections.abc import Callable

from proving.choices import TERMINAL_JOB_STATES
from proving.models import Job

FIRST_PAUSE = 0.1
LONGEST_PAUSE = 0.5
GROWTH = 1.5


def wait_for_end(
    job: Job,
    seconds: float,
    *,
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
) -> Job:
    """The job as it stands once it is terminal, or when `seconds` have passed."""
    limit = clock() + seconds
    pause = FIRST_PAUSE
    while job.state not in TERMINAL_JOB_STATES and (left := limit - clock()) > 0:
        sleep(min(pause, left))
        pause = min(pause * GROWTH, LONGEST_PAUSE)
        job.refresh_from_db()
    return job
