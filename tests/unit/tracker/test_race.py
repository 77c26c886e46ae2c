"""The stale finalizer on the pure table, in every order of the finalizer and the next claim."""

from itertools import permutations

import pytest

from proving.tracker.outcomes import Refusal
from proving.tracker.records import Phase
from tests.support.world import World


def orders() -> list[tuple[str, ...]]:
    steps = ["claim finalizer", "finish", "take next", "duplicate hand-off"]
    return [order for order in permutations(steps) if order.index("claim finalizer") < order.index("finish")]


@pytest.mark.parametrize("order", orders(), ids=", ".join)
def test_worker_keeps_its_next_partition(order):
    world = World(total=2)
    world.synthesized(1)
    first = world.handed_off(0)
    finalizer = taken = None
    for step in order:
        if step == "claim finalizer":
            finalizer = world.claim_finalize("final0", 0, 1)
        elif step == "finish":
            world.finish(finalizer)
        elif step == "take next":
            taken = world.claim_device("gpu0", 1, 1)
        else:
            assert world.hand_off(first) is Refusal.ALREADY_DONE
        assert world.workers["gpu0"].assignment == taken
    assert world.partitions[0].phase is Phase.DONE
    assert world.partitions[1].assignment == taken


def test_finalizer_of_a_lost_attempt_changes_nothing():
    world = World(total=1)
    world.handed_off(0)
    late = world.claim_finalize("final0", 0, 1)
    world.lose(late)
    again = world.claim_finalize("final1", 0, 2)
    before = (world.job, tuple(world.partitions), dict(world.workers))
    assert world.finish(late) is Refusal.SUPERSEDED
    assert (world.job, tuple(world.partitions), world.workers) == before
    world.finish(again)
    assert world.finish(late) is Refusal.SUPERSEDED
    assert world.finish(again) is Refusal.ALREADY_DONE
    assert world.job.done == 1
