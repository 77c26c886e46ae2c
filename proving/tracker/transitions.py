"""The one transition table: what may happen to a partition, a job and a worker, and what never may.

The store, the tests and docs/states.md all use these tables. No I/O; standard library only.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from proving.tracker import effects
from proving.tracker import events as e
from proving.tracker import guards as g
from proving.tracker.budget import Room
from proving.tracker.effects import View
from proving.tracker.outcomes import Refusal
from proving.tracker.records import (
    Ending,
    JobRecord,
    JobState,
    OnFailure,
    PartitionRecord,
    Phase,
    Spell,
    WorkerRecord,
    WorkerState,
)
from proving.tracker.rules import Rule, choose

__all__ = [
    "JOB_TABLE",
    "PARTITION_TABLE",
    "WORKER_TABLE",
    "Change",
    "Refusal",
    "Room",
    "View",
    "cancel_waiting",
    "stop_job",
    "transition",
    "transition_job",
    "transition_worker",
]


_CLAIM = (g.LIVE, g.SAME_ATTEMPT, g.UNCLAIMED)
_WAITS_AGAIN = {
    Phase.SYNTHESIZING: Phase.PENDING,
    Phase.GPU: Phase.SYNTH_DONE,
    Phase.FINALIZING: Phase.FINALIZING,
}
_PROVED_AGAIN = {**_WAITS_AGAIN, Phase.FINALIZING: Phase.PENDING}


def _while_held(phase: Phase) -> tuple[Rule, ...]:
    """What may befall a partition in any phase in which somebody holds it."""
    lost = (g.OWNS, g.RAN_OUT)
    return (
        Rule(phase, e.Heartbeat, phase, effects.beat, (g.OWNS,)),
        Rule(phase, e.Fail, Phase.CANCELLED, effects.stop, (g.OWNS,), g.RETRY_STOPPED),
        Rule(phase, e.Fail, _PROVED_AGAIN[phase], effects.again, (g.OWNS,), g.RETRY),
        Rule(phase, e.Fail, Phase.FAILED, effects.fail, (g.OWNS,)),
        Rule(phase, e.Release, Phase.CANCELLED, effects.stop, (g.OWNS,), g.STOPPING),
        Rule(phase, e.Release, _WAITS_AGAIN[phase], effects.again, (g.OWNS,), g.MAY_COME_BACK),
        Rule(phase, e.Release, Phase.FAILED, effects.exhaust, (g.OWNS,)),
        Rule(phase, e.Lose, Phase.CANCELLED, effects.stop, lost, g.STOPPING),
        Rule(phase, e.Lose, _WAITS_AGAIN[phase], effects.again, lost, g.ATTEMPTS_LEFT),
        Rule(phase, e.Lose, Phase.FAILED, effects.exhaust, lost),
    )


def _while_waiting(phase: Phase) -> tuple[Rule, ...]:
    return (
        Rule(phase, e.Cancel, Phase.CANCELLED, effects.stop, (g.UNCLAIMED,)),
        Rule(phase, e.Reject, Phase.FAILED, effects.reject, (g.UNCLAIMED,)),
    )


PARTITION_TABLE: tuple[Rule, ...] = (
    Rule(Phase.PENDING, e.ClaimSynthesis, Phase.SYNTHESIZING, effects.begin, (*_CLAIM, g.FITS)),
    *_while_waiting(Phase.PENDING),
    Rule(Phase.SYNTHESIZING, e.EndSynthesis, Phase.CANCELLED, effects.stop, (g.OWNS,), g.STOPPING),
    Rule(Phase.SYNTHESIZING, e.EndSynthesis, Phase.SYNTH_DONE, effects.end_synthesis, (g.OWNS,)),
    *_while_held(Phase.SYNTHESIZING),
    Rule(Phase.SYNTH_DONE, e.ClaimDevice, Phase.GPU, effects.begin, (*_CLAIM, g.FITS_DEVICE)),
    *_while_waiting(Phase.SYNTH_DONE),
    Rule(Phase.GPU, e.HandOff, Phase.CANCELLED, effects.stop, (g.OWNS,), g.STOPPING),
    Rule(Phase.GPU, e.HandOff, Phase.FINALIZING, effects.hand_off, (g.OWNS,)),
    *_while_held(Phase.GPU),
    Rule(Phase.FINALIZING, e.ClaimFinalize, Phase.FINALIZING, effects.begin, _CLAIM),
    Rule(Phase.FINALIZING, e.Finish, Phase.DONE, effects.finish, (g.OWNS,)),
    *_while_held(Phase.FINALIZING),
    *_while_waiting(Phase.FINALIZING),
)


# jobs


JOB_TABLE: tuple[Rule, ...] = (
    Rule(JobState.RUNNING, e.Assemble, JobState.ASSEMBLING, effects.begin_assembly, (g.ALL_DONE,)),
    Rule(JobState.RUNNING, e.Stop, JobState.CANCELLING, effects.stop_job, (g.MAY_STOP,)),
    Rule(JobState.RUNNING, e.Reprioritize, JobState.RUNNING, effects.reprioritize_job),
    Rule(JobState.RUNNING, e.Settle, JobState.FAILED, effects.end_job_failed, (), g.ENDED_FAILED),
    Rule(JobState.ASSEMBLING, e.Complete, JobState.DONE, effects.complete_job, (), g.PROVED),
    Rule(JobState.ASSEMBLING, e.Complete, JobState.FAILED, effects.complete_job, (), g.NOT_PROVED),
    Rule(JobState.ASSEMBLING, e.LoseAssembly, JobState.RUNNING, effects.lose_assembly, (g.ASSEMBLY_RAN_OUT,)),
    Rule(JobState.CANCELLING, e.Settle, JobState.RUNNING, effects.reprieve_job, (), g.BEATEN_DEADLINE),
    Rule(JobState.CANCELLING, e.Settle, JobState.CANCELLED, effects.end_job, (), g.STOPPED_CANCELLED),
    Rule(JobState.CANCELLING, e.Settle, JobState.FAILED, effects.end_job, (), g.STOPPED_FAILED),
)


# workers


WORKER_TABLE: tuple[Rule, ...] = (
    Rule(WorkerState.ABSENT, e.Register, WorkerState.IDLE, effects.register),
    Rule(WorkerState.IDLE, e.Register, WorkerState.IDLE, effects.register),
    Rule(WorkerState.IDLE, e.Occupy, WorkerState.BUSY, effects.occupy, (g.SAME_KIND,)),
    Rule(WorkerState.IDLE, e.Drain, WorkerState.DRAINED, effects.drain),
    Rule(WorkerState.IDLE, e.Forget, WorkerState.ABSENT, effects.forget),
    Rule(WorkerState.BUSY, e.Vacate, WorkerState.IDLE, effects.vacate, (g.HOLDS_IT,)),
    Rule(WorkerState.BUSY, e.Drain, WorkerState.DRAINING, effects.drain),
    Rule(WorkerState.DRAINING, e.Vacate, WorkerState.DRAINED, effects.vacate, (g.HOLDS_IT,)),
    Rule(WorkerState.DRAINED, e.Register, WorkerState.IDLE, effects.register),
    Rule(WorkerState.DRAINED, e.Forget, WorkerState.ABSENT, effects.forget),
)


# the functions


@dataclass(frozen=True, slots=True)
class Change:
    """What is true after an event. `job` and `worker` are whole records, changed or not."""

    job: JobRecord
    partition: PartitionRecord
    worker: WorkerRecord | None
    spell: Spell | None = None


def transition(
    view: View, event: e.PartitionEvent, now: float, *, table: tuple[Rule, ...] = PARTITION_TABLE
) -> Change | Refusal:
    """One event on one partition, with its consequences for the job's tallies and the worker's slot."""
    rule = choose(table, view.partition.phase, view, event, now)
    if rule is None:
        return _misplaced(view.partition, event)
    if isinstance(rule, Refusal):
        return rule
    move = rule.effect(view, event, now, rule.target)
    worker = view.worker
    if isinstance(event, e.Heartbeat) and worker is not None:
        worker = replace(worker, seen_at=now)
    if isinstance(move.worker_event, e.Occupy):
        occupied = transition_worker(worker, move.worker_event, now)
        if isinstance(occupied, Refusal):
            return occupied
        worker = occupied
    elif isinstance(move.worker_event, e.Vacate):
        vacated = transition_worker(worker, move.worker_event, now)
        worker = worker if isinstance(vacated, Refusal) else vacated
    return Change(_account(view, move.partition, now), move.partition, worker, move.spell)


def transition_job(job: JobRecord, event: e.JobEvent, now: float) -> JobRecord | Refusal:
    """One event on a job as a whole."""
    rule = choose(JOB_TABLE, job.state, job, event, now)
    if rule is None:
        return Refusal.NOT_READY if job.state is JobState.RUNNING else g.ended_reason(job.state)
    if isinstance(rule, Refusal):
        return rule
    changed: JobRecord = rule.effect(job, event, now, rule.target)
    return changed


def transition_worker(
    worker: WorkerRecord | None, event: e.WorkerEvent, now: float
) -> WorkerRecord | Refusal | None:
    """One event on a worker's slot; None is a worker that is not there."""
    state = WorkerState.of(worker)
    rule = choose(WORKER_TABLE, state, worker, event, now)
    if rule is None:
        return _WORKER_REFUSALS[state]
    if isinstance(rule, Refusal):
        return rule
    changed: WorkerRecord | None = rule.effect(worker, event, now, rule.target)
    return changed


def stop_job(
    job: JobRecord,
    partitions: Iterable[PartitionRecord],
    event: e.Stop,
    now: float,
    rejected: int | None = None,
) -> tuple[JobRecord, list[PartitionRecord]] | Refusal:
    """Stop a job: what waits is cancelled at once (`rejected` fails), what runs learns it by heartbeat.

    Returns the job and the partitions that changed.
    """
    stopped = transition_job(job, event, now)
    if isinstance(stopped, Refusal):
        return stopped
    return cancel_waiting(stopped, partitions, now, rejected)


def cancel_waiting(
    job: JobRecord, partitions: Iterable[PartitionRecord], now: float, rejected: int | None = None
) -> tuple[JobRecord, list[PartitionRecord]]:
    """Cancel whatever waits of a job that is being stopped; settle the job if nothing is left."""
    changed = []
    for partition in partitions:
        if not partition.waiting:
            continue
        event = e.Reject(job.error or "") if partition.index == rejected else e.Cancel()
        change = transition(View(job, partition), event, now)
        if isinstance(change, Change):
            job = change.job
            changed.append(change.partition)
    settled = transition_job(job, e.Settle(), now)
    return (job if isinstance(settled, Refusal) else settled), changed


_WORKER_REFUSALS = {
    WorkerState.ABSENT: Refusal.UNKNOWN,
    WorkerState.IDLE: Refusal.NOT_OWNER,
    WorkerState.BUSY: Refusal.WORKER_BUSY,
    WorkerState.DRAINING: Refusal.DRAINING,
    WorkerState.DRAINED: Refusal.DRAINING,
}


def _account(view: View, after: PartitionRecord, now: float) -> JobRecord:
    """The job's tallies after one of its partitions moved, and what the job becomes by it."""
    job, before = view.job, view.partition

    def more(phase: Phase) -> int:
        return (after.phase is phase) - (before.phase is phase)

    job = replace(
        job,
        done=job.done + more(Phase.DONE),
        failed=job.failed + more(Phase.FAILED),
        cancelled=job.cancelled + more(Phase.CANCELLED),
    )
    if after.phase is Phase.FAILED and job.spec.on_failure is OnFailure.CANCEL:
        stopped = transition_job(job, e.Stop(Ending.FAILED, f"partition {after.index}: {after.error}"), now)
        job = job if isinstance(stopped, Refusal) else stopped
    settled = transition_job(job, e.Settle(), now)
    return job if isinstance(settled, Refusal) else settled


def _misplaced(partition: PartitionRecord, event: e.PartitionEvent) -> Refusal:
    """The reason when no row of the table has this event in this phase."""
    if isinstance(event, e.Claim):
        if reason := g.TERMINAL_REASON.get(partition.phase):
            return reason
        if event.attempt < partition.attempt:
            return Refusal.SUPERSEDED
        wanted = e.CLAIMED_PHASE[type(event)]
        if partition.phase is wanted:
            return Refusal.TAKEN
        return Refusal.NOT_READY if partition.phase.rank < wanted.rank else Refusal.ALREADY_DONE
    if isinstance(event, e.Act):
        return g.disowned(partition, event)
    return g.TERMINAL_REASON.get(partition.phase, Refusal.TAKEN)
