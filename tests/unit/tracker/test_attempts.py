"""Attempts: what counts, what is kept, and that they end."""

import pytest

from proving.tracker.outcomes import Refusal
from proving.tracker.records import AttemptEnd, JobState, OnFailure, Phase
from proving.tracker.transitions import Change
from tests.support.world import World


def test_lost_device_phase_keeps_the_evaluations():
    world = World(total=1)
    world.synthesized(0)
    first = world.claim_device("gpu0", 0, 1)
    lost = world.lose(first)
    assert (lost.partition.phase, lost.partition.attempt) == (Phase.SYNTH_DONE, 2)
    assert lost.partition.timeline.synth_attempt == 1
    assert lost.partition.timeline.gpu_started_at is None
    assert lost.spell.end is AttemptEnd.LOST
    again = world.claim_device("gpu1", 0, 2)
    world.hand_off(again)
    assert world.partitions[0].timeline.gpu_attempt == 2


def test_lost_synthesis_starts_over():
    world = World(total=1, host_bytes=10)
    lost = world.lose(world.claim_synthesis("synth0", 0, 1))
    assert (lost.partition.phase, lost.partition.attempt) == (Phase.PENDING, 2)
    assert lost.partition.held_bytes == 0
    assert lost.partition.timeline.synth_started_at is None


def test_lost_finalizer_keeps_the_sums():
    world = World(total=1)
    world.handed_off(0)
    lost = world.lose(world.claim_finalize("final0", 0, 1))
    assert (lost.partition.phase, lost.partition.attempt) == (Phase.FINALIZING, 2)
    assert lost.partition.timeline.gpu_attempt == 1
    world.finish(world.claim_finalize("final1", 0, 2))
    assert world.partitions[0].phase is Phase.DONE
    assert world.job.remaining == 0


def test_proof_that_fails_its_check_is_made_anew():
    world = World(total=1)
    world.handed_off(0)
    failed = world.fail(world.claim_finalize("final0", 0, 1), "does not verify", retry=True)
    assert (failed.partition.phase, failed.partition.attempt) == (Phase.PENDING, 2)


@pytest.mark.parametrize(("attempts", "error"), [(1, "lost once"), (2, "lost 2 times"), (3, "lost 3 times")])
def test_attempts_end(attempts, error):
    world = World(total=1, max_attempts=attempts)
    world.synthesized(0)
    for attempt in range(1, attempts + 1):
        change = world.lose(world.claim_device("gpu0", 0, attempt))
    assert (change.partition.phase, change.partition.error) == (Phase.FAILED, error)
    assert world.job.state is JobState.FAILED
    assert world.job.error == f"partition 0: {error}"
    assert world.claim_device("gpu0", 0, attempts) is Refusal.FAILED


def test_handing_back_spends_no_attempt():
    """A worker that is told to stop hands its work back: rolling restarts must not fail a job."""
    world = World(total=1, max_attempts=2, free_releases=5)
    for attempt in range(1, 6):
        world.release(world.claim_synthesis("synth0", 0, attempt))
    lost = world.lose(world.claim_synthesis("synth0", 0, 6))
    assert (lost.partition.attempt, lost.partition.max_attempts) == (7, 7)
    change = world.lose(world.claim_synthesis("synth0", 0, 7))
    assert (change.partition.phase, change.partition.error) == (Phase.FAILED, "lost 2 times")


def test_handing_back_ends_too():
    world = World(total=1, max_attempts=2, free_releases=3)
    for attempt in range(1, 5):
        change = world.release(world.claim_synthesis("synth0", 0, attempt))
        assert change.partition.attempt <= change.partition.max_attempts
    change = world.release(world.claim_synthesis("synth0", 0, 5))
    assert (change.partition.phase, change.partition.error) == (Phase.FAILED, "handed back 5 times")


def test_failure_without_retry_names_the_partition_and_stops_the_rest():
    world = World(total=3)
    running = world.claim_synthesis("synth0", 1, 1)
    world.fail(world.claim_synthesis("synth1", 2, 1), "assertion in line 5", retry=False)
    assert world.job.state is JobState.CANCELLING
    assert world.job.error == "partition 2: assertion in line 5"
    assert [p.phase for p in world.partitions] == [Phase.CANCELLED, Phase.SYNTHESIZING, Phase.FAILED]
    assert isinstance(world.end_synthesis(running), Change)
    assert world.partitions[1].phase is Phase.CANCELLED
    assert world.job.state is JobState.FAILED


def test_failure_may_leave_the_rest_alone():
    world = World(total=2, on_failure=OnFailure.CONTINUE)
    world.fail(world.claim_synthesis("synth0", 0, 1), "broken", retry=False)
    assert world.job.state is JobState.RUNNING
    world.done(1)
    assert (world.job.state, world.job.error) == (JobState.FAILED, "1 of 2 partitions failed")


def test_history_tells_each_attempt():
    world = World(total=1)
    world.synthesized(0)
    world.lose(world.claim_device("gpu0", 0, 1))
    world.fail(world.claim_device("gpu1", 0, 2), "out of memory", retry=True)
    past = [(p.attempt, p.end, p.phase, p.worker, p.error) for p in world.partitions[0].history]
    assert past == [
        (1, AttemptEnd.LOST, Phase.GPU, "gpu0", "lost"),
        (2, AttemptEnd.FAILED, Phase.GPU, "gpu1", "out of memory"),
    ]
