"""Jobs: stopping, deadlines, assembly."""

from dataclasses import replace

import pytest

from proving.tracker import events as e
from proving.tracker.outcomes import Refusal
from proving.tracker.records import Ending, JobState, Phase
from proving.tracker.transitions import transition_job
from tests.support.world import World

CANCEL = e.Stop(Ending.CANCELLED, "no longer wanted")
DEADLINE = e.Stop(Ending.DEADLINE, "deadline passed")


def test_nothing_running_cancels_at_once():
    world = World(total=3)
    world.done(0)
    world.stop(CANCEL)
    assert world.job.state is JobState.CANCELLED
    assert [p.phase for p in world.partitions] == [Phase.DONE, Phase.CANCELLED, Phase.CANCELLED]


def test_cancelling_lasts_until_nobody_works_on_it():
    world = World(total=3)
    synthesis = world.claim_synthesis("synth0", 0, 1)
    world.synthesized(1)
    device = world.claim_device("gpu0", 1, 1)
    world.stop(CANCEL)
    assert world.job.state is JobState.CANCELLING
    assert [p.phase for p in world.partitions] == [Phase.SYNTHESIZING, Phase.GPU, Phase.CANCELLED]
    world.end_synthesis(synthesis)
    assert world.job.state is JobState.CANCELLING
    world.hand_off(device)
    assert world.job.state is JobState.CANCELLED
    assert world.workers["gpu0"].assignment is None


def test_a_finish_during_the_cancel_is_true():
    world = World(total=1)
    world.handed_off(0)
    finalizer = world.claim_finalize("final0", 0, 1)
    world.stop(CANCEL)
    world.finish(finalizer)
    assert (world.partitions[0].phase, world.job.state) == (Phase.DONE, JobState.CANCELLED)


def test_success_beats_a_deadline_that_passes_at_the_same_time():
    world = World(total=1, deadline=50.0)
    world.handed_off(0)
    finalizer = world.claim_finalize("final0", 0, 1)
    world.stop(DEADLINE)
    assert world.job.state is JobState.CANCELLING
    world.finish(finalizer)
    assert (world.job.state, world.job.error) == (JobState.RUNNING, None)
    assert world.stop(DEADLINE) is Refusal.ALREADY_DONE
    assert transition_job(world.job, e.Assemble(10.0), 100.0).state is JobState.ASSEMBLING


def test_deadline_stops_what_is_not_done():
    world = World(total=2, deadline=50.0)
    world.done(0)
    world.stop(DEADLINE)
    assert (world.job.state, world.job.error) == (JobState.FAILED, "deadline passed")


@pytest.mark.parametrize("deadline", [None, 100.5])
def test_deadline_waits_for_its_time(deadline):
    assert World(total=1, deadline=deadline).stop(DEADLINE) is Refusal.NOT_EXPIRED


def test_assembly_is_for_one():
    world = World(total=2)
    world.done(0)
    assert transition_job(world.job, e.Assemble(10.0), 100.0) is Refusal.NOT_READY
    world.done(1)
    assembling = transition_job(world.job, e.Assemble(10.0), 100.0)
    assert assembling.state is JobState.ASSEMBLING
    assert transition_job(assembling, e.Assemble(10.0), 100.0) is Refusal.ASSEMBLING
    assert transition_job(assembling, CANCEL, 100.0) is Refusal.ASSEMBLING
    assert transition_job(assembling, e.LoseAssembly(), 109.0) is Refusal.NOT_EXPIRED
    assert transition_job(assembling, e.LoseAssembly(), 110.0).state is JobState.RUNNING
    done = transition_job(assembling, e.Complete(JobState.DONE), 105.0)
    assert (done.state, done.ended_at) == (JobState.DONE, 105.0)
    failed = transition_job(assembling, e.Complete(JobState.FAILED, "proof 1 does not verify"), 105.0)
    assert (failed.state, failed.error) == (JobState.FAILED, "proof 1 does not verify")


def test_a_job_that_runs_may_become_more_urgent_and_nothing_else_of_it_changes():
    world = World(total=2, priority=2)
    world.done(0)
    urgent = transition_job(world.job, e.Reprioritize(4), 100.0)
    assert urgent.spec.priority == 4
    assert replace(urgent, spec=replace(urgent.spec, priority=2)) == world.job
    assert transition_job(urgent, e.Reprioritize(4), 100.0) == urgent


@pytest.mark.parametrize("priority", [0, 5])
def test_there_are_four_priorities(priority):
    with pytest.raises(ValueError, match="priority"):
        transition_job(World(total=1).job, e.Reprioritize(priority), 100.0)


def test_a_job_that_is_being_stopped_or_assembled_does_not_move():
    world = World(total=1)
    world.claim_synthesis("synth0", 0, 1)
    world.stop(CANCEL)
    assert transition_job(world.job, e.Reprioritize(4), 100.0) is Refusal.CANCELLED
    world = World(total=1)
    world.done(0)
    assembling = transition_job(world.job, e.Assemble(10.0), 100.0)
    assert transition_job(assembling, e.Reprioritize(4), 100.0) is Refusal.ASSEMBLING


@pytest.mark.parametrize(
    "event",
    [CANCEL, e.Reprioritize(1), e.Assemble(1.0), e.LoseAssembly(), e.Complete(JobState.FAILED), e.Settle()],
)
def test_an_ended_job_is_frozen(event):
    world = World(total=1)
    world.done(0)
    assembling = transition_job(world.job, e.Assemble(10.0), 100.0)
    done = transition_job(assembling, e.Complete(JobState.DONE), 105.0)
    assert transition_job(done, event, 200.0) is Refusal.ALREADY_DONE
