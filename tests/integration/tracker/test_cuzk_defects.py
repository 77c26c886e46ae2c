"""What cuzk's status got wrong, one test each."""

import pytest

from proving.tracker import outcomes as o
from proving.tracker.outcomes import Refusal, Refused
from proving.tracker.records import JobState
from tests.support.tracker import Driver


def document(store):
    return store.snapshot().document()


def states(store, job: int = 0) -> list[str]:
    return [partition["state"] for partition in document(store)["pipelines"][job]["partitions"]]


def test_gpu_failure_is_not_shown_as_done(store, driver):
    driver.open(total=1)
    driver.register()
    store.fail(driver.on_device(0), "illegal memory access", retry=False)
    (job,) = document(store)["pipelines"]
    (partition,) = job["partitions"]
    assert (partition["state"], partition["error"]) == ("failed", "illegal memory access")
    assert job["partitions_done"] == 0


@pytest.mark.parametrize("phase", ["synthesizing", "on_device", "finalizing"])
def test_failed_job_does_not_stay_for_ever(store, hasty, driver, phase):
    driver.open(total=2)
    driver.register()
    if phase == "finalizing":
        driver.handed_off(0)
    store.fail(getattr(driver, phase)(0), "broken", retry=False)
    assert document(store)["counters"]["total_failed"] == 1
    assert hasty.reap() == [o.Settled("job", JobState.FAILED, "partition 0: broken")]
    store.retire_job("job")
    assert document(store)["pipelines"] == []
    assert document(store)["counters"]["failed_by_kind"] == {"groth16": 1}
    assert hasty.reap() == []


def test_active_syntheses_do_not_drift_up_after_failures(store, hasty, driver):
    for round_ in range(3):
        driver.open(f"failed-{round_}", 1)
        store.fail(driver.synthesizing(0, job=f"failed-{round_}"), "broken", retry=False)
        driver.open(f"lost-{round_}", 1)
        Driver(hasty).synthesizing(0, job=f"lost-{round_}")
        store.reap()
        driver.open(f"cancelled-{round_}", 1)
        running = driver.synthesizing(0, job=f"cancelled-{round_}")
        store.cancel_job(f"cancelled-{round_}")
        store.release(running)
    shown = document(store)
    assert shown["synthesis"]["active"] == 0
    assert shown["buffers"]["synth_in_flight"] == 0


def test_worker_is_not_left_proving_after_a_refused_start(store, driver):
    driver.open(total=2)
    driver.register()
    driver.synthesized(0)
    store.fail_job("job", None, "broken")
    assert store.claim_device("gpu0@host", "job", 0, 1) == Refused("claim_device", Refusal.CANCELLED)
    assert document(store)["gpu_workers"][0]["state"] == "idle"


def test_worker_is_not_left_proving_after_a_failed_start(store, driver):
    driver.open(total=1)
    driver.register()
    store.fail(driver.on_device(0), "out of memory", retry=True)
    (worker,) = document(store)["gpu_workers"]
    assert (worker["state"], worker["current_job"], worker["busy_secs"]) == ("idle", None, None)
    assert states(store) == ["synth_done"]


def test_gpu_failure_stops_the_job(store, driver):
    driver.open(total=3)
    driver.register()
    store.fail(driver.on_device(1), "broken", retry=False)
    assert states(store) == ["cancelled", "failed", "cancelled"]


def test_two_waiting_jobs_of_one_partition_stay_two(store, driver):
    driver.open("window-post-a", 1, proof_kind="window-post")
    driver.open("window-post-b", 1, proof_kind="window-post")
    driver.open("winning-post", 1, proof_kind="winning-post")
    names = [job["job_id"] for job in document(store)["pipelines"]]
    assert sorted(names) == ["window-post-a", "window-post-b", "winning-post"]
    driver.register()
    for name in names:
        driver.done(0, job=name)
        assert isinstance(store.assemble(name), o.Assembled)


def test_queue_depth_counts_waiting_partitions(store, driver):
    driver.open("one", 3)
    driver.open("two", 1)
    assert document(store)["counters"]["queue_depth"] == 4
    driver.synthesizing(0, job="one")
    assert document(store)["counters"]["queue_depth"] == 3
    driver.synthesized(1, job="one")
    assert document(store)["counters"]["queue_depth"] == 3
    driver.register()
    driver.on_device(1, job="one")
    assert document(store)["counters"]["queue_depth"] == 2


def test_cancel_cancels(store, driver):
    driver.open(total=3)
    driver.register()
    device = driver.on_device(0)
    synthesis = driver.synthesizing(1)
    store.cancel_job("job", "no longer wanted")
    assert states(store) == ["gpu", "synthesizing", "cancelled"]
    assert document(store)["pipelines"][0]["state"] == "cancelling"
    assert document(store)["gpu_workers"][0]["state"] == "proving"
    assert isinstance(store.heartbeat(device), o.CancelRequested)
    store.release(device)
    store.release(synthesis)
    assert states(store) == ["cancelled", "cancelled", "cancelled"]
    assert document(store)["pipelines"][0]["state"] == "cancelled"
    assert document(store)["counters"]["total_cancelled"] == 1


def test_job_names_keep_their_distinguishing_tail(store, driver):
    for task in (4711, 4712):
        driver.open(f"ps-snap-1000-1-{task}", 1)
    shown = [job["job_id"] for job in document(store)["pipelines"]]
    assert shown == ["ps-snap-1000-1-4711", "ps-snap-1000-1-4712"]


def test_same_name_again_neither_mixes_nor_replaces(store, driver):
    spec = driver.open(total=2)
    driver.register()
    driver.done(0)
    assert store.open_job(spec) == Refused("open_job", Refusal.ALREADY_OPEN)
    assert states(store) == ["done", "pending"]


def test_single_partition_jobs_are_shown(store, driver):
    driver.open("winning-post-1", 1, proof_kind="winning-post")
    assert document(store)["pipelines"][0]["total_partitions"] == 1


def test_status_needs_nobody_to_read_it(store, hasty, driver):
    """cuzk cleans up only while somebody polls; here a reading writes nothing at all."""
    driver.open(total=1)
    store.cancel_job("job")
    before = store.ledger.client.dbsize(), store.rev()
    for _ in range(3):
        hasty.snapshot()
    assert (store.ledger.client.dbsize(), store.rev()) == before
