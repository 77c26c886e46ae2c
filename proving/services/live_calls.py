"""Telling the live side what was committed. What it does not hear, the periodic process tells it later."""

from __future__ import annotations

import logging
from collections.abc import Callable

from django.db import transaction
from kombu.exceptions import OperationalError
from redis.exceptions import RedisError

log = logging.getLogger(__name__)


def tell_after_commit(job_id: str, tell: Callable[[], None]) -> None:
    """Call `tell` once the present transaction is committed; a live side that is away costs a warning."""

    def call() -> None:
        try:
            tell()
        except (RedisError, OperationalError) as error:
            log.warning("job %s: the live side is away and will be told later (%s)", job_id, error)

    transaction.on_commit(call, robust=True)
