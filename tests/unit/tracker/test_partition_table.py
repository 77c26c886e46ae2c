"""The partition's table against a second statement of it, written by hand."""

from dataclasses import replace

import pytest

from proving.tracker import events as e
from proving.tracker.effects import View
from proving.tracker.records import (
    Assignment,
    JobRecord,
    JobState,
    PartitionRecord,
    Phase,
    WorkerKind,
    WorkerRecord,
    WorkerSpec,
)
from proving.tracker.transitions import PARTITION_TABLE, Change, Refusal, transition
from tests.support.tracker import job_spec

NOW = 100.0
KINDS = {
    Phase.SYNTHESIZING: WorkerKind.SYNTHESIS,
    Phase.GPU: WorkerKind.DEVICE,
    Phase.FINALIZING: WorkerKind.FINALIZE,
}

# phase, held, event, where it leads (None: refused), as the pipeline's rules say
EXPECTED = {
    ("pending", "claim_synthesis"): "synthesizing",
    ("synthesizing*", "end_synthesis"): "synth_done",
    ("synth_done", "claim_device"): "gpu",
    ("gpu*", "hand_off"): "finalizing",
    ("finalizing", "claim_finalize"): "finalizing",
    ("finalizing*", "finish"): "done",
    ("synthesizing*", "heartbeat"): "synthesizing",
    ("gpu*", "heartbeat"): "gpu",
    ("finalizing*", "heartbeat"): "finalizing",
    ("synthesizing*", "lose"): "pending",
    ("gpu*", "lose"): "synth_done",
    ("finalizing*", "lose"): "finalizing",
    ("synthesizing*", "release"): "pending",
    ("gpu*", "release"): "synth_done",
    ("finalizing*", "release"): "finalizing",
    ("synthesizing*", "fail_retry"): "pending",
    ("gpu*", "fail_retry"): "synth_done",
    ("finalizing*", "fail_retry"): "pending",
    ("synthesizing*", "fail"): "failed",
    ("gpu*", "fail"): "failed",
    ("finalizing*", "fail"): "failed",
    ("pending", "cancel"): "cancelled",
    ("synth_done", "cancel"): "cancelled",
    ("finalizing", "cancel"): "cancelled",
    ("pending", "reject"): "failed",
    ("synth_done", "reject"): "failed",
    ("finalizing", "reject"): "failed",
}
EVENTS = {
    "claim_synthesis": lambda a: e.ClaimSynthesis("new@host", 1, 10.0),
    "claim_device": lambda a: e.ClaimDevice("new@host", 1, 10.0),
    "claim_finalize": lambda a: e.ClaimFinalize("new@host", 1, 10.0),
    "end_synthesis": e.EndSynthesis,
    "hand_off": e.HandOff,
    "finish": e.Finish,
    "heartbeat": lambda a: e.Heartbeat(a, 10.0),
    "lose": e.Lose,
    "release": e.Release,
    "fail_retry": lambda a: e.Fail(a, "broken", retry=True),
    "fail": lambda a: e.Fail(a, "broken", retry=False),
    "cancel": lambda a: e.Cancel(),
    "reject": lambda a: e.Reject("broken"),
}
STATES = [
    *("pending", "synthesizing*", "synth_done", "gpu*", "finalizing", "finalizing*"),
    *("done", "failed", "cancelled"),
]
HOLDER = Assignment("old@host", "job", 0, 1, 7)


def make_view(state: str, event: object, *, job_state: JobState = JobState.RUNNING, attempt: int = 1) -> View:
    """A partition in `state` (a star: somebody holds it) and the worker that `event` concerns."""
    phase, held = Phase(state.rstrip("*")), state.endswith("*")
    holder = replace(HOLDER, attempt=attempt)
    record = PartitionRecord(
        "job",
        0,
        max_attempts=3,
        phase=phase,
        attempt=attempt,
        assignment=holder if held else None,
        lease_expires_at=90.0 if held else None,
    )
    job = JobRecord(job_spec(total=2), state=job_state)
    if isinstance(event, e.Claim):
        spec = WorkerSpec("new@host", e.CLAIMANT_KIND[type(event)], "host")
        return View(job, record, WorkerRecord(spec, 0, 0.0, 0.0))
    spec = WorkerSpec("old@host", KINDS.get(phase, WorkerKind.DEVICE), "host")
    return View(job, record, WorkerRecord(spec, 0, 0.0, 0.0, assignment=holder if held else None))


@pytest.mark.parametrize("name", EVENTS)
@pytest.mark.parametrize("state", STATES)
def test_every_event_in_every_state(state, name):
    event = EVENTS[name](HOLDER)
    view = make_view(state, event)
    outcome = transition(view, event, NOW)
    wanted = EXPECTED.get((state, name))
    if wanted is None:
        assert isinstance(outcome, Refusal)
    else:
        assert isinstance(outcome, Change)
        assert outcome.partition.phase == wanted


@pytest.mark.parametrize("name", EVENTS)
@pytest.mark.parametrize("state", STATES)
def test_worker_is_busy_exactly_while_it_holds(state, name):
    event = EVENTS[name](HOLDER)
    outcome = transition(make_view(state, event), event, NOW)
    if isinstance(outcome, Change) and outcome.worker is not None:
        assert outcome.worker.assignment == outcome.partition.assignment


@pytest.mark.parametrize("name", EVENTS)
@pytest.mark.parametrize("state", ["done", "failed", "cancelled"])
def test_terminal_states_are_frozen(state, name):
    event = EVENTS[name](HOLDER)
    assert isinstance(transition(make_view(state, event), event, NOW), Refusal)


@pytest.mark.parametrize(
    "change", [{"worker": "other@host"}, {"job": "jab"}, {"partition": 1}, {"attempt": 2}, {"epoch": 8}]
)
@pytest.mark.parametrize(
    ("state", "name"),
    [(s, n) for (s, n) in EXPECTED if s.endswith("*")],
)
def test_any_difference_in_the_assignment_is_refused(state, name, change):
    event = EVENTS[name](replace(HOLDER, **change))
    assert transition(make_view(state, event), event, NOW) in {Refusal.NOT_OWNER, Refusal.SUPERSEDED}


@pytest.mark.parametrize(
    "name", ["end_synthesis", "hand_off", "finish", "heartbeat", "lose", "release", "fail"]
)
@pytest.mark.parametrize("state", STATES)
def test_an_earlier_attempt_is_superseded(state, name):
    event = EVENTS[name](HOLDER)
    assert transition(make_view(state, event, attempt=2), event, NOW) == Refusal.SUPERSEDED


@pytest.mark.parametrize("name", ["claim_synthesis", "claim_device", "claim_finalize"])
@pytest.mark.parametrize("state", ["pending", "synth_done", "finalizing"])
def test_nothing_of_a_cancelled_job_is_claimed(state, name):
    event = EVENTS[name](HOLDER)
    outcome = transition(make_view(state, event, job_state=JobState.CANCELLING), event, NOW)
    assert outcome in {Refusal.CANCELLED, Refusal.NOT_READY, Refusal.ALREADY_DONE}
    if (state, name) in EXPECTED:
        assert outcome == Refusal.CANCELLED


LETTING_GO = {"end_synthesis", "hand_off", "lose", "release", "fail_retry"}


@pytest.mark.parametrize(("state", "name"), [row for row in EXPECTED if row[1] in LETTING_GO])
def test_work_on_a_stopping_job_ends_cancelled(state, name):
    event = EVENTS[name](HOLDER)
    outcome = transition(make_view(state, event, job_state=JobState.CANCELLING), event, NOW)
    assert isinstance(outcome, Change)
    assert outcome.partition.phase == Phase.CANCELLED
    assert outcome.worker is not None
    assert outcome.worker.assignment is None


@pytest.mark.parametrize(
    ("state", "name", "reason"),
    [
        ("synthesizing*", "claim_synthesis", Refusal.TAKEN),
        ("gpu*", "claim_device", Refusal.TAKEN),
        ("finalizing*", "claim_finalize", Refusal.TAKEN),
        ("pending", "claim_device", Refusal.NOT_READY),
        ("synth_done", "claim_finalize", Refusal.NOT_READY),
        ("gpu*", "claim_synthesis", Refusal.ALREADY_DONE),
        ("finalizing", "claim_device", Refusal.ALREADY_DONE),
        ("done", "claim_finalize", Refusal.ALREADY_DONE),
        ("failed", "claim_device", Refusal.FAILED),
        ("cancelled", "claim_device", Refusal.CANCELLED),
        ("gpu*", "cancel", Refusal.TAKEN),
        ("finalizing", "hand_off", Refusal.ALREADY_DONE),
        ("done", "finish", Refusal.ALREADY_DONE),
        ("cancelled", "finish", Refusal.CANCELLED),
        ("synth_done", "hand_off", Refusal.NOT_OWNER),
    ],
)
def test_reasons(state, name, reason):
    event = EVENTS[name](HOLDER)
    assert transition(make_view(state, event), event, NOW) == reason


def test_busy_worker_claims_nothing():
    event = e.ClaimDevice("new@host", 1, 10.0)
    view = make_view("synth_done", event)
    busy = replace(view.worker, assignment=Assignment("new@host", "job", 1, 1, 3))
    assert transition(replace(view, worker=busy), event, NOW) == Refusal.WORKER_BUSY
    assert (
        transition(replace(view, worker=replace(view.worker, draining=True)), event, NOW) == Refusal.DRAINING
    )
    assert transition(replace(view, worker=None), event, NOW) == Refusal.UNKNOWN
    synthesizer = WorkerSpec("new@host", WorkerKind.SYNTHESIS, "host")
    other = replace(view.worker, spec=synthesizer)
    assert transition(replace(view, worker=other), event, NOW) == Refusal.WRONG_KIND


def test_reaper_needs_the_lease_it_read():
    lease = 90.0
    view = make_view("gpu*", e.Lose(HOLDER))
    assert isinstance(transition(view, e.Lose(HOLDER, lease), NOW), Change)
    assert transition(view, e.Lose(HOLDER, lease), 89.0) == Refusal.NOT_EXPIRED
    assert transition(view, e.Lose(HOLDER, 80.0), NOW) == Refusal.NOT_EXPIRED


@pytest.mark.parametrize(
    ("clock", "last", "drawn"), [(NOW, 7, 100_000_000), (0.0, 7, 8), (NOW, 10**18, 10**18 + 1)]
)
def test_every_claim_draws_a_higher_epoch(clock, last, drawn):
    event = EVENTS["claim_device"](HOLDER)
    view = make_view("synth_done", event)
    for older in (
        replace(view, worker=replace(view.worker, epoch=last)),
        replace(view, partition=replace(view.partition, epoch=last)),
    ):
        change = transition(older, event, clock)
        assert change.partition.assignment.epoch == change.partition.epoch == change.worker.epoch == drawn


def test_rows_that_could_never_apply_do_not_exist():
    """A row without a condition ends the rows of its state and event."""
    closed = set()
    for rule in PARTITION_TABLE:
        assert (rule.state, rule.event) not in closed
        if rule.when is None:
            closed.add((rule.state, rule.event))
