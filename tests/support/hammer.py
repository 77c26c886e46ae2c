"""Processes that work through whatever waits, as fast as they can, and now and then misbehave."""

import multiprocessing
import random
import time
from dataclasses import dataclass, field
from multiprocessing.queues import Queue
from multiprocessing.synchronize import Barrier
from pathlib import Path

import redis

from proving.tracker import outcomes as o
from proving.tracker.records import Assignment, JobState, Phase, WorkerKind, WorkerSpec
from proving.tracker.store import Store
from tests.support.tracker import job_spec


@dataclass
class Tally:
    acquired: int = 0
    let_go: int = 0
    finished: int = 0
    assembled: int = 0
    stale: int = 0
    conflicts: int = 0
    epochs: list[int] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)


class Actor:
    """A synthesizer, a device worker and a finalizer in one process."""

    def __init__(self, store: Store, number: int) -> None:
        self.store = store
        self.names = {
            Phase.PENDING: f"synth{number}@host",
            Phase.SYNTH_DONE: f"gpu{number}@host",
            Phase.FINALIZING: f"final{number}@host",
        }
        self.random = random.Random(number)
        self.tally = Tally()
        self.past: list[Assignment] = []
        store.register_worker(WorkerSpec(self.names[Phase.SYNTH_DONE], WorkerKind.DEVICE, "host"))

    def step(self) -> bool:
        """One partition moved by one phase; False when nothing waited."""
        for phase in self.random.sample(list(self.names), 3):
            waiting = self.store.waiting(phase, 8)
            if waiting:
                self.work(self.random.choice(waiting))
                return True
        return False

    def work(self, waiting: o.Waiting) -> None:
        store, place = self.store, (waiting.job_id, waiting.index, waiting.attempt)
        claim = {
            Phase.PENDING: store.claim_synthesis,
            Phase.SYNTH_DONE: store.claim_device,
            Phase.FINALIZING: store.claim_finalize,
        }[waiting.phase]
        claimed = claim(self.names[waiting.phase], *place)
        if not isinstance(claimed, o.Claimed):
            return
        self.tally.acquired += 1
        assignment = claimed.assignment
        self.tally.epochs.append(assignment.epoch)
        self.misbehave()
        self.expect(store.heartbeat(assignment), o.Beat)
        self.tally.let_go += 1
        self.past.append(assignment)
        if self.random.random() < 0.1:
            self.expect(store.release(assignment), o.Retried)
        elif self.random.random() < 0.1:
            self.expect(store.fail(assignment, "bad luck", retry=True), o.Retried)
        elif waiting.phase is Phase.PENDING:
            self.expect(store.synthesized(assignment), o.Applied)
        elif waiting.phase is Phase.SYNTH_DONE:
            self.expect(store.hand_off(assignment), o.Applied)
        else:
            self.finish(assignment)

    def finish(self, assignment: Assignment) -> None:
        self.expect(self.store.finish(assignment), o.Finished)
        self.tally.finished += 1
        if isinstance(self.store.assemble(assignment.job), o.Assembled):
            self.tally.assembled += 1
            self.expect(self.store.complete_job(assignment.job, JobState.DONE), o.Completed)

    def misbehave(self) -> None:
        """A late or duplicate call with an assignment of the past."""
        if self.past and self.random.random() < 0.3:
            old = self.random.choice(self.past)
            call = self.random.choice([self.store.hand_off, self.store.finish, self.store.release])
            self.expect(call(old), o.Refused)
            self.tally.stale += 1

    def expect(self, outcome: object, kind: type) -> None:
        if not isinstance(outcome, kind):
            self.tally.wrong.append(f"{outcome} instead of {kind.__name__}")


def hammer(socket: Path, number: int, seconds: float, answers: "Queue[Tally]", line: Barrier) -> None:
    """Works until every job is done, or for so long."""
    with redis.Redis(unix_socket_path=str(socket)) as client:
        actor = Actor(Store(client, lease_seconds=60.0), number)
        line.wait(timeout=60)
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            if not actor.step() and not actor.store.ledger.reader.due(actor.store.ledger.keys.leases, 9e9):
                break
        actor.tally.conflicts = actor.store.ledger.conflicts
    answers.put(actor.tally)


@dataclass(frozen=True)
class Hammered:
    """What a whole run of hammers did."""

    processes: int
    seconds: float
    readings: int
    tallies: list[Tally]

    @property
    def transitions(self) -> int:
        return self.total("acquired") + self.total("let_go")

    @property
    def conflicts(self) -> int:
        return self.total("conflicts")

    def total(self, name: str) -> int:
        found: int = sum(getattr(tally, name) for tally in self.tallies)
        return found


def run_hammer(
    client: redis.Redis, socket: Path, *, processes: int, jobs: int, partitions: int, seconds: float = 60.0
) -> Hammered:
    """Let processes work through jobs, and read the status all the while: AssertionError at a reading that
    contradicts itself. The time counts from the moment when all of them have started."""
    store = Store(client)
    for number in range(jobs):
        store.open_job(job_spec(f"job-{number}", partitions, max_attempts=1_000, free_releases=1_000))
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["tests.support.hammer"])
    answers, line = context.Queue(), context.Barrier(processes + 1)
    actors = [
        context.Process(target=hammer, args=(socket, number, seconds, answers, line), daemon=True)
        for number in range(processes)
    ]
    for actor in actors:
        actor.start()
    line.wait(timeout=60)
    started, readings, tallies = time.monotonic(), 0, []
    while len(tallies) < processes:
        snapshot = store.snapshot()
        assert snapshot.violations == ()
        readings += 1
        while not answers.empty():
            tallies.append(answers.get(timeout=5))
    taken = time.monotonic() - started
    for actor in actors:
        actor.join()
    return Hammered(processes, taken, readings, tallies)
