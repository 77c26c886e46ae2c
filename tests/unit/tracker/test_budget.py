import pytest
from hypothesis import given
from hypothesis import strategies as st

from proving.tracker.budget import Room
from proving.tracker.outcomes import Refusal
from proving.tracker.records import Phase
from tests.support.world import World


@pytest.mark.parametrize(
    ("total", "held", "needed", "reason"),
    [
        (0, 10**18, 10**18, None),
        (100, 0, 100, None),
        (100, 60, 40, None),
        (100, 61, 40, Refusal.BUDGET_FULL),
        (100, 0, 101, Refusal.OVER_BUDGET),
        (100, 100, 0, None),
    ],
)
def test_room(total, held, needed, reason):
    assert Room(total, held).refuse(needed) is reason


@pytest.mark.parametrize(
    ("ahead", "needed", "reason"),
    [
        (0, 40, None),
        (10, 30, None),
        (10, 31, Refusal.BUDGET_FULL),
        (1_000, 1, Refusal.BUDGET_FULL),
        (1_000, 0, None),
        (1_000, 101, Refusal.OVER_BUDGET),
    ],
)
def test_room_is_kept_for_who_came_first(ahead, needed, reason):
    assert Room(100, 60, ahead).refuse(needed) is reason


def test_device_bytes_are_held_from_claim_to_hand_off():
    world = World(total=2, device_bytes=70)
    world.synthesized(0)
    first = world.claim_device("gpu0", 0, 1)
    assert world.held == {"host/gpu0": 70}
    world.hand_off(first)
    assert world.held == {"host/gpu0": 0}
    world.synthesized(1)
    world.lose(world.claim_device("gpu0", 1, 1))
    assert world.held == {"host/gpu0": 0}


def test_bytes_go_back_in_two_steps():
    world = World(total=1, host_bytes=14, evaluation_bytes=13, budget=20)
    world.synthesized(0)
    assert world.held == {"host": 14}
    device = world.claim_device("gpu0", 0, 1)
    assert world.held == {"host": 14}
    world.hand_off(device)
    assert world.held == {"host": 1}
    world.finish(world.claim_finalize("final0", 0, 1))
    assert world.held == {"host": 0}


def test_dead_synthesizer_gives_its_bytes_back():
    world = World(total=2, host_bytes=14, evaluation_bytes=13, budget=20)
    first = world.claim_synthesis("synth0", 0, 1)
    assert world.claim_synthesis("synth1", 1, 1) is Refusal.BUDGET_FULL
    world.lose(first)
    assert world.held == {"host": 0}
    assert world.claim_synthesis("synth1", 1, 1).partition == 1


def test_lost_device_keeps_what_the_evaluations_hold():
    world = World(total=1, host_bytes=14, evaluation_bytes=13, budget=20)
    world.synthesized(0)
    world.lose(world.claim_device("gpu0", 0, 1))
    assert world.held == {"host": 14}


def test_cancelled_partitions_hold_nothing():
    world = World(total=3, host_bytes=5, evaluation_bytes=4, budget=20)
    world.synthesized(0)
    world.synthesized(1)
    world.fail(world.claim_synthesis("synth2", 2, 1), "broken", retry=False)
    assert [p.phase for p in world.partitions] == [Phase.CANCELLED, Phase.CANCELLED, Phase.FAILED]
    assert world.held == {"host": 0}


@given(st.lists(st.integers(1, 30), min_size=1, max_size=20), st.integers(1, 60))
def test_reservations_never_exceed_the_budget(sizes, total):
    held = 0
    for needed in sizes:
        if Room(total, held).refuse(needed) is None:
            held += needed
        assert held <= total
