"""Log records as lines of JSON, with the job, partition and attempt that a worker was at."""

from __future__ import annotations

import json
import logging
import sys
from datetime import UTC, datetime
from typing import Any

from proving.services.at_work import present

PLACES = ("job", "partition", "attempt")


class JsonLines(logging.Formatter):
    """One JSON object a record. Inside a task it names the task and what the task was about."""

    def format(self, record: logging.LogRecord) -> str:
        told: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            "process": record.process,
            "message": record.getMessage(),
            **present_task(),
        }
        told |= {name: getattr(record, name) for name in PLACES if hasattr(record, name)}
        if record.exc_info:
            told["exception"] = self.formatException(record.exc_info)
        return json.dumps(told, default=str, ensure_ascii=False)


def present_task() -> dict[str, Any]:
    """The task that this thread is at, by name, and what it works at; empty outside of one.

    A message names a partition; what is worked at, once something was taken, may be another one.
    """
    celery = sys.modules.get("celery")
    task = getattr(celery, "current_task", None) if celery else None
    if not task or not getattr(task, "request", None) or not task.request.args:
        return {}
    named = dict(zip(PLACES, task.request.args, strict=False))
    if at := present():
        named = {"job": at.job, "partition": at.partition, "attempt": at.attempt, "worker": at.worker}
    return {"task": task.name, **named}
