"""What travels: tokens and the JSON of records."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proving.tracker import codec
from proving.tracker.keys import Keys, member, parse_member
from proving.tracker.records import (
    Assignment,
    DeviceMemory,
    Ending,
    JobRecord,
    JobSpec,
    JobState,
    ResidentKey,
    WorkerKind,
    WorkerRecord,
    WorkerSpec,
)
from tests.support.tracker import job_spec
from tests.support.world import World

names = st.text(st.characters(exclude_categories=["C"]), min_size=1, max_size=20)
assignments = st.builds(
    Assignment, names, names, st.integers(0, 10**6), st.integers(1, 99), st.integers(0, 2**53)
)


@given(assignments)
def test_token_reads_back(assignment):
    assert Assignment.parse(assignment.token()) == assignment


@given(assignments, assignments)
def test_tokens_differ_when_assignments_do(one, other):
    assert (one.token() == other.token()) == (one == other)


@pytest.mark.parametrize("token", ["", "gpu0@host/job/1/2", "a/b/c/d/e", "a/b/1/2/3/4"])
def test_broken_token_is_refused(token):
    with pytest.raises(ValueError, match=r"token|invalid literal"):
        Assignment.parse(token)


@given(names, st.integers(0, 10**7))
def test_member_reads_back(job_id, index):
    assert parse_member(member(job_id, index)) == (job_id, index)


def test_all_keys_share_one_hash_tag():
    keys = Keys("main")
    for name in (keys.job("a}b{c"), keys.partition("j", 3), keys.worker("w"), keys.leases, keys.rev):
        assert name.startswith("{cuzk:main}:")


def test_partition_reads_back_with_its_history():
    world = World(total=1)
    world.synthesized(0)
    world.lose(world.claim_device("gpu0", 0, 1))
    world.claim_device("gpu1", 0, 2)
    record = world.partitions[0]
    assert record.history
    assert record.assignment
    assert codec.load_partition(codec.dump(record)) == record


def test_job_and_worker_read_back():
    job = JobRecord(
        job_spec(deadline=5.0), JobState.CANCELLING, 1.0, 1, 1, 0, Ending.DEADLINE, "late", None, 3.0
    )
    assert codec.load_job(codec.dump(job)) == job
    worker = WorkerRecord(
        WorkerSpec("gpu0@host", WorkerKind.DEVICE, "host", "cuda:0", 0, "H200", 12, "0.1", "boot"),
        0,
        1.0,
        2.0,
        Assignment("gpu0@host", "job", 0, 1, 2),
        draining=True,
        memory=DeviceMemory(10, 5),
        resident_keys=(ResidentKey("c", 4, 0.5, in_use=True),),
    )
    assert codec.load_worker(codec.dump(worker)) == worker


def test_enums_are_plain_words_in_json():
    assert json.loads(codec.dump(JobRecord(job_spec())))["state"] == "running"


@pytest.mark.parametrize(
    "changes",
    [
        {"total_partitions": 0},
        {"max_attempts": 0},
        {"priority": 0},
        {"priority": 5},
        {"host_bytes": 1, "evaluation_bytes": 2},
        {"evaluation_bytes": -1},
    ],
)
def test_senseless_job_is_refused(changes):
    given = {"total_partitions": 1, "submitted_at": 0.0} | changes
    with pytest.raises(ValueError, match=r"partition|priority|evaluations"):
        JobSpec("job", "groth16", "circuit", **given)
