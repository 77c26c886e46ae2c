"""What a row of the transition table asks before it applies, and why it refuses. Standard library only."""

from proving.tracker import effects
from proving.tracker import events as e
from proving.tracker.effects import View
from proving.tracker.outcomes import Refusal
from proving.tracker.records import Ending, JobRecord, JobState, PartitionRecord, Phase, WorkerRecord
from proving.tracker.rules import Condition, Guard


def ended_reason(state: JobState) -> Refusal:
    match state:
        case JobState.ASSEMBLING:
            return Refusal.ASSEMBLING
        case JobState.DONE:
            return Refusal.ALREADY_DONE
        case JobState.FAILED:
            return Refusal.FAILED
        case _:
            return Refusal.CANCELLED


TERMINAL_REASON = {
    Phase.DONE: Refusal.ALREADY_DONE,
    Phase.FAILED: Refusal.FAILED,
    Phase.CANCELLED: Refusal.CANCELLED,
}


def disowned(partition: PartitionRecord, act: e.Act) -> Refusal:
    """The reason for a caller whose assignment does not hold the partition."""
    if act.assignment.attempt < partition.attempt:
        return Refusal.SUPERSEDED
    if reason := TERMINAL_REASON.get(partition.phase):
        return reason
    phase = e.ACTED_PHASE.get(type(act))
    late = phase is not None and partition.phase.rank > phase.rank
    return Refusal.ALREADY_DONE if late else Refusal.NOT_OWNER


# guards of partitions


def _is_live(view: View, _: e.Claim, __: float) -> Refusal | None:
    return None if view.job.state is JobState.RUNNING else ended_reason(view.job.state)


def _same_attempt(view: View, claim: e.Claim, _: float) -> Refusal | None:
    if claim.attempt == view.partition.attempt:
        return None
    return Refusal.SUPERSEDED if claim.attempt < view.partition.attempt else Refusal.NOT_READY


def _unclaimed(view: View, _: object, __: float) -> Refusal | None:
    return None if view.partition.assignment is None else Refusal.TAKEN


def _fits(view: View, _: object, __: float) -> Refusal | None:
    return view.room.refuse(view.job.spec.host_bytes)


def _fits_device(view: View, _: object, __: float) -> Refusal | None:
    return view.room.refuse(view.job.spec.device_bytes)


def _owns(view: View, act: e.Act, _: float) -> Refusal | None:
    return None if view.partition.assignment == act.assignment else disowned(view.partition, act)


def _lease_ran_out(view: View, event: e.Lose, now: float) -> Refusal | None:
    if event.expires_at is None:
        return None
    same = view.partition.lease_expires_at == event.expires_at
    return None if same and event.expires_at <= now else Refusal.NOT_EXPIRED


LIVE = Guard("the job is running", _is_live)
SAME_ATTEMPT = Guard("the attempt is the present one", _same_attempt)
UNCLAIMED = Guard("nobody holds it", _unclaimed)
FITS = Guard("its bytes, and those of whoever waits before it, fit the host's budget", _fits)
FITS_DEVICE = Guard("its bytes, and those of whoever waits before it, fit the device's budget", _fits_device)
OWNS = Guard("the whole assignment is the one that holds it", _owns)
RAN_OUT = Guard("the lease that was read has run out", _lease_ran_out)

STOPPING = Condition("the job is being stopped", lambda view, _: view.job.state is not JobState.RUNNING)
ATTEMPTS_LEFT = Condition(
    "attempts are left", lambda view, _: view.partition.attempt < view.partition.max_attempts
)
MAY_COME_BACK = Condition(
    "attempts are left, or it was not handed back often yet",
    lambda view, _: effects.is_free(view) or view.partition.attempt < view.partition.max_attempts,
)
RETRY = Condition(
    "a retry is wanted and attempts are left",
    lambda view, fail: fail.retry and view.partition.attempt < view.partition.max_attempts,
)
RETRY_STOPPED = Condition(
    "a retry is wanted but the job is being stopped",
    lambda view, fail: fail.retry and view.job.state is not JobState.RUNNING,
)


# guards of jobs


def _all_done(job: JobRecord, _: object, __: float) -> Refusal | None:
    return None if job.remaining == 0 else Refusal.NOT_READY


def _may_stop(job: JobRecord, stop: e.Stop, now: float) -> Refusal | None:
    if stop.ending is not Ending.DEADLINE:
        return None
    if job.remaining == 0:
        return Refusal.ALREADY_DONE
    return None if job.spec.deadline is not None and job.spec.deadline <= now else Refusal.NOT_EXPIRED


def _assembly_ran_out(job: JobRecord, _: object, now: float) -> Refusal | None:
    ends = job.assembly_expires_at
    return None if ends is not None and ends <= now else Refusal.NOT_EXPIRED


ALL_DONE = Guard("every partition is done", _all_done)
MAY_STOP = Guard("a deadline stops it only once passed, and with a partition still to do", _may_stop)
ASSEMBLY_RAN_OUT = Guard("the assembly's lease has run out", _assembly_ran_out)
PROVED = Condition("outcome done", lambda _, event: event.outcome is JobState.DONE)
NOT_PROVED = Condition("outcome failed", lambda _, event: event.outcome is JobState.FAILED)
BEATEN_DEADLINE = Condition(
    "stopped by its deadline, yet every partition is done",
    lambda job, _: job.ending is Ending.DEADLINE and job.remaining == 0,
)
STOPPED_CANCELLED = Condition(
    "no partition is open, stopped by a caller",
    lambda job, _: job.open == 0 and job.ending is Ending.CANCELLED,
)
STOPPED_FAILED = Condition(
    "no partition is open, stopped by a failure or its deadline",
    lambda job, _: job.open == 0 and job.ending is not Ending.CANCELLED,
)
ENDED_FAILED = Condition(
    "no partition is open, some have failed", lambda job, _: job.open == 0 and job.failed > 0
)


# guards of workers


def _same_kind(worker: WorkerRecord, event: e.Occupy, _: float) -> Refusal | None:
    return None if worker.spec.kind is event.kind else Refusal.WRONG_KIND


def _holds_it(worker: WorkerRecord, event: e.Vacate, _: float) -> Refusal | None:
    return None if worker.assignment == event.assignment else Refusal.NOT_OWNER


SAME_KIND = Guard("this kind of worker does that", _same_kind)
HOLDS_IT = Guard("the slot holds this very assignment", _holds_it)
