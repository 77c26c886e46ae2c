"""The real store beside a small model of it, under any sequence of calls that Hypothesis can think of."""

from dataclasses import dataclass

import redis
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from proving.tracker import outcomes as o
from proving.tracker.records import Assignment, JobState
from proving.tracker.store import Store
from tests.support.tracker import device, job_spec

TOTAL = 3
ATTEMPTS = 2
WAITS_FOR = {"synthesis": "pending", "device": "synth_done", "finalize": "finalizing"}
RUNS_IN = {"synthesis": "synthesizing", "device": "gpu", "finalize": "finalizing"}
WORKERS = {"synthesis": ["synth0@host"], "device": ["gpu0@host", "gpu1@host"], "finalize": ["final0@host"]}
ONWARD = {"synthesizing": "synth_done", "gpu": "finalizing", "finalizing": "done"}
STEP = {"synthesized": "synthesizing", "hand_off": "gpu", "finish": "finalizing"}
BACK = {"synthesizing": "pending", "gpu": "synth_done", "finalizing": "finalizing"}
ENDS = ("done", "failed", "cancelled")


@dataclass
class Place:
    """A partition, as the model knows it."""

    phase: str = "pending"
    attempt: int = 1
    holder: Assignment | None = None
    expired: bool = False


class Model:
    def __init__(self) -> None:
        self.places = [Place() for _ in range(TOTAL)]
        self.stopping = False
        self.assembled = 0

    @property
    def held(self) -> dict[str, Assignment]:
        return {place.holder.worker: place.holder for place in self.places if place.holder}

    def may_claim(self, kind: str, worker: str, index: int, attempt: int) -> bool:
        place = self.places[index]
        fits = (place.phase, place.attempt, place.holder) == (WAITS_FOR[kind], attempt, None)
        return fits and not self.stopping and worker not in self.held

    def leave(self, place: Place, phase: str) -> None:
        place.holder, place.expired = None, False
        place.phase = "cancelled" if self.stopping and phase not in ENDS else phase
        if phase == "failed":
            self.stop()

    def again(self, place: Place, back: str) -> None:
        if self.stopping:
            self.leave(place, "cancelled")
        elif place.attempt == ATTEMPTS:
            self.leave(place, "failed")
        else:
            place.attempt += 1
            self.leave(place, back)

    def stop(self) -> None:
        self.stopping = True
        for place in self.places:
            if place.holder is None and place.phase not in ENDS:
                place.phase = "cancelled"


class TrackerMachine(RuleBasedStateMachine):
    def __init__(self, client: redis.Redis) -> None:
        super().__init__()
        client.flushall()
        self.store = Store(client, lease_seconds=60.0)
        self.hasty = Store(client, lease_seconds=0.0)
        self.model = Model()
        self.issued: list[Assignment] = []
        self.pid = 1

    @initialize()
    def begin(self) -> None:
        self.store.open_job(job_spec(total=TOTAL, max_attempts=ATTEMPTS))
        for name in WORKERS["device"]:
            self.store.register_worker(device(name, self.pid))

    def any_assignment(self, data: st.DataObject) -> Assignment | None:
        return data.draw(st.sampled_from(self.issued)) if self.issued else None

    @rule(data=st.data(), kind=st.sampled_from(list(WAITS_FOR)), index=st.integers(0, TOTAL - 1))
    def claim(self, data: st.DataObject, kind: str, index: int) -> None:
        worker = data.draw(st.sampled_from(WORKERS[kind]))
        attempt = data.draw(st.sampled_from([self.model.places[index].attempt, 1, 2]))
        allowed = self.model.may_claim(kind, worker, index, attempt)
        outcome = getattr(self.store, f"claim_{kind}")(worker, "job", index, attempt)
        assert isinstance(outcome, o.Claimed if allowed else o.Refused), outcome
        if isinstance(outcome, o.Claimed):
            assert all(outcome.assignment.epoch > old.epoch for old in self.issued), "epochs grow"
            self.issued.append(outcome.assignment)
            place = self.model.places[index]
            place.phase, place.holder = RUNS_IN[kind], outcome.assignment

    @rule(data=st.data(), operation=st.sampled_from(list(STEP)))
    def act(self, data: st.DataObject, operation: str) -> None:
        assignment = self.any_assignment(data)
        if assignment is None:
            return
        place = self.model.places[assignment.partition]
        allowed = place.holder == assignment and place.phase == STEP[operation]
        outcome = getattr(self.store, operation)(assignment)
        assert isinstance(outcome, o.Refused) != allowed, outcome
        if allowed:
            self.model.leave(place, ONWARD[place.phase])
        if operation == "finish" and allowed:
            assert outcome.remaining == sum(place.phase != "done" for place in self.model.places)

    @rule(data=st.data(), how=st.sampled_from(["release", "retry", "fail"]))
    def give_up(self, data: st.DataObject, how: str) -> None:
        assignment = self.any_assignment(data)
        if assignment is None:
            return
        place = self.model.places[assignment.partition]
        allowed = place.holder == assignment
        if how == "release":
            outcome = self.store.release(assignment)
        else:
            outcome = self.store.fail(assignment, "broken", retry=how == "retry")
        assert isinstance(outcome, o.Refused) != allowed, outcome
        if not allowed:
            return
        if how == "fail":
            self.model.leave(place, "failed")
        else:
            again = "pending" if how == "retry" and place.phase == "finalizing" else BACK[place.phase]
            self.model.again(place, again)

    @rule(data=st.data(), late=st.booleans())
    def heartbeat(self, data: st.DataObject, *, late: bool) -> None:
        """A late one stands for a clock that has moved on past the lease."""
        assignment = self.any_assignment(data)
        if assignment is None:
            return
        place = self.model.places[assignment.partition]
        outcome = (self.hasty if late else self.store).heartbeat(assignment)
        if place.holder != assignment:
            assert isinstance(outcome, o.Refused), outcome
        else:
            assert isinstance(outcome, o.CancelRequested if self.model.stopping else o.Beat), outcome
            place.expired = late

    @rule()
    def reap(self) -> None:
        expired = {i for i, place in enumerate(self.model.places) if place.expired}
        reaped = self.store.reap()
        assert {found.index for found in reaped} == expired
        for found in sorted(reaped, key=lambda found: found.index):
            place = self.model.places[found.index]
            self.model.again(place, BACK[place.phase])

    @rule(name=st.sampled_from(WORKERS["device"]))
    def restart(self, name: str) -> None:
        self.pid += 1
        held = self.model.held.get(name)
        registered = self.store.register_worker(device(name, self.pid))
        assert len(registered.lost) == int(held is not None)
        if held is not None:
            place = self.model.places[held.partition]
            self.model.again(place, BACK[place.phase])

    @rule()
    def cancel(self) -> None:
        running = not self.model.stopping and not self.model.assembled
        outcome = self.store.cancel_job("job")
        assert isinstance(outcome, o.Stopping if running else o.Refused), outcome
        if running:
            self.model.stop()

    @rule()
    def assemble(self) -> None:
        complete = all(place.phase == "done" for place in self.model.places)
        allowed = complete and not self.model.stopping and not self.model.assembled
        outcome = self.store.assemble("job")
        assert isinstance(outcome, o.Assembled) == allowed, outcome
        self.model.assembled += allowed

    @invariant()
    def store_and_model_agree(self) -> None:
        snapshot = self.store.snapshot()
        if not snapshot.jobs:
            return
        assert snapshot.violations == ()
        (job,) = snapshot.jobs
        known = [(place.phase, place.attempt, place.holder) for place in self.model.places]
        assert [(p.phase, p.attempt, p.assignment) for p in job.partitions] == known
        busy = {w.record.spec.name: w.record.assignment for w in snapshot.workers if w.record.assignment}
        assert busy == self.model.held
        assert job.record.remaining == sum(place.phase != "done" for place in self.model.places)
        assert self.model.assembled <= 1
        stopped = self.model.stopping and not self.model.held
        assert (job.record.state in {JobState.CANCELLED, JobState.FAILED}) == stopped


def test_store_does_what_the_model_does(valkey):
    run_state_machine_as_test(
        lambda: TrackerMachine(valkey),
        settings=settings(
            max_examples=25,
            stateful_step_count=30,
            deadline=None,
            suppress_health_check=[HealthCheck.too_slow],
        ),
    )
