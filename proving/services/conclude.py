"""The ends of partitions and jobs: what the tracker decided is written down, files go, messages follow."""

import logging

from django.conf import settings

from proving import spool
from proving.choices import AttemptOutcome, PartitionState
from proving.choices import JobState as Ended
from proving.services import dispatch, live, record
from proving.tracker.outcomes import (
    Dropped,
    Exhausted,
    Expired,
    Failed,
    Reaped,
    ReapResult,
    Refused,
    Reopened,
    Retried,
    Settled,
    Stopped,
)
from proving.tracker.records import Assignment, JobState

logger = logging.getLogger(__name__)

LOST, RELEASED = "worker_lost", "released"


def conclude_if_ended(job_id: str, state: JobState) -> None:
    """Write down the end of a job that has ended, and delete its files; a job that has not is left alone.

    The tracker keeps an ended job for a while, so that the status shows how it ended; then it is retired.
    """
    if state.terminal:
        record.job_ended(job_id, Ended(state.value))
        spool.clear_job(job_id, keep_inputs=settings.CUZKWEB_KEEP_INPUTS_SECONDS > 0)


def partition_let_go(assignment: Assignment, answer: Retried | Failed | Stopped | Refused, code: str) -> None:
    """Follow up on what the tracker answered to `fail` or `release`."""
    job_id, index = assignment.job, assignment.partition
    match answer:
        case Retried(next_attempt, phase):
            state = PartitionState(phase.value)
            outcome = AttemptOutcome.RELEASED if code == RELEASED else AttemptOutcome.FAILED
            record.attempt_ended(job_id, index, next_attempt, state=state, outcome=outcome, error=code)
            dispatch.send_next(job_id, index, next_attempt, phase)
        case Failed(error, job_state):
            record.partition_failed(job_id, index, code, error)
            stop_siblings(job_id, job_state)
        case Stopped(job_state):
            conclude_if_ended(job_id, job_state)
        case Refused():
            logger.info("%s: nothing to give up, %s", assignment.token(), answer.reason)


def stop_siblings(job_id: str, job_state: JobState) -> None:
    """After a partition has failed: write down what that means for the job."""
    if job_state != JobState.RUNNING:
        record.job_failing(job_id)
    conclude_if_ended(job_id, job_state)


def follow_up(result: ReapResult) -> None:
    """Write down what was found lost or overdue, and send what has to be sent again."""
    logger.log(logging.INFO if isinstance(result, Settled) else logging.WARNING, "%s", result)
    match result:
        case Reaped(job_id, index, lost_in, phase, next_attempt, released):
            state = PartitionState(phase.value)
            outcome = AttemptOutcome.RELEASED if released else AttemptOutcome.LOST
            error = RELEASED if released else f"the worker was lost in {lost_in}"
            record.attempt_ended(job_id, index, next_attempt, state=state, outcome=outcome, error=error)
            dispatch.send_next(job_id, index, next_attempt, phase)
        case Exhausted(job_id, index, _, error, job_state):
            record.partition_failed(job_id, index, LOST, error)
            stop_siblings(job_id, job_state)
        case Dropped(job_id, _, _, job_state):
            conclude_if_ended(job_id, job_state)
        case Expired(job_id, job_state):
            record.job_failing(job_id, "deadline_passed", "the deadline passed before the job was done")
            conclude_if_ended(job_id, job_state)
        case Reopened(job_id):
            dispatch.send_assemble(job_id)
        case Settled(job_id, job_state, _):
            conclude_if_ended(job_id, job_state)
            live.store().retire_job(job_id)
