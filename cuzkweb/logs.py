"""Log records as lines of JSON, with the job, partition and attempt that a worker was at."""

from __future__ import annotations

import json
import logging
import sys
from datetime import UTC, datetime
from typing import Any

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
    """The task that this thread is at, by name, and its ids; empty outside of one."""
    celery = sys.modules.get("celery")
    task = getattr(celery, "current_task", None) if celery else None
    if not task or not getattr(task, "request", None) or not task.request.args:
        return {}
    return {"task": task.name, **dict(zip(PLACES, task.request.args, strict=False))}
