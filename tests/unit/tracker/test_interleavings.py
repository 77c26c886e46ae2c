"""Every order in which some actors can act on three partitions with two attempts each.

The actors: two device workers, a finalizer, a reaper, a canceller and one late caller, who is any holder of
any assignment that is no longer valid and may call whatever it likes as often as it likes. A job that has
ended may be opened again under its old name, so that all of an old assignment but its epoch comes again.
No order breaks an invariant, and each faulty table is found out. States that differ only in which partition
or which of two like workers is which are visited once.
"""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, replace

import pytest

from proving.tracker import effects
from proving.tracker import events as e
from proving.tracker import guards as g
from proving.tracker.effects import View
from proving.tracker.outcomes import Refusal
from proving.tracker.records import (
    Assignment,
    Ending,
    JobRecord,
    PartitionRecord,
    Phase,
    Timeline,
    WorkerKind,
    WorkerRecord,
    WorkerSpec,
)
from proving.tracker.rules import Guard, Rule
from proving.tracker.transitions import PARTITION_TABLE, Change, cancel_waiting, stop_job, transition
from tests.support.tracker import job_spec

PARTITIONS = 3
ATTEMPTS = 2
CLAIMANTS = (("gpu0", e.ClaimDevice), ("gpu1", e.ClaimDevice), ("final0", e.ClaimFinalize))
KINDS = {e.ClaimDevice: WorkerKind.DEVICE, e.ClaimFinalize: WorkerKind.FINALIZE}
ALIKE = ({}, {"gpu0": "gpu1", "gpu1": "gpu0"})
POSITIONS = {name: position for position, (name, _) in enumerate(CLAIMANTS)}
ACTS = (e.HandOff, e.Finish, e.Release, e.Lose, lambda a: e.Fail(a, "broken", retry=True))


@dataclass(frozen=True)
class State:
    job: JobRecord
    partitions: tuple[PartitionRecord, ...]
    workers: tuple[WorkerRecord, ...]
    late: Assignment | None = None
    reopened: bool = False


class InvariantError(Exception):
    pass


def start(partitions: int, free_releases: int) -> State:
    workers = tuple(WorkerRecord(WorkerSpec(n, KINDS[c], "host"), 0, 0.0, 0.0) for n, c in CLAIMANTS)
    job = JobRecord(job_spec(total=partitions, free_releases=free_releases, max_attempts=ATTEMPTS))
    return State(job, fresh_partitions(partitions), workers)


def fresh_partitions(count: int) -> tuple[PartitionRecord, ...]:
    return tuple(
        PartitionRecord("job", i, ATTEMPTS, Phase.SYNTH_DONE, timeline=Timeline()) for i in range(count)
    )


def successors(state: State, table: tuple[Rule, ...]) -> Iterator[State]:
    for name, claim in CLAIMANTS:
        for partition in state.partitions:
            for attempt in {partition.attempt, max(1, partition.attempt - 1)}:
                yield from step(state, partition, claim(name, attempt, 0.0), name, table)
    holders = [p.assignment for p in state.partitions if p.assignment]
    for assignment in [*holders, state.late] if state.late else holders:
        for act in ACTS:
            yield from step(
                state, state.partitions[assignment.partition], act(assignment), assignment.worker, table
            )
    stopped = stop_job(state.job, state.partitions, e.Stop(Ending.CANCELLED), 0.0)
    if not isinstance(stopped, Refusal):
        yield with_job(state, *stopped)
    if state.job.state.terminal and state.late and not state.reopened:
        opened = JobRecord(state.job.spec)
        yield replace(state, job=opened, partitions=fresh_partitions(len(state.partitions)), reopened=True)


def step(
    state: State, partition: PartitionRecord, event: e.Claim | e.Act, name: str, table: tuple[Rule, ...]
) -> Iterator[State]:
    position = POSITIONS[name]
    view = View(state.job, partition, state.workers[position])
    change = transition(view, event, 0.0, table=table)
    if isinstance(change, Refusal):
        return
    check_step(state, partition, event, change)
    moved = replace(
        state,
        job=change.job,
        partitions=tuple(change.partition if p.index == partition.index else p for p in state.partitions),
        workers=tuple(change.worker if i == position else worker for i, worker in enumerate(state.workers)),
    )
    if change.job.ending and not state.job.ending:
        moved = with_job(moved, *cancel_waiting(moved.job, moved.partitions, 0.0))
    yield moved
    if isinstance(event, e.Act) and state.late is None:
        yield replace(moved, late=event.assignment)


def with_job(state: State, job: JobRecord, changed: list[PartitionRecord]) -> State:
    moved = {partition.index: partition for partition in changed}
    return replace(state, job=job, partitions=tuple(moved.get(p.index, p) for p in state.partitions))


def check_step(state: State, before: PartitionRecord, event: object, change: Change) -> None:
    if before.phase.terminal:
        raise InvariantError("a terminal state moved")
    if isinstance(event, e.Act) and event.assignment != before.assignment:
        raise InvariantError("somebody acted without the assignment")
    if isinstance(event, e.Claim):
        claimed = change.partition.assignment
        late = state.late if state.late and state.late.worker == event.worker else None
        if claimed.epoch <= max(before.epoch, late.epoch if late else 0):
            raise InvariantError("an epoch did not grow")
    if change.partition.attempt > ATTEMPTS + change.job.spec.free_releases:
        raise InvariantError("attempts do not end")


def check(state: State) -> None:
    for worker in state.workers:
        naming = [p for p in state.partitions if p.assignment and p.assignment.worker == worker.spec.name]
        if len(naming) > 1:
            raise InvariantError("two partitions name one worker")
        if worker.assignment != (naming[0].assignment if naming else None):
            raise InvariantError("worker and partition disagree")
    phases = [partition.phase for partition in state.partitions]
    job = state.job
    if (job.done, job.failed, job.cancelled) != tuple(
        phases.count(phase) for phase in (Phase.DONE, Phase.FAILED, Phase.CANCELLED)
    ):
        raise InvariantError("the job miscounts")
    if job.ending and any(partition.waiting for partition in state.partitions):
        raise InvariantError("work waits for a job that is being stopped")
    if job.state.terminal and job.open:
        raise InvariantError("a job has ended with work left")


def keys(state: State) -> Iterator[tuple[object, ...]]:
    """What tells states apart, under each renaming of like workers: not their past, and of epochs only
    whether two are the same. Partitions are told apart by what befell them, not by their index."""
    job, late = state.job, state.late
    whole = (job.state, job.ending, job.done, job.failed, job.cancelled, state.reopened)
    for renamed in ALIKE:
        parts = []
        for partition in state.partitions:
            held = partition.assignment
            calls = late if late and late.partition == partition.index else None
            parts.append(
                (
                    *(partition.phase.rank, str(partition.phase), partition.attempt, partition.max_attempts),
                    renamed.get(held.worker, held.worker) if held else "",
                    (renamed.get(calls.worker, calls.worker), calls.attempt, calls == held) if calls else (),
                )
            )
        yield (*whole, *sorted(parts))


def key(state: State) -> tuple[object, ...]:
    return min(keys(state), key=repr)


def search(table: tuple[Rule, ...], partitions: int = PARTITIONS, free_releases: int = 0) -> int:
    """How many states can be reached. Raises InvariantError at the first that is wrong."""
    first = start(partitions, free_releases)
    seen, todo = {key(first)}, deque([first])
    while todo:
        for state in successors(todo.popleft(), table):
            check(state)
            name = key(state)
            if name not in seen:
                seen.add(name)
                todo.append(state)
    return len(seen)


@pytest.mark.parametrize(("partitions", "free_releases"), [(3, 0), (2, 1)])
def test_no_order_breaks_an_invariant(partitions, free_releases):
    visited = search(PARTITION_TABLE, partitions, free_releases)
    print(f"{partitions} partitions, {free_releases} free releases: {visited} states visited, none wrong")
    assert visited > 1_000


def compare(*fields: str) -> Guard:
    """Ownership by these fields of the assignment alone."""

    def check_fields(view: View, act: e.Act, _: float) -> Refusal | None:
        held = view.partition.assignment
        same = held is not None and all(getattr(held, f) == getattr(act.assignment, f) for f in fields)
        return None if same else Refusal.NOT_OWNER

    return Guard(f"compares {fields}", check_fields)


def owning(guard: Guard | None, *only: type) -> tuple[Rule, ...]:
    """The table with another idea of ownership, for some events or for all."""

    def change(rule: Rule) -> Rule:
        if only and rule.event not in only:
            return rule
        kept = tuple(guard if old is g.OWNS else old for old in rule.guards)
        return replace(rule, guards=tuple(old for old in kept if old is not None))

    return tuple(change(rule) for rule in PARTITION_TABLE)


MUTANTS = {
    "the epoch is not compared": owning(compare("worker", "job", "partition", "attempt")),
    "only job and partition are compared": owning(compare("job", "partition")),
    "the reaper needs no token": owning(None, e.Lose),
    "release needs no ownership": owning(None, e.Release),
    "finish needs no ownership": owning(None, e.Finish),
    "hand-off needs no ownership": owning(None, e.HandOff),
    "a failure needs no ownership": owning(None, e.Fail),
    "finish has no phase guard": (
        *PARTITION_TABLE,
        Rule(Phase.SYNTH_DONE, e.Finish, Phase.DONE, effects.finish),
        Rule(Phase.GPU, e.Finish, Phase.DONE, effects.finish),
    ),
    "a done partition can be released": (
        *PARTITION_TABLE,
        Rule(Phase.DONE, e.Release, Phase.SYNTH_DONE, effects.again),
    ),
    "a cancelled job keeps what is handed back": tuple(
        rule for rule in PARTITION_TABLE if rule.when is not g.STOPPING
    ),
}


@pytest.mark.parametrize("fault", MUTANTS)
def test_faulty_table_is_found_out(fault):
    with pytest.raises(InvariantError) as found:
        search(MUTANTS[fault])
    print(f"killed: {fault} ({found.value})")
