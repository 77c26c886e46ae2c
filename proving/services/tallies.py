"""What has happened since the deployment began: attempts by outcome, seconds by stage.

Kept for Prometheus in the server of live state, under keys of its own. A count that is lost costs a graph
a step and nothing more.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.conf import settings
from redis.exceptions import RedisError

from proving.services import live

log = logging.getLogger(__name__)

BUCKETS = (0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0, 900.0)
STAGES = {
    "queued": ("queued_at", "synthesis_started_at"),
    "synthesis": ("synthesis_started_at", "synthesis_ended_at"),
    "waiting": ("synthesis_ended_at", "device_started_at"),
    "device": ("device_started_at", "device_ended_at"),
    "finalizing": ("finalize_started_at", "finalize_ended_at"),
}
"""The stages of an attempt, each between two of its times."""


@dataclass(frozen=True, slots=True)
class Histogram:
    """Observations of one stage: `counts` by upper bound, not cumulative; the last one has no bound."""

    counts: tuple[int, ...]
    seconds: float


@dataclass(frozen=True, slots=True)
class Tallies:
    """All counts as they are now."""

    attempts: Mapping[str, int] = field(default_factory=dict)
    stages: Mapping[str, Histogram] = field(default_factory=dict)


def count_attempt(outcome: str, times: Mapping[str, datetime | None]) -> None:
    """Count an attempt that has ended, and how long each stage took that it went through."""
    try:
        with live.redis().pipeline(transaction=False) as pipe:
            pipe.hincrby(_key("attempts"), outcome, 1)
            for stage, (begin, end) in STAGES.items():
                began, ended = times.get(begin), times.get(end)
                if began is not None and ended is not None and ended >= began:
                    seconds = (ended - began).total_seconds()
                    pipe.hincrby(_key("stages"), f"{stage}:{_bucket(seconds)}", 1)
                    pipe.hincrbyfloat(_key("stages"), f"{stage}:seconds", seconds)
            pipe.execute()
    except RedisError as error:
        log.info("an attempt was not counted: %s", error)


def read_tallies() -> Tallies:
    """All counts. RedisError when their server is away."""
    with live.redis().pipeline(transaction=False) as pipe:
        pipe.hgetall(_key("attempts"))
        pipe.hgetall(_key("stages"))
        attempts, stages = pipe.execute()
    return Tallies(
        {name.decode(): int(count) for name, count in attempts.items()},
        {stage: _histogram(stage, stages) for stage in STAGES},
    )


def _histogram(stage: str, flat: Mapping[bytes, Any]) -> Histogram:
    def number(name: str | int) -> float:
        return float(flat.get(f"{stage}:{name}".encode(), 0))

    counts = tuple(int(number(bucket)) for bucket in range(len(BUCKETS) + 1))
    return Histogram(counts, number("seconds"))


def _bucket(seconds: float) -> int:
    return next((index for index, bound in enumerate(BUCKETS) if seconds <= bound), len(BUCKETS))


def _key(name: str) -> str:
    return f"{{cuzk:{settings.CUZKWEB_DEPLOYMENT}}}:tallies:{name}"
