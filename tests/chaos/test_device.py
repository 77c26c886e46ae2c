"""A device in the middle of a proof: it answers, it is cancelled, it is killed."""

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from celery import Celery

from cuzkweb.celery import configuration
from cuzkweb.client import Job, State
from tests.support.merkle import assert_verified, leaves
from tests.support.processes import wait_for
from tests.support.stack import Stack, running_stack
from tests.support.watcher import Watcher, faults, proving_now

pytestmark = [pytest.mark.chaos, pytest.mark.acceptance, pytest.mark.shared]

TIMEOUT = 120.0
LET_GO_SECONDS = 10.0


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    """The portable engine, so that a proof lasts long enough to meddle with."""
    home = tmp_path_factory.mktemp("home")
    with running_stack(home, "--no-flower", CUZKWEB_ENGINE="portable") as running:
        yield running


def submit_and_catch(stack: Stack, circuit: str, merkle: Path, count: int) -> tuple[Job, int]:
    """A fresh job, and the partition that the device is proving just now."""
    job = stack.client.submit(circuit, leaves(merkle, count))
    caught = wait_for(
        lambda: [found for found in [proving_now(stack.client.status(), job.id)] if found is not None],
        "the device proves a partition of the job",
        TIMEOUT,
    )
    return job, caught[0]


def test_a_worker_answers_a_ping_in_the_middle_of_a_prove(stack: Stack, circuit: str, merkle: Path) -> None:
    monitor = Celery("monitor", set_as_current=False)
    monitor.conf.update(configuration(stack.state()["redis_url"], "test"))
    worker = stack.client.status()["gpu_workers"][0]["name"]
    job, _ = submit_and_catch(stack, circuit, merkle, 8)

    def answered_while_proving() -> bool:
        before = proving_now(stack.client.status(), job.id)
        replies = monitor.control.ping(destination=[worker], timeout=2.0, limit=1)
        after = proving_now(stack.client.status(), job.id)
        return before is not None and before == after and replies == [{worker: {"ok": "pong"}}]

    wait_for(answered_while_proving, "a ping answered while one partition was proved", TIMEOUT)
    assert stack.client.wait(job.id, timeout=TIMEOUT).state == State.DONE


def test_a_job_is_cancelled_while_it_proves(stack: Stack, circuit: str, merkle: Path) -> None:
    with Watcher(stack) as watcher:
        job, caught = submit_and_catch(stack, circuit, merkle, 4)
        asked = stack.client.cancel(job.id)
        started = time.monotonic()
        ended = stack.client.wait(job.id, timeout=TIMEOUT)
        took = time.monotonic() - started

    assert asked.state in {State.CANCELLING, State.CANCELLED}
    assert ended.state == State.CANCELLED
    assert ended.partitions[caught].state == State.CANCELLED
    assert took < LET_GO_SECONDS
    assert [fault for reading in watcher.readings for fault in faults(reading)] == []
    assert not (stack.home / "spool" / job.id).exists()
    wait_for(lambda: proving_now(stack.client.status(), job.id) is None, "the device is free", 5)


def test_a_device_worker_that_is_killed_loses_nothing(stack: Stack, circuit: str, merkle: Path) -> None:
    victim = stack.pid("gpu0")
    with Watcher(stack) as watcher:
        job, caught = submit_and_catch(stack, circuit, merkle, 4)
        os.kill(victim, signal.SIGKILL)
        ended = stack.client.wait(job.id, timeout=TIMEOUT)

    assert (ended.state, ended.error) == (State.DONE, None)
    assert_verified(merkle, stack.client.proofs(job.id), 4)
    attempts = {partition.index: partition.attempt for partition in ended.partitions}
    assert attempts == {index: 2 if index == caught else 1 for index in range(4)}
    assert stack.pid("gpu0") != victim
    assert [fault for reading in watcher.readings for fault in faults(reading)] == []
    assert len(watcher.readings) > 20
