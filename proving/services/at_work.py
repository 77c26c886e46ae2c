"""What this thread works at, for logs: a message names one partition, what is taken is the first in line."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from proving.tracker.records import Assignment

_present: ContextVar[Assignment | None] = ContextVar("at_work", default=None)


def present() -> Assignment | None:
    """The assignment under which this thread works, if it does."""
    return _present.get()


@contextmanager
def at_work(assignment: Assignment) -> Iterator[None]:
    """Work under an assignment."""
    token = _present.set(assignment)
    try:
        yield
    finally:
        _present.reset(token)
