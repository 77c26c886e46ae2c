"""Workers of each kind are told to stop, killed or frozen at work: nothing is lost, nothing is made twice.

What Celery does to a task that runs when its worker is told to stop differs by pool, by signal and by their
order; each of these has lost work in some version, with one pool or another.
"""

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import redis

from cuzkweb.client import Job, State
from tests.support.ledger import assert_balanced, attempts_of
from tests.support.merkle import leaves
from tests.support.processes import children_of, is_zombie, wait_for
from tests.support.stack import LEASE_SECONDS, Stack, running_stack
from tests.support.watcher import Watcher, faults

pytestmark = [pytest.mark.chaos, pytest.mark.acceptance, pytest.mark.shared]

TIMEOUT = 120.0
PARTITIONS = 4
GONE_SECONDS = 15.0
FROZEN_SECONDS = 2.5 * LEASE_SECONDS
PHASES = {"synthesis": "synthesizing", "gpu0": "gpu", "finalize": "finalizing"}
"""In which state of a partition the workers of each kind are at work."""

ORDERS = {
    "SIGTERM": (signal.SIGTERM,),
    "SIGQUIT": (signal.SIGQUIT,),
    "SIGINT twice": (signal.SIGINT, signal.SIGINT),
    "SIGTERM, then SIGQUIT": (signal.SIGTERM, signal.SIGQUIT),
    "SIGKILL": (signal.SIGKILL,),
}


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    """The portable engine gives time to meddle; a second device works on while one is frozen."""
    home = tmp_path_factory.mktemp("home")
    options = ("--no-flower", "--device", "host", "--device", "host")
    with running_stack(home, *options, CUZKWEB_ENGINE="portable") as running:
        yield running


@pytest.fixture(scope="module")
def live(stack: Stack) -> Iterator[redis.Redis]:
    with redis.Redis.from_url(stack.state()["redis_url"]) as client:
        yield client


def at_work(stack: Stack, job: Job, name: str) -> list[int]:
    """The partitions of a job that are with the workers of this program's kind: gpu0's own, or all."""
    found = [row for row in stack.client.status()["pipelines"] if row["job_id"] == job.id]
    return [
        partition["index"]
        for pipeline in found
        for partition in pipeline["partitions"]
        if partition["state"] == PHASES[name] and (name != "gpu0" or partition["worker"].startswith("gpu0@"))
    ]


def tree_of(pid: int) -> list[int]:
    return [pid, *children_of(pid)]


@pytest.mark.parametrize("order", ORDERS)
def test_no_signal_loses_or_doubles_work(
    order: str, stack: Stack, live: redis.Redis, circuit: str, merkle: Path
) -> None:
    before = {name: stack.pid(name) for name in PHASES}
    with Watcher(stack) as watcher:
        job = stack.client.submit(circuit, leaves(merkle, PARTITIONS))
        for name, pid in before.items():
            wait_for(lambda name=name: at_work(stack, job, name), f"{name} is at work", 60)
            for number in ORDERS[order]:
                os.kill(pid, number)
        ended = stack.client.wait(job.id, timeout=TIMEOUT)

    assert (ended.state, ended.error) == (State.DONE, None)
    assert [fault for reading in watcher.readings for fault in faults(reading)] == []
    assert_balanced(stack, live, merkle, [job.id])
    wait_for(lambda: all(replaced(stack, name, pid) for name, pid in before.items()), "others have come", 60)


def replaced(stack: Stack, name: str, pid: int) -> bool:
    """Whether another process has taken the place of `pid`, and is ready."""
    ready = stack.home / "run" / "ready" / name
    return stack.pid(name) != pid and ready.read_text() == str(stack.pid(name))


@pytest.mark.parametrize("numbers", [(signal.SIGTERM,), (signal.SIGINT, signal.SIGINT)])
def test_a_device_hands_back_what_it_has_and_is_gone_soon(
    numbers: tuple[signal.Signals, ...], stack: Stack, live: redis.Redis, circuit: str, merkle: Path
) -> None:
    """A proof of the portable engine takes longer than that: it is stopped in its middle."""
    victim = stack.pid("gpu0")
    job = stack.client.submit(circuit, leaves(merkle, PARTITIONS))
    wait_for(lambda: at_work(stack, job, "gpu0"), "it proves", 60)

    for number in numbers:
        os.kill(victim, number)
    asked = time.monotonic()
    wait_for(lambda: is_gone(victim), "it is gone", GONE_SECONDS)
    took = time.monotonic() - asked

    ended = stack.client.wait(job.id, timeout=TIMEOUT)
    assert (ended.state, ended.error) == (State.DONE, None)
    outcomes = [attempt["outcome"] for attempt in attempts_of(stack, job.id)]
    assert set(outcomes) <= {"done", "released"}, "nothing was lost: it was handed back"
    assert took < GONE_SECONDS
    assert_balanced(stack, live, merkle, [job.id])
    wait_for(lambda: replaced(stack, "gpu0", victim), "another has come", 60)


def is_gone(pid: int) -> bool:
    """Whether a process has ended, noticed by its parent or not."""
    try:
        return is_zombie(Path(f"/proc/{pid}"))
    except FileNotFoundError:
        return True


@pytest.mark.parametrize("name", PHASES)
def test_a_frozen_worker_comes_back_too_late_to_do_harm(
    name: str, stack: Stack, live: redis.Redis, circuit: str, merkle: Path
) -> None:
    frozen = tree_of(stack.pid(name))
    with Watcher(stack) as watcher:
        job = stack.client.submit(circuit, leaves(merkle, PARTITIONS))
        wait_for(lambda: at_work(stack, job, name), f"{name} is at work", 60)
        for pid in frozen:
            os.kill(pid, signal.SIGSTOP)
        try:
            held = at_work(stack, job, name)
            time.sleep(FROZEN_SECONDS)  # the fault itself
        finally:
            for pid in frozen:
                os.kill(pid, signal.SIGCONT)
        ended = stack.client.wait(job.id, timeout=TIMEOUT)

    assert (ended.state, ended.error) == (State.DONE, None)
    outcomes = [attempt["outcome"] for attempt in attempts_of(stack, job.id)]
    assert outcomes.count("done") == PARTITIONS
    assert name != "gpu0" or ("lost" in outcomes) == bool(held)
    assert [fault for reading in watcher.readings for fault in faults(reading)] == []
    assert_balanced(stack, live, merkle, [job.id])
    assert set(tree_of(stack.pid(name))) == set(frozen), "it works on: nobody had to start another"
