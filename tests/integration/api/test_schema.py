"""The description of the API: valid, committed, current, and true of what is answered."""

from collections.abc import Callable
from io import StringIO
from typing import Any

import pytest
import yaml
from django.core.management import call_command
from django.test import Client
from jsonschema import Draft202012Validator

from proving.choices import JobState, PartitionState
from proving.models import Circuit, Job
from tests.conftest import REPOSITORY
from tests.integration.conftest import Caller, Dispatched

COMMITTED = REPOSITORY / "docs" / "openapi.yaml"


@pytest.fixture(scope="session")
def described() -> dict[str, Any]:
    return yaml.safe_load(COMMITTED.read_text())


def test_the_committed_description_is_current() -> None:
    out = StringIO()
    call_command("spectacular", validate=True, fail_on_warn=True, stdout=out)
    fresh = yaml.safe_load(out.getvalue())
    assert fresh == yaml.safe_load(COMMITTED.read_text()), (
        "run: manage.py spectacular --file docs/openapi.yaml"
    )


def test_the_description_is_served_to_anybody() -> None:
    answer = Client().get("/api/schema/")
    assert answer.status_code == 200
    assert yaml.safe_load(answer.content)["info"]["title"] == "cuzkweb"


def test_the_states_are_closed_sets(described: dict[str, Any]) -> None:
    schemas = described["components"]["schemas"]
    assert schemas["JobState"]["enum"] == [str(state) for state in JobState]
    assert schemas["PartitionState"]["enum"] == [str(state) for state in PartitionState]


def test_every_operation_may_answer_with_a_problem(described: dict[str, Any]) -> None:
    operations = [operation for path in described["paths"].values() for operation in path.values()]
    assert len(operations) >= 10
    for operation in operations:
        assert "application/problem+json" in operation["responses"]["default"]["content"]


@pytest.mark.django_db
def test_what_is_answered_is_what_is_described(
    caller: Caller, circuit: Circuit, dispatched: Dispatched, described: dict[str, Any]
) -> None:
    def conforms(name: str, document: Any) -> None:
        schema = {"$ref": f"#/components/schemas/{name}", "components": described["components"]}
        Draft202012Validator(schema).validate(document)

    body = {"circuit": circuit.pk, "inputs": [{"a": 1, "b": 2}]}
    conforms("JobDocument", caller.post("/api/v1/jobs", body).json())
    Job.objects.update(state=JobState.FAILED, error_code="x", error_detail="y", error_partition=0)
    conforms("PaginatedJobSummaryList", caller.get("/api/v1/jobs").json())
    conforms("PaginatedCircuitSummaryList", caller.get("/api/v1/circuits").json())
    conforms("CircuitDocument", caller.get(f"/api/v1/circuits/{circuit.pk}").json())
    conforms("ProblemDocument", caller.get("/api/v1/jobs/none").json())
    conforms("ProblemDocument", caller.post("/api/v1/jobs", {}).json())


def test_the_same_description_comes_whatever_was_asked_before(calling: Callable[..., Caller]) -> None:
    assert Client().get("/api/schema/").content == Client().get("/api/schema/").content
