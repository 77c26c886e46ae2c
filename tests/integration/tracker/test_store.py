"""The store's answers on a real server, call by call."""

import pytest

from proving.tracker import outcomes as o
from proving.tracker.outcomes import Refusal, Refused
from proving.tracker.records import (
    Assignment,
    JobState,
    PartitionStart,
    Phase,
    WorkerKind,
    WorkerSpec,
)
from proving.tracker.store import Store
from tests.support.tracker import device, job_spec


def refusals(store: Store) -> dict[str, int]:
    return {k.decode(): int(v) for k, v in store.ledger.client.hgetall(store.ledger.keys.refusals).items()}


def test_one_partition_from_end_to_end(store, driver):
    driver.open(total=1, proof_kind="snap-update")
    driver.register()
    synthesis = store.claim_synthesis("synth0@host", "job", 0, 1)
    assert synthesis.source_attempt == 1
    assert store.synthesized(synthesis.assignment) == o.Applied(Phase.SYNTH_DONE, JobState.RUNNING)
    claimed = store.claim_device("gpu0@host", "job", 0, 1)
    assert claimed.assignment.epoch > synthesis.assignment.epoch
    beat = store.heartbeat(claimed.assignment)
    assert beat.lease_expires_at >= claimed.lease_expires_at
    assert store.hand_off(claimed.assignment) == o.Applied(Phase.FINALIZING, JobState.RUNNING)
    finalizer = store.claim_finalize("final0@host", "job", 0, 1)
    assert store.finish(finalizer.assignment) == o.Finished(0, JobState.RUNNING)
    assert isinstance(store.assemble("job"), o.Assembled)
    assert store.complete_job("job", JobState.DONE) == o.Completed(JobState.DONE)
    assert store.retire_job("job") == o.Retired("job")
    assert store.job("job") is None
    assert store.partition("job", 0) is None
    counters = store.snapshot().document()["counters"]
    assert counters["completed_by_kind"] == {"snap-update": 1}
    assert counters["stale_writes_total"] == 0
    assert refusals(store) == {}


def test_claim_says_which_files_to_read(store, driver):
    driver.open(total=1)
    driver.register()
    store.lose(driver.on_device(0))
    claimed = store.claim_device("gpu0@host", "job", 0, 2)
    assert (claimed.assignment.attempt, claimed.source_attempt) == (2, 1)
    store.hand_off(claimed.assignment)
    store.lose(driver.finalizing(0, attempt=2))
    finalizer = store.claim_finalize("final0@host", "job", 0, 3)
    assert (finalizer.assignment.attempt, finalizer.source_attempt) == (3, 2)
    assert finalizer.evaluations_attempt == 1


def test_message_that_comes_twice_is_claimed_once(store, driver):
    driver.open(total=1)
    driver.register()
    driver.register("gpu1@host")
    driver.synthesized(0)
    assert isinstance(store.claim_device("gpu0@host", "job", 0, 1), o.Claimed)
    assert store.claim_device("gpu1@host", "job", 0, 1) == Refused("claim_device", Refusal.TAKEN)
    assert store.claim_device("gpu0@host", "job", 0, 1) == Refused("claim_device", Refusal.TAKEN)
    assert refusals(store) == {"claim_device:taken": 2}
    assert store.snapshot().document()["counters"]["stale_writes_total"] == 0


@pytest.mark.parametrize("operation", ["synthesized", "hand_off", "finish", "release", "heartbeat"])
def test_nobody_knows_the_partition(store, operation):
    nobody = Assignment("gpu0@host", "job", 0, 1, 1)
    assert getattr(store, operation)(nobody) == Refused(operation, Refusal.UNKNOWN)
    assert store.snapshot().document()["counters"]["stale_writes"] == {operation: 1}


def test_job_opens_once(store, driver):
    spec = driver.open()
    rev = store.rev()
    assert store.open_job(spec) == Refused("open_job", Refusal.ALREADY_OPEN)
    assert store.rev() == rev


def test_job_opens_where_durable_records_left_it(store, driver):
    spec = job_spec(total=3)
    starts = [PartitionStart(0, Phase.DONE, attempt=2), PartitionStart(2, attempt=3)]
    assert store.open_job(spec, starts) == o.Opened("job")
    partitions = [(p.phase, p.attempt) for p in store.snapshot().jobs[0].partitions]
    assert partitions == [(Phase.DONE, 2), (Phase.PENDING, 1), (Phase.PENDING, 3)]
    assert store.job("job").remaining == 2
    assert store.snapshot().consistent
    with pytest.raises(ValueError, match="cannot be opened as gpu"):
        store.open_job(job_spec("other"), [PartitionStart(0, Phase.GPU)])


def test_epochs_grow_with_each_claim_and_survive_the_job(store, driver):
    driver.register()
    epochs = []
    for _ in range(2):
        driver.open(total=1)
        epochs += [driver.synthesizing(0).epoch]
        store.cancel_job("job")
        store.release(Assignment("synth-job-0@host", "job", 0, 1, epochs[-1]))
        assert store.retire_job("job") == o.Retired("job")
    assert epochs[1] > epochs[0]


def test_assignment_of_an_earlier_life_of_the_job_is_foreign(store, driver):
    """Worker, job, partition and attempt are all the same again; the epoch is not."""
    driver.open(total=1)
    old = driver.synthesizing(0)
    store.cancel_job("job")
    store.release(old)
    store.retire_job("job")
    driver.open(total=1)
    new = driver.synthesizing(0)
    assert old.token() != new.token()
    assert store.synthesized(old) == Refused("synthesized", Refusal.NOT_OWNER)
    assert isinstance(store.synthesized(new), o.Applied)


def test_rev_grows_with_each_change_only(store, driver):
    driver.open(total=1)
    before = store.rev()
    assert store.snapshot().rev == before
    store.claim_device("gpu0@host", "job", 0, 1)
    assert store.rev() == before
    driver.synthesizing(0)
    assert store.rev() == before + 1


# jobs


def test_cancel_tells_the_running_by_heartbeat(store, driver):
    driver.open(total=2)
    running = driver.synthesizing(0)
    assert store.cancel_job("job", "no longer wanted") == o.Stopping(JobState.CANCELLING, 1)
    assert store.partition("job", 1).phase is Phase.CANCELLED
    assert isinstance(store.heartbeat(running), o.CancelRequested)
    assert store.claim_synthesis("synth9@host", "job", 1, 1) == Refused("claim_synthesis", Refusal.CANCELLED)
    assert store.cancel_job("job") == Refused("cancel_job", Refusal.CANCELLED)
    assert store.retire_job("job") == Refused("retire_job", Refusal.STILL_LIVE)
    assert store.release(running) == o.Stopped(JobState.CANCELLED)
    assert store.job("job").state is JobState.CANCELLED


def test_failure_cancels_the_others(store, driver):
    driver.open(total=16)
    driver.register()
    running = driver.on_device(0)
    fifth = driver.synthesizing(5)
    assert store.fail(fifth, "assertion in line 7", retry=False) == o.Failed(
        "assertion in line 7", JobState.CANCELLING
    )
    assert store.job("job").error == "partition 5: assertion in line 7"
    assert store.hand_off(running) == o.Stopped(JobState.FAILED)
    (job,) = store.snapshot().jobs
    assert [p.phase for p in job.partitions].count(Phase.CANCELLED) == 15
    assert store.snapshot().consistent
    assert store.assemble("job") == Refused("assemble", Refusal.FAILED)


def test_failed_job_by_decree(store, driver):
    driver.open(total=2)
    assert store.fail_job("job", 1, "input 1 is not readable") == o.Stopping(JobState.FAILED, 0)
    assert [p.phase for p in store.snapshot().jobs[0].partitions] == [Phase.CANCELLED, Phase.FAILED]
    assert store.partition("job", 1).error == "input 1 is not readable"


def test_retry_waits_for_the_device_again(store, driver):
    driver.open(total=1)
    driver.register()
    assert store.fail(driver.on_device(0), "out of memory", retry=True) == o.Retried(2, Phase.SYNTH_DONE)
    assert store.waiting(Phase.SYNTH_DONE)[0].attempt == 2


def test_one_caller_assembles(store, driver):
    driver.open(total=1)
    driver.register()
    assert store.assemble("job") == Refused("assemble", Refusal.NOT_READY)
    driver.done(0)
    assert isinstance(store.assemble("job"), o.Assembled)
    assert store.assemble("job") == Refused("assemble", Refusal.ASSEMBLING)
    assert store.cancel_job("job") == Refused("cancel_job", Refusal.ASSEMBLING)
    assert store.complete_job("job", JobState.DONE) == o.Completed(JobState.DONE)
    assert store.complete_job("job", JobState.FAILED) == Refused("complete_job", Refusal.ALREADY_DONE)
    assert store.assemble("job") == Refused("assemble", Refusal.ALREADY_DONE)


# budget


def test_budget_is_held_and_given_back(valkey):
    store = Store(valkey, host_budget_bytes=100)
    store.open_job(job_spec(total=3, host_bytes=50, evaluation_bytes=45))
    store.register_worker(device())
    first = store.claim_synthesis("s0@host", "job", 0, 1).assignment
    store.claim_synthesis("s1@host", "job", 1, 1)
    assert store.claim_synthesis("s2@host", "job", 2, 1) == Refused("claim_synthesis", Refusal.BUDGET_FULL)
    assert store.claim_synthesis("s2@elsewhere", "job", 2, 1).assignment.partition == 2
    store.synthesized(first)
    store.hand_off(store.claim_device("gpu0@host", "job", 0, 1).assignment)
    snapshot = store.snapshot()
    assert snapshot.held_bytes == {"host": 55, "elsewhere": 50}
    assert snapshot.consistent


def test_request_beyond_the_whole_budget_is_told_so(valkey):
    store = Store(valkey, host_budget_bytes=100)
    store.open_job(job_spec(host_bytes=101))
    assert store.claim_synthesis("s0@host", "job", 0, 1) == Refused("claim_synthesis", Refusal.OVER_BUDGET)
    assert not Refused("claim_synthesis", Refusal.OVER_BUDGET).retryable


# order


def test_waiting_is_by_priority_then_age_then_index(store, driver):
    driver.open("young", 2, submitted_at=2_000.0)
    driver.open("old", 2, submitted_at=1_000.5)
    driver.open("urgent", 1, priority=4, submitted_at=9_000.0)
    driver.open("lazy", 1, priority=1, submitted_at=1.0)
    order = [(w.job_id, w.index) for w in store.waiting(Phase.PENDING)]
    assert order == [("urgent", 0), ("old", 0), ("old", 1), ("young", 0), ("young", 1), ("lazy", 0)]
    driver.synthesizing(0, job="urgent")
    assert store.waiting(Phase.PENDING, limit=1)[0].job_id == "old"


def test_what_was_handed_off_waits_for_a_finalizer(store, driver):
    driver.open(total=1)
    driver.register()
    driver.handed_off(0)
    (waiting,) = store.waiting(Phase.FINALIZING)
    assert (waiting.index, waiting.attempt) == (0, 1)
    driver.finalizing(0)
    assert store.waiting(Phase.FINALIZING) == []


# workers


def test_device_workers_keep_their_numbers(store, driver):
    assert driver.register("gpu0@host", pid=1) == 0
    assert driver.register("gpu1@host", pid=2) == 1
    assert isinstance(store.forget_worker("gpu0@host"), o.Forgotten)
    assert driver.register("gpu0@host", pid=3) == 0


def test_new_life_of_a_worker_gives_back_what_the_old_one_held(store, driver):
    driver.open(total=1)
    driver.register(pid=1)
    old = driver.on_device(0)
    assert store.register_worker(device(pid=1)) == o.Registered(0)
    assert isinstance(store.heartbeat(old), o.Beat)
    reborn = store.register_worker(device(pid=2))
    assert reborn == o.Registered(0, (o.Reaped("job", 0, Phase.GPU, Phase.SYNTH_DONE, 2),))
    assert store.hand_off(old) == Refused("hand_off", Refusal.SUPERSEDED)
    assert store.snapshot().document()["gpu_workers"][0]["state"] == "idle"


def test_worker_that_goes_gives_back_what_it_held(store, driver):
    driver.open(total=1)
    driver.register()
    driver.on_device(0)
    gone = store.forget_worker("gpu0@host")
    assert gone == o.Forgotten((o.Reaped("job", 0, Phase.GPU, Phase.SYNTH_DONE, 2, released=True),))
    assert store.partition("job", 0).max_attempts == 4
    assert store.snapshot().workers[0].record.spec.kind is WorkerKind.SYNTHESIS
    assert store.forget_worker("gpu0@host") == Refused("forget_worker", Refusal.UNKNOWN)


def test_device_worker_must_register(store, driver):
    driver.open(total=1)
    driver.synthesized(0)
    assert store.claim_device("gpu7@host", "job", 0, 1) == Refused("claim_device", Refusal.UNKNOWN)
    store.register_worker(WorkerSpec("synth@host", WorkerKind.SYNTHESIS, "host"))
    assert store.claim_device("synth@host", "job", 0, 1) == Refused("claim_device", Refusal.WRONG_KIND)


def test_one_slot_holds_one_assignment(store, driver):
    driver.open(total=2)
    driver.register()
    driver.synthesized(1)
    driver.on_device(0)
    assert store.claim_device("gpu0@host", "job", 1, 1) == Refused("claim_device", Refusal.WORKER_BUSY)


def test_draining_worker_ends_what_it_has_and_takes_nothing(store, driver):
    driver.open(total=2)
    driver.register()
    driver.synthesized(1)
    running = driver.on_device(0)
    assert store.drain_worker("gpu0@host") == o.Seen(draining=True)
    assert isinstance(store.hand_off(running), o.Applied)
    assert store.claim_device("gpu0@host", "job", 1, 1) == Refused("claim_device", Refusal.DRAINING)


def test_sign_of_life_of_a_stranger_asks_it_to_register(store):
    assert store.worker_seen("gpu0@host") == Refused("worker_seen", Refusal.UNKNOWN)


def test_transitions_are_told_in_a_capped_stream(store, driver):
    driver.open(total=1)
    driver.register()
    driver.done(0)
    told = [(f[b"from"], f[b"to"]) for _, f in store.ledger.client.xrange(store.ledger.keys.events)]
    assert told == [
        (b"pending", b"synthesizing"),
        (b"synthesizing", b"synth_done"),
        (b"synth_done", b"gpu"),
        (b"gpu", b"finalizing"),
        (b"finalizing", b"done"),
    ]


def test_deployments_do_not_see_each_other(valkey, store, driver):
    driver.open(total=1)
    other = Store(valkey, "other")
    assert other.job("job") is None
    assert other.snapshot().jobs == ()
    assert all(key.startswith(b"{cuzk:main}:") for key in valkey.scan_iter())
