"""The reaper on a real server. `hasty` writes leases that have run out as soon as they are given."""

from proving.tracker import outcomes as o
from proving.tracker.outcomes import Refusal, Refused
from proving.tracker.records import JobState, Phase
from tests.support.tracker import Driver


def test_nothing_to_do(store, driver):
    driver.open(total=2)
    driver.register()
    driver.on_device(0)
    rev = store.rev()
    assert store.reap() == []
    assert store.rev() == rev


def test_lost_device_phase_waits_for_the_device_again(store, hasty, driver):
    driver.open(total=1)
    driver.register()
    driver.synthesized(0)
    lost = Driver(hasty).on_device(0)
    assert store.reap() == [o.Reaped("job", 0, Phase.GPU, Phase.SYNTH_DONE, 2)]
    assert store.reap() == []
    assert store.heartbeat(lost) == Refused("heartbeat", Refusal.SUPERSEDED)
    assert store.hand_off(lost) == Refused("hand_off", Refusal.SUPERSEDED)
    again = driver.on_device(0, attempt=2)
    assert isinstance(store.hand_off(again), o.Applied)
    document = store.snapshot().document()
    (past,) = document["pipelines"][0]["partitions"][0]["history"]
    assert (past["attempt"], past["outcome"], past["phase"], past["worker"], past["error"]) == (
        *(1, "lost", "gpu"),
        *("gpu0@host", "lost"),
    )
    assert [spell[5] for spell in document["gpu_workers"][0]["recent"]] == ["lost", "done"]


def test_lost_synthesis_and_finalizer(store, hasty, driver):
    driver.open(total=2)
    driver.register()
    driver.handed_off(1)
    Driver(hasty).synthesizing(0)
    Driver(hasty).finalizing(1)
    assert sorted(store.reap(), key=lambda reaped: reaped.index) == [
        o.Reaped("job", 0, Phase.SYNTHESIZING, Phase.PENDING, 2),
        o.Reaped("job", 1, Phase.FINALIZING, Phase.FINALIZING, 2),
    ]
    assert store.snapshot().consistent


def test_heartbeat_saves_from_the_reaper(store, hasty, driver):
    driver.open(total=1)
    slow = Driver(hasty).synthesizing(0)
    assert isinstance(store.heartbeat(slow), o.Beat)
    assert store.reap() == []
    assert isinstance(store.synthesized(slow), o.Applied)


def test_reap_with_an_expiry_that_has_moved_changes_nothing(store, hasty, driver):
    """The reaper read the lease, the worker beat, the reaper acts: the worker keeps its partition."""
    driver.open(total=1)
    slow = Driver(hasty).synthesizing(0)
    read = store.partition("job", 0).lease_expires_at
    store.heartbeat(slow)
    assert store.lose(slow, read) == Refused("reap", Refusal.NOT_EXPIRED)
    assert store.partition("job", 0).assignment == slow


def test_two_reapers_take_it_back_once(store, hasty, driver):
    driver.open(total=1)
    lost = Driver(hasty).synthesizing(0)
    read = store.partition("job", 0).lease_expires_at
    assert isinstance(store.lose(lost, read), o.Reaped)
    assert store.lose(lost, read) == Refused("reap", Refusal.SUPERSEDED)
    assert store.partition("job", 0).attempt == 2


def test_attempts_end_with_the_count_of_losses(store, hasty, driver):
    driver.open(total=2, max_attempts=3)
    driver.register()
    for attempt in (1, 2, 3):
        Driver(hasty).on_device(0, attempt=attempt)
        (reaped,) = store.reap()
    assert reaped == o.Exhausted("job", 0, Phase.GPU, "lost 3 times", JobState.FAILED)
    assert store.partition("job", 1).phase is Phase.CANCELLED
    assert store.claim_device("gpu0@host", "job", 0, 3) == Refused("claim_device", Refusal.FAILED)


def test_lost_work_of_a_cancelled_job_is_dropped(store, hasty, driver):
    driver.open(total=1)
    Driver(hasty).synthesizing(0)
    assert store.cancel_job("job") == o.Stopping(JobState.CANCELLING, 1)
    assert store.reap() == [o.Dropped("job", 0, Phase.SYNTHESIZING, JobState.CANCELLED)]


def test_deadline(store, driver):
    driver.open("late", 2, deadline=1.0)
    driver.open("early", 1, deadline=9e9)
    running = driver.synthesizing(0, job="late")
    assert store.reap() == [o.Expired("late", JobState.CANCELLING)]
    assert store.reap() == []
    heard = store.heartbeat(running)
    assert isinstance(heard, o.CancelRequested)
    assert heard.reason == "deadline passed"
    assert store.release(running) == o.Stopped(JobState.FAILED)
    assert store.job("late").error == "deadline passed"


def test_success_beats_the_deadline(store, driver):
    driver.open(total=1, deadline=1.0)
    driver.register()
    driver.handed_off(0)
    finalizer = driver.finalizing(0)
    assert store.reap() == [o.Expired("job", JobState.CANCELLING)]
    assert store.finish(finalizer) == o.Finished(0, JobState.RUNNING)
    assert store.reap() == []
    assert isinstance(store.assemble("job"), o.Assembled)


def test_lost_assembly_is_for_the_next_caller(store, hasty, driver):
    driver.open(total=1)
    driver.register()
    driver.done(0)
    assert isinstance(hasty.assemble("job"), o.Assembled)
    assert store.reap() == [o.Reopened("job")]
    assert isinstance(store.assemble("job"), o.Assembled)
    assert store.reap() == []


def test_ended_jobs_are_named_until_they_are_retired(store, hasty, driver):
    driver.open(total=1)
    store.cancel_job("job", "no longer wanted")
    assert store.reap() == []
    assert hasty.reap() == [o.Settled("job", JobState.CANCELLED, "no longer wanted")]
    assert isinstance(store.retire_job("job"), o.Retired)
    assert hasty.reap() == []


def test_workers_that_are_not_seen_leave_unless_they_hold_something(store, hasty, driver):
    driver.open(total=1)
    driver.register("gpu0@host")
    driver.register("gpu1@host")
    driver.on_device(0, worker="gpu1@host")
    assert store.reap() == []
    assert len(store.snapshot().workers) == 3
    hasty.reap()
    assert [worker.record.spec.name for worker in store.snapshot().workers] == ["gpu1@host"]
