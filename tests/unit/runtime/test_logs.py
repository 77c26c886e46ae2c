"""Log records as JSON: one object a line, with the place that a worker was at."""

import json
import logging

from celery import Celery

from cuzkweb.logs import JsonLines
from proving.services.at_work import at_work
from proving.tracker.records import Assignment


def line(**extra: object) -> dict[str, object]:
    record = logging.makeLogRecord(
        {
            "name": "proving.x",
            "levelno": logging.WARNING,
            "levelname": "WARNING",
            "msg": "a\n%s",
            "args": ("b",),
        }
        | extra
    )
    text = JsonLines().format(record)
    assert "\n" not in text
    found: dict[str, object] = json.loads(text)
    return found


def test_a_record_is_one_object() -> None:
    told = line()
    assert (told["level"], told["logger"], told["message"]) == ("WARNING", "proving.x", "a\nb")
    assert str(told["time"]).endswith("+00:00")
    assert "job" not in told


def test_a_record_may_name_its_place() -> None:
    assert line(job="j", partition=0)["job"] == "j"


def test_an_exception_is_told_in_the_same_object() -> None:
    error = ValueError("no")
    told = line(exc_info=(ValueError, error, None))
    assert told["exception"] == "ValueError: no"


def test_inside_a_task_its_ids_are_told() -> None:
    app = Celery("test", set_as_current=False)
    seen: list[dict[str, object]] = []

    @app.task(name="example", shared=False)
    def prove(job: str, partition: int, attempt: int) -> None:
        seen.append(line())

    prove.apply(args=("ps-snap-1000-1-4711", 3, 2))
    place = {name: seen[0][name] for name in ("task", "job", "partition", "attempt")}
    assert place == {"task": "example", "job": "ps-snap-1000-1-4711", "partition": 3, "attempt": 2}


def test_inside_a_task_what_was_taken_is_told() -> None:
    """A message is a permit: the partition that a worker takes may be another than the one it names."""
    app = Celery("test", set_as_current=False)
    seen: list[dict[str, object]] = []

    @app.task(name="example", shared=False)
    def prove(job: str, partition: int, attempt: int) -> None:
        with at_work(Assignment("gpu0@host", "urgent", 7, 1, 99)):
            seen.append(line())

    prove.apply(args=("ps-snap-1000-1-4711", 3, 2))
    place = {name: seen[0][name] for name in ("task", "job", "partition", "attempt", "worker")}
    told = {"job": "urgent", "partition": 7, "attempt": 1, "worker": "gpu0@host"}
    assert place == {"task": "example", **told}
