"""The real store beside a small model of it, under any sequence of steps, deaths and delays.

Actors take messages, claim, beat, do the next step and send the next message; any of them may die between any
two of those, and come back. Messages come twice, in any order, late or never. Whoever has ever held something
may call again at any time. The clock moves on by leaps. In the end, honest workers bring every job to an end.
"""

from contextlib import ExitStack
from unittest import mock

import pytest
import redis
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from proving.tracker import outcomes as o
from proving.tracker.reading import Reader
from proving.tracker.records import Assignment, JobState
from proving.tracker.store import Store
from proving.tracker.transaction import Transaction
from tests.support import model as m
from tests.support.blind_store import BlindStore
from tests.support.tracker import device, job_spec

WORKERS = {"synthesis": ["synth0@host"], "device": ["gpu0@host", "gpu1@host"], "finalize": ["final0@host"]}
KIND_OF = {name: kind for kind, names in WORKERS.items() for name in names}
NEXT = {"synthesis": "synthesized", "device": "hand_off", "finalize": "finish"}
TELLS = {"pending": "synthesis", "synth_done": "device", "finalizing": "finalize"}
LEAP = 25.0
FOREVER = 9e9

Message = tuple[str, int, int]


class TrackerMachine(RuleBasedStateMachine):
    def __init__(self, client: redis.Redis) -> None:
        super().__init__()
        client.flushall()
        self.model = m.Model()
        self.patches = ExitStack()
        for clock in (Transaction, Reader):
            real = clock.now
            moved = mock.patch.object(clock, "now", lambda this, real=real: real(this) + self.model.now)
            self.patches.enter_context(moved)
        self.store = Store(client, lease_seconds=m.LEASE, forget_after_seconds=FOREVER)
        self.messages: list[Message] = []
        self.calls_for_assembly = 0
        self.hands: dict[str, Assignment] = {}
        self.issued: list[Assignment] = []
        self.lives = dict.fromkeys(WORKERS["device"], 1)
        self.ends: dict[int, tuple[str, int]] = {}

    def teardown(self) -> None:
        try:
            self.come_to_an_end()
        finally:
            self.patches.close()

    @initialize(leisure=st.integers(0, 3))
    def begin(self, leisure: int) -> None:
        self.model.deadline = FOREVER if leisure else m.DEADLINE
        deadline = self.store.ledger.reader.now() + self.model.deadline
        spec = {"max_attempts": m.ATTEMPTS, "free_releases": m.FREE_RELEASES, "deadline": deadline}
        self.store.open_job(job_spec(total=m.TOTAL, **spec))
        for name in WORKERS["device"]:
            self.store.register_worker(device(name, 1))
        self.messages = [("synthesis", index, 1) for index in range(m.TOTAL)]

    # actors

    @rule(steps=st.integers(1, 2))
    def proceed(self, steps: int) -> None:
        """Things go as they should for a while."""
        for worker in sorted(KIND_OF) * steps:
            if worker in self.hands:
                self.next_step(worker, dies=False)
            elif mine := [message for message in self.messages if message[0] == KIND_OF[worker]]:
                self.take(worker, mine[0], twice=False)

    @rule(data=st.data(), worker=st.sampled_from(sorted(KIND_OF)), twice=st.booleans())
    def take_message(self, data: st.DataObject, worker: str, *, twice: bool) -> None:
        """Messages come in any order, and `twice` leaves this one where it is, to come again."""
        mine = [message for message in self.messages if message[0] == KIND_OF[worker]]
        if mine and worker not in self.hands:
            self.take(worker, data.draw(st.sampled_from(mine)), twice=twice)

    def take(self, worker: str, message: Message, *, twice: bool) -> None:
        """Synthesizers and devices take the first in line, whatever the message names."""
        if not twice:
            self.messages.remove(message)
        kind, index, attempt = message
        if kind == "finalize":
            self.claim(worker, index, attempt)
            return
        expected = self.model.first(kind) if worker not in self.model.held else None
        outcome = getattr(self.store, f"take_{kind}")(worker)
        if expected is None:
            assert isinstance(outcome, o.Refused), outcome
        else:
            self.took(worker, outcome)
            assert outcome.assignment.partition == expected

    @rule(data=st.data(), worker=st.sampled_from(sorted(KIND_OF)), index=st.integers(0, m.TOTAL - 1))
    def claim_by_name(self, data: st.DataObject, worker: str, index: int) -> None:
        self.claim(worker, index, data.draw(st.sampled_from([self.model.places[index].attempt, 1, 2])))

    def claim(self, worker: str, index: int, attempt: int) -> None:
        kind = KIND_OF[worker]
        allowed = self.model.may_claim(kind, worker, index, attempt)
        outcome = getattr(self.store, f"claim_{kind}")(worker, "job", index, attempt)
        assert isinstance(outcome, o.Claimed if allowed else o.Refused), outcome
        if allowed:
            self.took(worker, outcome)

    def took(self, worker: str, outcome: object) -> None:
        assert isinstance(outcome, o.Claimed), outcome
        assignment = outcome.assignment
        assert all(assignment.epoch > old.epoch for old in self.issued), "epochs grow"
        self.issued.append(assignment)
        self.hands[worker] = assignment
        self.model.claim(KIND_OF[worker], assignment)

    @rule(worker=st.sampled_from(sorted(KIND_OF)), dies=st.booleans())
    def next_step(self, worker: str, *, dies: bool) -> None:
        """The step is taken and the next message sent, unless the actor dies between the two."""
        if worker not in self.hands:
            return
        assignment = self.hands.pop(worker)
        outcome = self.call(NEXT[KIND_OF[worker]], assignment)
        if not dies:
            self.tell(assignment.partition, outcome)

    @rule(
        worker=st.sampled_from(sorted(KIND_OF)),
        how=st.sampled_from(["release", "retry", "release", "retry", "fail"]),
    )
    def let_go(self, worker: str, how: str) -> None:
        if worker in self.hands:
            assignment = self.hands.pop(worker)
            self.tell(assignment.partition, self.call(how, assignment))

    @rule(worker=st.sampled_from(sorted(KIND_OF)))
    def die(self, worker: str) -> None:
        """The actor forgets everything; what it held stays held until somebody finds out."""
        self.hands.pop(worker, None)

    @rule(data=st.data(), operation=st.sampled_from([*m.STEP, "release", "retry", "fail", "finish"]))
    def ghost(self, data: st.DataObject, operation: str) -> None:
        """Somebody who holds, or once held, a partition calls: late, twice, or out of turn."""
        if self.issued:
            assignment = data.draw(st.sampled_from(self.issued))
            if self.model.places[assignment.partition].holder != assignment or operation not in m.STEP:
                self.call(operation, assignment)

    @rule(data=st.data())
    def beat(self, data: st.DataObject) -> None:
        if not self.issued:
            return
        assignment = data.draw(st.sampled_from(self.issued))
        place = self.model.places[assignment.partition]
        outcome = self.store.heartbeat(assignment)
        if place.holder != assignment:
            assert isinstance(outcome, o.Refused), outcome
        else:
            assert isinstance(outcome, o.CancelRequested if self.model.stopping else o.Beat), outcome
            place.lease = self.model.now + m.LEASE

    def call(self, operation: str, assignment: Assignment) -> object:
        """One call of a holder, or of somebody who no longer is one, on store and model."""
        place = self.model.places[assignment.partition]
        owns = place.holder == assignment
        allowed = owns and m.STEP.get(operation, place.phase) == place.phase
        if operation in ("retry", "fail"):
            outcome = self.store.fail(assignment, "broken", retry=operation == "retry")
        else:
            outcome = getattr(self.store, operation)(assignment)
        assert isinstance(outcome, o.Refused) != allowed, outcome
        if allowed:
            self.hands.pop(assignment.worker, None)
            self.follow(operation, place)
        if allowed and operation == "finish":
            assert outcome.remaining == sum(place.phase != "done" for place in self.model.places)
        return outcome

    def follow(self, operation: str, place: m.Place) -> None:
        if operation in m.STEP:
            self.model.onward(place)
        elif operation == "fail":
            self.model.leave(place, "failed")
        else:
            proved_again = operation == "retry" and place.phase == "finalizing"
            back = "pending" if proved_again else m.BACK[place.phase]
            self.model.again(place, back, released=operation == "release")

    def tell(self, index: int, outcome: object) -> None:
        """Send the message that follows."""
        match outcome:
            case o.Applied(phase, JobState.RUNNING):
                self.messages.append((TELLS[phase], index, self.model.places[index].attempt))
            case o.Retried(attempt, phase) | o.Reaped(_, _, _, phase, attempt):
                self.messages.append((TELLS[phase], index, attempt))
            case o.Finished(0, JobState.RUNNING):
                self.calls_for_assembly += 1

    # the rest of the house

    @rule(dies=st.booleans(), late=st.booleans())
    def assemble(self, *, dies: bool, late: bool) -> None:
        """A finalizer's chain, or a message that comes again; it may die before the assembly's end."""
        if not self.calls_for_assembly and not late:
            return
        model = self.model
        allowed = model.complete and model.state == "running"
        outcome = self.store.assemble("job")
        assert isinstance(outcome, o.Assembled) == allowed, outcome
        if not allowed:
            return
        model.assembled += 1
        model.assembling = model.now + m.LEASE
        assert model.assembled == 1 or model.now > 0, "a second time only after a first was lost"
        if not dies:
            self.complete_assembly()

    @rule()
    def complete_assembly(self) -> None:
        allowed = self.model.assembling is not None
        outcome = self.store.complete_job("job", JobState.DONE)
        assert isinstance(outcome, o.Completed) == allowed, outcome
        if allowed:
            self.model.assembling, self.model.finished = None, True

    @rule()
    def time_passes(self) -> None:
        self.model.now += LEAP

    @rule(dies=st.booleans())
    def reap(self, *, dies: bool) -> None:
        """The reaper may die before it sends what it should."""
        model = self.model
        expired, late = model.expired(), model.assembling is not None and model.assembling <= model.now
        for found in self.store.reap():
            match found:
                case o.Reaped(_, index) | o.Exhausted(_, index) | o.Dropped(_, index):
                    expired.remove(index)
                    place = model.places[index]
                    model.again(place, m.BACK[place.phase])
                    if not dies:
                        self.tell(index, found)
                case o.Reopened():
                    assert late
                    model.assembling, late = None, False
                    self.calls_for_assembly += not dies
                case o.Expired():
                    assert model.now >= model.deadline
                    assert not model.complete
                    model.stop("deadline")
                case o.Settled():
                    assert model.ended
        assert not expired
        assert not late
        if model.state == "running" and not model.complete:
            assert model.now < model.deadline, "a deadline that has passed stops the job"

    @rule()
    def resend(self) -> None:
        """The periodic process sends for whatever waits; what was not lost comes twice then."""
        for phase, kind in TELLS.items():
            for found in self.store.waiting(phase):
                self.messages.append((kind, found.index, found.attempt))
        self.calls_for_assembly += self.model.complete

    @rule(name=st.sampled_from(WORKERS["device"]))
    def restart(self, name: str) -> None:
        self.lives[name] += 1
        held = self.model.held.get(name)
        self.hands.pop(name, None)
        registered = self.store.register_worker(device(name, self.lives[name]))
        assert len(registered.lost) == int(held is not None)
        if held is not None:
            place = self.model.places[held.partition]
            self.model.again(place, m.BACK[place.phase])
            self.tell(held.partition, registered.lost[0])

    @rule(chance=st.integers(0, 5))
    def cancel(self, chance: int) -> None:
        if chance:
            return
        running = self.model.state == "running"
        outcome = self.store.cancel_job("job")
        assert isinstance(outcome, o.Stopping if running else o.Refused), outcome
        self.model.stop("cancelled")

    @rule(priority=st.integers(1, 4))
    def reprioritize(self, priority: int) -> None:
        """The job moves in the lines; nothing else of it does."""
        waiting = sum(place.holder is None and place.phase not in m.ENDS for place in self.model.places)
        expected = o.Reordered(priority, waiting) if self.model.state == "running" else o.Refused
        outcome = self.store.reprioritize_job("job", priority)
        assert isinstance(outcome, expected) if isinstance(expected, type) else outcome == expected, outcome

    # what must always hold

    @invariant()
    def store_and_model_agree(self) -> None:
        snapshot, model = self.store.snapshot(), self.model
        if not snapshot.jobs:
            return
        assert snapshot.violations == ()
        (job,) = snapshot.jobs
        known = [(place.phase, place.attempt, place.holder) for place in model.places]
        assert [(p.phase, p.attempt, p.assignment) for p in job.partitions] == known
        assert job.record.state == model.state
        assert job.record.remaining == sum(place.phase != "done" for place in model.places)

    @invariant()
    def a_worker_is_busy_exactly_while_one_partition_names_it(self) -> None:
        snapshot = self.store.snapshot()
        busy = {w.record.spec.name: w.record.assignment for w in snapshot.workers if w.record.assignment}
        named = [p.assignment for job in snapshot.jobs for p in job.partitions if p.assignment]
        assert sorted(busy.values(), key=str) == sorted(named, key=str)
        assert busy == {assignment.worker: assignment for assignment in named} == self.model.held

    @invariant()
    def what_has_ended_stays_as_it_ended(self) -> None:
        for index, place in enumerate(self.model.places):
            now = place.phase, place.attempt
            if place.phase in m.ENDS:
                assert self.ends.setdefault(index, now) == now

    def come_to_an_end(self) -> None:
        """From wherever the steps have led, honest work and the clock bring the job to an end."""
        for _ in range(40):
            if not self.store.snapshot().jobs or self.model.ended:
                return
            self.model.now += m.LEASE
            self.reap(dies=False)
            self.hands.clear()
            for name in WORKERS["device"]:
                self.restart(name)
            for worker, kind in sorted(KIND_OF.items()):
                index = self.model.first(kind)
                if index is not None and self.model.state == "running" and worker not in self.model.held:
                    self.claim(worker, index, self.model.places[index].attempt)
                    self.next_step(worker, dies=False)
            self.assemble(dies=False, late=True)
        raise AssertionError(f"the job is {self.model.state} for ever")


def run(machine: type[TrackerMachine], client: redis.Redis, examples: int, **more: object) -> None:
    given = settings(
        max_examples=examples,
        stateful_step_count=40,
        deadline=None,
        suppress_health_check=list(HealthCheck),
        **more,
    )
    run_state_machine_as_test(lambda: machine(client), settings=given)


def test_store_does_what_the_model_does(valkey):
    run(TrackerMachine, valkey, 60)


class BlindMachine(TrackerMachine):
    """The same steps on a store whose finalizer frees the device without asking whose it is by then."""

    def __init__(self, client: redis.Redis) -> None:
        super().__init__(client)
        self.store = BlindStore(client, lease_seconds=m.LEASE, forget_after_seconds=FOREVER)

    def teardown(self) -> None:
        self.patches.close()

    cancel = beat = let_go = reprioritize = None
    """No steps of this machine: they would only make the fault harder to come upon."""


def test_a_blind_finalizer_is_found_out(valkey):
    with pytest.raises((AssertionError, ExceptionGroup)):
        run(BlindMachine, valkey, 1_000, phases=[Phase.generate], database=None)
