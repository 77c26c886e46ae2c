"""The history of a job is durable: it is answered from rows, with the live state long gone."""

from datetime import UTC, datetime, timedelta

import pytest

from proving.choices import AttemptOutcome, PartitionState
from proving.models import Circuit, Job, Partition, PartitionAttempt
from tests.integration.conftest import Caller, Dispatched

pytestmark = pytest.mark.django_db

START = datetime(2026, 5, 1, 12, tzinfo=UTC)
STEPS = (
    *("queued_at", "synthesis_started_at", "synthesis_ended_at", "device_started_at", "device_ended_at"),
    *("finalize_started_at", "finalize_ended_at"),
)


def times(count: int) -> dict[str, datetime]:
    return {name: START + timedelta(seconds=step) for step, name in enumerate(STEPS[:count])}


@pytest.fixture
def job(caller: Caller, circuit: Circuit, dispatched: Dispatched) -> Job:
    body = {"circuit": circuit.pk, "inputs": [{"a": 3, "b": 11}] * 2, "request_id": "seven"}
    caller.post("/api/v1/jobs", body)
    return Job.objects.get(name="seven")


def test_each_attempt_is_told(caller: Caller, job: Job) -> None:
    first = job.partitions.get(index=0)
    PartitionAttempt.objects.create(
        partition=first,
        attempt=1,
        worker="gpu0@host",
        device="cuda:0",
        outcome=AttemptOutcome.LOST,
        error_detail="the worker was lost in gpu",
        ended_at=START + timedelta(minutes=1),
        **times(4),
    )
    Partition.objects.filter(pk=first.pk).update(
        state=PartitionState.DONE, attempt=2, worker="gpu1@host", device="cuda:1", **times(7)
    )
    PartitionAttempt.objects.create(
        partition=first, attempt=2, worker="gpu1@host", outcome=AttemptOutcome.DONE, **times(7)
    )

    document = caller.get("/api/v1/jobs/seven/timeline").json()

    assert document["job"] == "seven"
    told, waiting = document["partitions"]
    assert (told["index"], told["state"]) == (0, "done")
    lost, done = told["attempts"]
    assert (lost["attempt"], lost["outcome"], lost["worker"]) == (1, "lost", "gpu0@host")
    assert lost["error"]["detail"] == "the worker was lost in gpu"
    assert (lost["device_started_at"], lost["device_ended_at"]) == ("2026-05-01T12:00:03Z", None)
    assert (done["attempt"], done["outcome"]) == (2, "done")
    assert [done[name] for name in STEPS] == [f"2026-05-01T12:00:0{step}Z" for step in range(7)]
    (open_,) = waiting["attempts"]
    assert (open_["attempt"], open_["outcome"], open_["ended_at"]) == (1, None, None)
    assert open_["queued_at"] is not None


def test_it_is_for_those_who_may_see_the_job(calling, bob, job: Job) -> None:
    assert calling(bob).get("/api/v1/jobs/seven/timeline").status_code == 404


def test_it_costs_the_same_for_many_partitions(
    caller: Caller, job: Job, django_assert_max_num_queries
) -> None:
    Partition.objects.bulk_create(Partition(job=job, index=index) for index in range(2, 60))
    with django_assert_max_num_queries(6):
        assert len(caller.get("/api/v1/jobs/seven/timeline").json()["partitions"]) == 60
