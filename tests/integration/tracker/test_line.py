"""Who goes first: priority, then age, then index, whatever a message names; nobody overtakes for room."""

import pytest

from proving.tracker import outcomes as o
from proving.tracker.outcomes import Refusal, Refused
from proving.tracker.records import OnFailure, Phase
from proving.tracker.store import Store
from tests.support.tracker import Driver, device, job_spec

NOTHING = Refusal.NOTHING_WAITS


def taken(outcome: object) -> tuple[str, int]:
    assignment = Driver.claimed(outcome)
    return assignment.job, assignment.partition


def test_a_critical_job_behind_a_thousand_waiting_partitions_gets_the_next_free_device(store, driver):
    driver.register()
    for number in range(10):
        name = f"old-{number}"
        driver.open(name, 100, submitted_at=1_000.0 + number)
    for number in range(5):
        driver.synthesized(number, job="old-0")
    running = Driver.claimed(store.take_device("gpu0@host"))
    driver.open("urgent", 2, priority=4, submitted_at=9_000.0)
    assert taken(store.take_synthesis("synth@host")) == ("urgent", 0)
    store.synthesized(store.partition("urgent", 0).assignment)
    assert store.take_device("gpu0@host") == Refused("claim_device", Refusal.WORKER_BUSY)
    store.hand_off(running)
    assert taken(store.take_device("gpu0@host")) == ("urgent", 0)


def test_interleaved_jobs_do_not_stall_together(store, driver):
    """Both are synthesized in turn; the older one is proved first, so that one of them ends early."""
    driver.register()
    driver.open("first", 3, submitted_at=1.0)
    driver.open("second", 3, submitted_at=2.0)
    for index in range(3):
        for name in ("second", "first"):
            driver.synthesized(index, job=name)
    order = []
    while not isinstance(claimed := store.take_device("gpu0@host"), Refused):
        order.append(taken(claimed))
        store.hand_off(claimed.assignment)
    assert order == [(name, index) for name in ("first", "second") for index in range(3)]
    assert claimed == Refused("claim_device", NOTHING)


def test_what_waits_moves_in_line_at_once_when_its_job_becomes_urgent(store, driver):
    driver.register()
    driver.open("first", 3, submitted_at=1.0)
    driver.open("second", 3, submitted_at=2.0)
    for name in ("first", "second"):
        driver.synthesized(0, job=name)
        driver.synthesizing(1, job=name)
    before = store.rev()
    assert store.reprioritize_job("second", 4) == o.Reordered(4, 2)
    assert store.rev() == before + 1
    assert taken(store.take_device("gpu0@host")) == ("second", 0)
    assert taken(store.take_synthesis("synth@host")) == ("second", 2)
    assert store.job_ids() == ["second", "first"]
    assert store.reprioritize_job("second", 1) == o.Reordered(1, 0)
    store.synthesized(store.partition("second", 1).assignment)
    store.synthesized(store.partition("first", 1).assignment)
    store.hand_off(store.partition("second", 0).assignment)
    assert taken(store.take_device("gpu0@host")) == ("first", 0)
    assert store.snapshot().document()["pipelines"][-1]["priority"] == "low"
    assert store.snapshot().consistent
    assert store.repair() == []


def test_a_priority_that_it_has_already_makes_no_new_version(store, driver):
    driver.open(priority=3)
    before = store.rev()
    assert store.reprioritize_job("job", 3) == o.Reordered(3, 2)
    assert store.rev() == before
    assert store.reprioritize_job("other", 3) == Refused("reprioritize_job", Refusal.UNKNOWN)


def test_two_workers_never_take_the_same(store, driver):
    driver.register("gpu0@host")
    driver.register("gpu1@host")
    driver.open(total=2)
    driver.synthesized(0)
    driver.synthesized(1)
    places = {taken(store.take_device(name)) for name in ("gpu0@host", "gpu1@host")}
    assert places == {("job", 0), ("job", 1)}


def test_a_message_that_is_superseded_or_comes_twice_takes_nothing_from_anybody(store, driver):
    driver.register("gpu0@host")
    driver.register("gpu1@host")
    driver.open(total=1)
    driver.synthesized(0)
    Driver.claimed(store.take_device("gpu0@host"))
    before = store.rev()
    for _ in range(2):
        assert store.take_device("gpu1@host") == Refused("claim_device", NOTHING)
    assert store.rev() == before


def test_a_stranger_is_told_to_register(store, driver):
    driver.open(total=1)
    driver.synthesized(0)
    assert store.take_device("gpu9@host") == Refused("claim_device", Refusal.UNKNOWN)


# memory of the host


@pytest.fixture
def narrow(valkey) -> Store:
    """Room for four partitions of 25 bytes."""
    return Store(valkey, host_budget_bytes=100)


def test_a_burst_never_exceeds_the_budget_and_completes_in_order(narrow):
    driver = Driver(narrow)
    driver.register()
    driver.open("burst", 200, host_bytes=25, evaluation_bytes=20)
    done, most, order = 0, 0, []
    while done < 200:
        for slot in range(6):
            claimed = narrow.take_synthesis(f"synth{slot}@host")
            if not isinstance(claimed, Refused):
                order.append(claimed.assignment.partition)
                narrow.synthesized(claimed.assignment)
        most = max(most, *narrow.ledger.client.hvals(narrow.ledger.keys.held), key=int)
        claimed = narrow.take_device("gpu0@host")
        narrow.hand_off(claimed.assignment)
        index = claimed.assignment.partition
        finalizer = narrow.claim_finalize("final@host", "burst", index, claimed.assignment.attempt)
        done += isinstance(narrow.finish(finalizer.assignment), o.Finished)
    assert order == list(range(200))
    assert int(most) == 100
    assert narrow.snapshot().consistent


def test_a_big_request_is_not_starved_by_small_ones(narrow):
    """It waits at the head of the line, and what becomes free is kept for it."""
    narrow.open_job(job_spec("small", 5, submitted_at=1.0, host_bytes=30, on_failure=OnFailure.CONTINUE))
    held = [narrow.take_synthesis(f"s{slot}@host").assignment for slot in range(3)]
    narrow.open_job(job_spec("big", 1, submitted_at=0.5, host_bytes=70))
    for freed in held:
        assert narrow.take_synthesis("s8@host") == Refused("claim_synthesis", Refusal.BUDGET_FULL)
        named = narrow.claim_synthesis("s9@host", "small", 3, 1)
        assert named == Refused("claim_synthesis", Refusal.BUDGET_FULL), "not even who is called by name"
        narrow.fail(freed, "broken", retry=False)
        if narrow.snapshot().held_bytes.get("host", 0) <= 30:
            break
    assert taken(narrow.take_synthesis("s8@host")) == ("big", 0)


def test_who_is_ahead_is_waited_for_only_where_room_is_short(narrow):
    narrow.open_job(job_spec("job", 4, host_bytes=20))
    assert isinstance(narrow.claim_synthesis("s0@host", "job", 3, 1), o.Claimed)
    assert isinstance(narrow.claim_synthesis("s1@elsewhere", "job", 1, 1), o.Claimed)


def test_what_can_never_fit_is_named(narrow):
    narrow.open_job(job_spec("huge", 1, submitted_at=1.0, host_bytes=101))
    narrow.open_job(job_spec("small", 1, submitted_at=2.0, host_bytes=10))
    assert taken(narrow.take_synthesis("s0@host")) == ("small", 0), "it holds nobody up"
    refused = narrow.take_synthesis("s1@host")
    assert (refused.reason, refused.place) == (Refusal.OVER_BUDGET, ("huge", 0))


# memory of the device


def test_slots_of_one_device_share_its_budget(store, driver):
    for slot in ("gpu0.a@host", "gpu0.b@host"):
        store.register_worker(device(slot, memory_bytes=100))
    driver.open("big", 2, submitted_at=1.0, device_bytes=70)
    driver.open("small", 1, submitted_at=2.0, device_bytes=20)
    driver.open("huge", 1, submitted_at=0.5, device_bytes=101)
    for name, index in (("big", 0), ("big", 1), ("small", 0), ("huge", 0)):
        driver.synthesized(index, job=name)
    first = store.take_device("gpu0.a@host")
    assert taken(first) == ("big", 0), "what this device can never hold is passed over"
    assert store.take_device("gpu0.b@host") == Refused("claim_device", Refusal.BUDGET_FULL)
    snapshot = store.snapshot()
    assert snapshot.consistent
    assert snapshot.document()["gpu_workers"][0]["memory"]["reserved_bytes"] == 70
    store.hand_off(first.assignment)
    assert taken(store.take_device("gpu0.b@host")) == ("big", 1)
    assert store.snapshot().held_bytes["host/host"] == 70


def test_a_dead_worker_gives_its_device_bytes_back(store, hasty, driver):
    store.register_worker(device("gpu0@host", memory_bytes=100))
    driver.open(total=1, device_bytes=90)
    driver.synthesized(0)
    Driver.claimed(hasty.take_device("gpu0@host"))
    assert store.snapshot().held_bytes == {"host/host": 90}
    assert [found.phase for found in store.reap()] == [Phase.SYNTH_DONE]
    assert not any(store.snapshot().held_bytes.values())
