"""What the store answers after a transition was written."""

from proving.tracker import outcomes as o
from proving.tracker.effects import View
from proving.tracker.records import AttemptEnd, JobRecord, JobState, Phase
from proving.tracker.transitions import Change

GivenUp = o.Retried | o.Failed | o.Stopped


def claimed(_: View, change: Change, __: JobRecord) -> o.Claimed:
    partition = change.partition
    if partition.assignment is None or partition.lease_expires_at is None:
        raise AssertionError("a claim without an assignment")
    line = partition.timeline
    evaluations = line.synth_attempt or partition.attempt
    source = line.gpu_attempt if partition.phase is Phase.FINALIZING else evaluations
    return o.Claimed(partition.assignment, partition.lease_expires_at, source, evaluations)


def moved(_: View, change: Change, job: JobRecord) -> o.Applied | o.Stopped:
    if change.partition.phase is Phase.CANCELLED:
        return o.Stopped(job.state)
    return o.Applied(change.partition.phase, job.state)


def finished(_: View, __: Change, job: JobRecord) -> o.Finished:
    return o.Finished(job.remaining, job.state)


def given_up(_: View, change: Change, job: JobRecord) -> GivenUp:
    after = change.partition
    if after.phase is Phase.CANCELLED:
        return o.Stopped(job.state)
    if after.phase is Phase.FAILED:
        return o.Failed(after.error or "", job.state)
    return o.Retried(after.attempt, after.phase)


def beaten(_: View, change: Change, job: JobRecord) -> o.Beat | o.CancelRequested:
    expires = change.partition.lease_expires_at or 0.0
    if job.state is JobState.RUNNING:
        return o.Beat(expires)
    return o.CancelRequested(job.error or str(job.ending or "cancelled"), expires)


def lost(view: View, change: Change, job: JobRecord) -> o.Lost:
    before, after = view.partition, change.partition
    name, index = after.job, after.index
    if after.phase is Phase.CANCELLED:
        return o.Dropped(name, index, before.phase, job.state)
    if after.phase is Phase.FAILED:
        return o.Exhausted(name, index, before.phase, after.error or "", job.state)
    released = after.history[-1].end is AttemptEnd.RELEASED
    return o.Reaped(name, index, before.phase, after.phase, after.attempt, released)
