"""Lists of jobs: what narrows them, and their order across pages."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from proving.choices import JobState
from proving.models import Circuit, Job
from tests.integration.conftest import Caller

pytestmark = pytest.mark.django_db

JOBS = "/api/v1/jobs"
START = datetime(2026, 11, 1, tzinfo=UTC)
STATES = [JobState.DONE, JobState.FAILED, JobState.RUNNING, JobState.DONE]


@pytest.fixture
def jobs(circuit: Circuit) -> list[str]:
    """Four jobs, an hour apart."""
    for hour, state in enumerate(STATES):
        Job.objects.create(
            id=f"job-{hour}",
            name=f"job-{hour}",
            owner=circuit.owner,
            circuit=circuit,
            proof_kind=circuit.proof_kind,
            request_digest="",
            state=state,
            partition_count=1,
            submitted_at=START + timedelta(hours=hour),
        )
    return [f"job-{hour}" for hour in range(4)]


def names(answer: Any) -> list[str]:
    return [row["id"] for row in answer.json()["results"]]


def test_states_and_times_narrow_the_list(caller: Caller, jobs: list[str]) -> None:
    assert names(caller.get(JOBS, state="done,failed")) == ["job-3", "job-1", "job-0"]
    after = (START + timedelta(hours=1)).isoformat()
    before = (START + timedelta(hours=3)).isoformat()
    assert names(caller.get(JOBS, created_after=after, created_before=before)) == ["job-2", "job-1"]
    assert names(caller.get(JOBS, circuit="multiplier", state="running")) == ["job-2"]


@pytest.mark.parametrize(("ordering", "wanted"), [("submitted_at", 1), ("-submitted_at", -1)])
def test_pages_follow_the_order(caller: Caller, jobs: list[str], ordering: str, wanted: int) -> None:
    seen: list[str] = []
    answer = caller.get(JOBS, ordering=ordering, limit=1)
    for _ in range(4):
        seen += names(answer)
        following = answer.json()["next"]
        if following is None:
            break
        answer = caller.client.get(following)
    assert seen == jobs[::wanted]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("state", "sleeping"),
        ("limit", "null"),
        ("limit", "-1"),
        ("limit", "0"),
        ("ordering", "owner"),
        ("created_after", "yesterday"),
        ("circuit", "none"),
    ],
)
def test_what_cannot_narrow_is_refused(caller: Caller, jobs: list[str], name: str, value: str) -> None:
    answer = caller.get(JOBS, **{name: value})
    assert answer.status_code in {400, 404}
    assert answer["Content-Type"] == "application/problem+json"
