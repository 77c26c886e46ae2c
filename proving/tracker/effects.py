"""How a transition changes the records. Pure; which effect applies when is the table's business.

Standard library only.
"""

from dataclasses import dataclass, field, replace

from proving.tracker import events as e
from proving.tracker.budget import Room
from proving.tracker.records import (
    Assignment,
    AttemptEnd,
    JobRecord,
    JobState,
    PartitionRecord,
    PastAttempt,
    Phase,
    Spell,
    Timeline,
    WorkerRecord,
    WorkerState,
)


@dataclass(frozen=True, slots=True)
class View:
    """What a transition of a partition may look at.

    `worker` is who claims, or who holds the assignment that the event names.
    """

    job: JobRecord
    partition: PartitionRecord
    worker: WorkerRecord | None = None
    room: Room = field(default_factory=Room)


@dataclass(frozen=True, slots=True)
class Move:
    """A partition after a transition, and what happens to its worker and to the device's history."""

    partition: PartitionRecord
    worker_event: e.Occupy | e.Vacate | None = None
    spell: Spell | None = None


def begin(view: View, claim: e.Claim, now: float, target: Phase) -> Move:
    """A claim: a fresh epoch, an assignment, a lease."""
    old = view.partition
    who, epoch = claim.worker, next_epoch(view, now)
    assignment = Assignment(who, old.job, old.index, old.attempt, epoch)
    new = replace(
        old,
        phase=target,
        assignment=assignment,
        epoch=epoch,
        lease_expires_at=now + claim.lease,
        timeline=_open_phase(old.timeline, target, who, now),
    )
    spec = view.worker.spec if view.worker else None
    if target is Phase.SYNTHESIZING:
        new = replace(new, held_bytes=view.job.spec.host_bytes, host=spec.host if spec else None)
    if target is Phase.GPU:
        new = replace(new, device_bytes=view.job.spec.device_bytes, device=spec.place if spec else None)
    return Move(new, e.Occupy(assignment, e.CLAIMANT_KIND[type(claim)]))


def next_epoch(view: View, now: float) -> int:
    """Greater than any under which this partition was claimed, or this worker claimed, before.

    The microseconds of the server's clock keep that true after the records were lost; the records keep it
    true where the clock stands still or goes back.
    """
    last = max(view.partition.epoch, view.worker.epoch if view.worker else 0)
    return max(int(now * 1_000_000), last + 1)


def end_synthesis(view: View, _: e.EndSynthesis, now: float, target: Phase) -> Move:
    old = view.partition
    done = replace(_close_phase(old.timeline, old.phase, now), wait_started_at=now, synth_attempt=old.attempt)
    return _leave(view, now, AttemptEnd.DONE, replace(old, phase=target, timeline=done))


def hand_off(view: View, _: e.HandOff, now: float, target: Phase) -> Move:
    old = view.partition
    done = replace(_close_phase(old.timeline, old.phase, now), gpu_attempt=old.attempt)
    left = max(0, old.held_bytes - view.job.spec.evaluation_bytes)
    return _leave(view, now, AttemptEnd.DONE, replace(old, phase=target, timeline=done, held_bytes=left))


def finish(view: View, _: e.Finish, now: float, target: Phase) -> Move:
    return _leave(view, now, AttemptEnd.DONE, _ended(view.partition, target, now, None))


def fail(view: View, event: e.Fail, now: float, target: Phase) -> Move:
    return _leave(view, now, AttemptEnd.FAILED, _ended(view.partition, target, now, event.error))


def exhaust(view: View, event: e.Lose | e.Release, now: float, target: Phase) -> Move:
    """No attempt is left for a partition that was lost or handed back."""
    end, verb = _interruption(event)
    times = 1 + sum(past.end is end for past in view.partition.history)
    error = f"{verb} once" if times == 1 else f"{verb} {times} times"
    return _leave(
        view, now, end, _ended(view.partition, target, now, error), alive=end is not AttemptEnd.LOST
    )


def again(view: View, event: e.Lose | e.Release | e.Fail, now: float, target: Phase) -> Move:
    """The next attempt. What an earlier phase has spooled is kept as far as `target` allows.

    Work that is handed back politely takes no attempt from the partition, up to `free_releases` times.
    """
    old = view.partition
    end, error = (AttemptEnd.FAILED, event.error) if isinstance(event, e.Fail) else _interruption(event)
    who = old.assignment.worker if old.assignment else None
    line = _close_phase(old.timeline, old.phase, now)
    past = PastAttempt(old.attempt, end, old.phase, who, error, now, line)
    new = replace(
        old,
        phase=target,
        attempt=old.attempt + 1,
        max_attempts=old.max_attempts + (isinstance(event, e.Release) and is_free(view)),
        timeline=_reset(old.timeline, target, now),
        history=(*old.history, past),
    )
    if target is Phase.PENDING:
        new = replace(new, held_bytes=0, host=None)
    return _leave(view, now, end, new, alive=end is not AttemptEnd.LOST)


def is_free(view: View) -> bool:
    """Whether one more release of the partition costs no attempt."""
    return view.partition.releases < view.job.spec.free_releases


def stop(view: View, event: e.PartitionEvent, now: float, target: Phase) -> Move:
    """Cancelled, whether it waited or its holder has just let go."""
    new = _ended(view.partition, target, now, None)
    return _leave(view, now, AttemptEnd.CANCELLED, new, alive=not isinstance(event, e.Lose))


def reject(view: View, event: e.Reject, now: float, target: Phase) -> Move:
    return Move(_ended(view.partition, target, now, event.error))


def beat(view: View, event: e.Heartbeat, now: float, target: Phase) -> Move:
    return Move(replace(view.partition, phase=target, lease_expires_at=now + event.lease))


def _leave(view: View, now: float, end: AttemptEnd, new: PartitionRecord, *, alive: bool = True) -> Move:
    old = view.partition
    new = replace(new, assignment=None, lease_expires_at=None, device=None, device_bytes=0)
    if old.assignment is None:
        return Move(new)
    spell = None
    if old.phase is Phase.GPU:
        started = old.timeline.gpu_started_at or now
        who = old.assignment.worker
        spell = Spell(who, old.job, old.index, old.attempt, started, now, end, view.job.spec.owner)
    return Move(new, e.Vacate(old.assignment, alive), spell)


def _ended(old: PartitionRecord, target: Phase, now: float, error: str | None) -> PartitionRecord:
    closed = replace(_close_phase(old.timeline, old.phase, now), finished_at=now)
    return replace(old, phase=target, timeline=closed, held_bytes=0, error=error)


def _interruption(event: e.Lose | e.Release) -> tuple[AttemptEnd, str]:
    return (AttemptEnd.LOST, "lost") if isinstance(event, e.Lose) else (AttemptEnd.RELEASED, "handed back")


def _open_phase(line: Timeline, phase: Phase, who: str, now: float) -> Timeline:
    match phase:
        case Phase.SYNTHESIZING:
            return replace(line, synth_started_at=now, synth_worker=who)
        case Phase.GPU:
            return replace(line, gpu_started_at=now, gpu_worker=who)
        case _:
            return replace(line, finalize_started_at=now, finalizer=who)


def _close_phase(line: Timeline, phase: Phase, now: float) -> Timeline:
    match phase:
        case Phase.SYNTHESIZING:
            return replace(line, synth_ended_at=now)
        case Phase.GPU:
            return replace(line, gpu_ended_at=now)
        case _:
            return line


def _reset(line: Timeline, target: Phase, now: float) -> Timeline:
    match target:
        case Phase.SYNTH_DONE:
            return replace(line, wait_started_at=now, gpu_started_at=None, gpu_ended_at=None, gpu_worker=None)
        case Phase.FINALIZING:
            return replace(line, finalize_started_at=None, finalizer=None)
        case _:
            return Timeline(queued_at=now)


# jobs


def stop_job(job: JobRecord, event: e.Stop, _: float, target: JobState) -> JobRecord:
    return replace(job, state=target, ending=event.ending, error=event.error)


def end_job(job: JobRecord, _: e.Settle, now: float, target: JobState) -> JobRecord:
    return replace(job, state=target, ended_at=now)


def end_job_failed(job: JobRecord, _: e.Settle, now: float, target: JobState) -> JobRecord:
    return replace(
        job,
        state=target,
        ended_at=now,
        error=f"{job.failed} of {job.spec.total_partitions} partitions failed",
    )


def reprieve_job(job: JobRecord, _: e.Settle, __: float, target: JobState) -> JobRecord:
    return replace(job, state=target, ending=None, error=None)


def reprioritize_job(job: JobRecord, event: e.Reprioritize, _: float, target: JobState) -> JobRecord:
    return replace(job, state=target, spec=replace(job.spec, priority=event.priority))


def begin_assembly(job: JobRecord, event: e.Assemble, now: float, target: JobState) -> JobRecord:
    return replace(job, state=target, assembly_expires_at=now + event.lease)


def lose_assembly(job: JobRecord, _: e.LoseAssembly, __: float, target: JobState) -> JobRecord:
    return replace(job, state=target, assembly_expires_at=None)


def complete_job(job: JobRecord, event: e.Complete, now: float, target: JobState) -> JobRecord:
    return replace(job, state=target, ended_at=now, assembly_expires_at=None, error=event.error)


# workers


def register(old: WorkerRecord | None, event: e.Register, now: float, _: WorkerState) -> WorkerRecord:
    last = old.epoch if old else 0
    return WorkerRecord(event.spec, event.worker_id, seen_at=now, idle_since=now, epoch=last)


def occupy(worker: WorkerRecord, event: e.Occupy, now: float, _: WorkerState) -> WorkerRecord:
    return replace(worker, assignment=event.assignment, epoch=event.assignment.epoch, seen_at=now)


def vacate(worker: WorkerRecord, event: e.Vacate, now: float, _: WorkerState) -> WorkerRecord:
    return replace(worker, assignment=None, idle_since=now, seen_at=now if event.alive else worker.seen_at)


def drain(worker: WorkerRecord, _: e.Drain, __: float, ___: WorkerState) -> WorkerRecord:
    return replace(worker, draining=True)


def forget(_: WorkerRecord, __: e.Forget, ___: float, ____: WorkerState) -> None:
    return None
