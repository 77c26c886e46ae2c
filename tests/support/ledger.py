"""The account taken when all is over: what was asked for, what was made of it, what was left lying."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import redis

from cuzkweb.celery import CONTROL, FINALIZE, GPU, SYNTHESIS
from cuzkweb.client import Job, State
from proving.tracker.keys import Keys
from proving.tracker.records import Phase
from tests.support.merkle import assert_verified
from tests.support.processes import wait_for
from tests.support.stack import Stack
from tests.support.watcher import faults

DEPLOYMENT = "test"
SETTLED_SECONDS = 20.0


def assert_balanced(stack: Stack, live: redis.Redis, merkle: Path, jobs: Iterable[str]) -> dict[str, Job]:
    """Each job is terminal, each partition of a job that is done has one proof and each proof verifies;
    no worker is busy, and no lease, reservation, place in a line, message or file is left."""
    found = {job_id: stack.client.job(job_id) for job_id in jobs}
    for job in found.values():
        assert job.state in {State.DONE, State.FAILED, State.CANCELLED}, job
        if job.state == State.DONE:
            assert_verified(merkle, stack.client.proofs(job.id), len(job.partitions))
            assert_done_once(stack, job)
    wait_for(
        lambda: not leftovers(stack, live), f"nothing is left of {leftovers(stack, live)}", SETTLED_SECONDS
    )
    return found


def assert_done_once(stack: Stack, job: Job) -> None:
    """Exactly one attempt of each partition was done, the last."""
    partitions = stack.client._ask("GET", f"/api/v1/jobs/{job.id}/timeline")["partitions"]
    for partition in partitions:
        outcomes = [attempt["outcome"] for attempt in partition["attempts"]]
        assert outcomes.count("done") == 1, (job.id, partition["index"], outcomes)
        assert outcomes[-1] == "done", (job.id, partition["index"], outcomes)


def attempts_of(stack: Stack, job_id: str) -> list[dict[str, Any]]:
    """All attempts of a job, by partition and then in order."""
    partitions = stack.client._ask("GET", f"/api/v1/jobs/{job_id}/timeline")["partitions"]
    return [attempt for partition in partitions for attempt in partition["attempts"]]


def leftovers(stack: Stack, live: redis.Redis) -> list[str]:
    """What should not be there once every job has ended, in words."""
    reading = stack.client.status()
    found = faults(reading)
    found += [f"{worker['name']} is busy" for worker in reading["gpu_workers"] if worker["current_job"]]
    found += [f"{count} wait" for count in [reading["counters"]["queue_depth"]] if count]
    found += [f"{reading['synthesis']['active']} synthesize"] if reading["synthesis"]["active"] else []
    keys = Keys(DEPLOYMENT)
    lines = [keys.waiting(phase) for phase in (Phase.PENDING, Phase.SYNTH_DONE, Phase.FINALIZING)]
    for name in (keys.leases, keys.deadlines, keys.assemblies, *lines):
        found += [f"{name} holds {live.zrange(name, 0, -1)}"] if live.zcard(name) else []
    found += [
        f"{place.decode()} holds {held.decode()} bytes"
        for place, held in live.hgetall(keys.held).items()
        if int(held)
    ]
    found += [f"a message in {name}" for name in messages(live)]
    return found + files(stack.home)


def messages(live: redis.Redis) -> list[str]:
    """Queues of the deployment with messages in them. (What a killed worker had taken is answered for when
    the broker delivers it again, hours later, to be refused: see VISIBILITY_TIMEOUT.)"""
    prefix = f"cuzk:{DEPLOYMENT}:celery:"
    names = [name.decode() for name in live.scan_iter(f"{prefix}*")]
    return [
        name
        for name in names
        if live.type(name) == b"list" and name.removeprefix(prefix).split("\x06")[0].split(".")[0] in QUEUES
    ]


QUEUES = {SYNTHESIS, GPU, FINALIZE, CONTROL}


def files(home: Path) -> list[str]:
    """Files and folders of jobs, files of uploads, whole ones and drafts."""
    found = [*(home / "spool").rglob("*"), *(home / "artefacts").rglob(".*")]
    found += [path for path in (home / "uploads").rglob("*") if path.is_file()]
    return [str(path.relative_to(home)) for path in found]
