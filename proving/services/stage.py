"""What every stage does around its work: hold the lease, tell bad input from bad luck, let go of both."""

import logging
import time
import traceback
from collections.abc import Callable
from enum import StrEnum
from typing import TypeVar

from django.db import DatabaseError
from redis.exceptions import RedisError

from kernels.device import Cancelled
from proving.services import conclude, live, tracing
from proving.services.at_work import at_work
from proving.services.pulse import Pulse
from proving.services.trouble import Trouble, forget_connection, trouble_of
from proving.tracker.outcomes import Refusal, Refused
from proving.tracker.records import Assignment

logger = logging.getLogger(__name__)

COMES_AGAIN = frozenset({Refusal.BUDGET_FULL, Refusal.WORKER_BUSY, Refusal.CONTENDED})

PAUSE_SECONDS = 0.2
"""A message that goes back to the head of its queue comes again at once: not faster than this."""

RESTS = (0.5, 1.0, 2.0, 4.0, 8.0, 15.0, 30.0)
"""Seconds for which a worker holds what it could not finish for want of disk, memory or database. A minute of
it costs no attempt; what lasts longer costs one at a time."""

Result = TypeVar("Result")


class Report(StrEnum):
    """How a message was dealt with."""

    DONE = "done"
    REFUSED = "refused"  # the tracker says there is nothing to do
    LATER = "later"  # the same message may find work later: put it back
    LET_GO = "let go"  # failed, cancelled or taken away; the tracker knows


class BadInput(Exception):  # noqa: N818 - the fact, as the caller of the job reads it
    """The partition's input cannot be proved, now or ever. `code` is for machines, the text for people."""

    def __init__(self, code: str, detail: str) -> None:
        super().__init__(detail)
        self.code = code


def under_lease(assignment: Assignment, work: Callable[[Pulse], Result]) -> Result | None:
    """Do the work of a stage while its lease is kept alive; None where it failed and was let go.

    Native code that the work calls from this thread stops in its middle once the pulse says stop.

    BadInput fails the partition at once; any other fault is tried again while attempts are left. A host that
    lacks something just now, room on its disk or memory, is given time first.
    """
    with at_work(assignment):
        return _under_lease(assignment, work)


def _under_lease(assignment: Assignment, work: Callable[[Pulse], Result]) -> Result | None:
    try:
        with Pulse(assignment) as pulse, pulse.flag.watched():
            return _patiently(pulse, work)
    except Cancelled:
        tracing.outcome("stopped")
        _let_go(assignment)
    except BadInput as fault:
        tracing.outcome(fault.code)
        logger.warning("job %s partition %d: %s", assignment.job, assignment.partition, fault.code)
        _give_up(assignment, str(fault), fault.code, retry=False)
    except Exception as fault:  # noqa: BLE001 - logged, though without its words
        tracing.outcome(type(fault).__name__)
        logger.error("job %s partition %d attempt %d: %s", *_place(assignment), _told(fault))
        _give_up(assignment, f"{type(fault).__name__} in the service", "fault", retry=True)
    return None


def _patiently(pulse: Pulse, work: Callable[[Pulse], Result]) -> Result:
    for pause in RESTS:
        try:
            return work(pulse)
        except Exception as fault:
            trouble = trouble_of(fault)
            if trouble is None:
                raise
            logger.warning("%s: tried again in %.1f s", trouble.words, pause)
            del fault
        if trouble is Trouble.DATABASE_AWAY:
            forget_connection()
        pulse.rest(pause)
    return work(pulse)


def refusal(answer: Refused, task: str, job_id: str, index: int, attempt: int) -> Report:
    """A claim that was refused: an outcome, and mostly one of a late or repeated message."""
    logger.info("%s of job %s partition %d attempt %d: %s", task, job_id, index, attempt, answer.reason)
    if answer.reason not in COMES_AGAIN:
        return Report.REFUSED
    time.sleep(PAUSE_SECONDS)
    return Report.LATER


def _give_up(assignment: Assignment, detail: str, code: str, *, retry: bool) -> None:
    answer = live.store().fail(assignment, detail, retry=retry)
    conclude.partition_let_go(assignment, answer, code)


def _let_go(assignment: Assignment) -> None:
    conclude.partition_let_go(assignment, live.store().release(assignment), conclude.RELEASED)


def _told(fault: Exception) -> str:
    """Where a fault happened. What it says is left out unless it comes from where no input ever goes: a text
    may quote what it could not read."""
    says = (
        str(fault) if isinstance(fault, DatabaseError | RedisError | OSError) else "(its words are withheld)"
    )
    frames = "".join(traceback.format_tb(fault.__traceback__))
    return f"{type(fault).__name__} {says}\n{frames}"


def _place(assignment: Assignment) -> tuple[str, int, int]:
    return assignment.job, assignment.partition, assignment.attempt
