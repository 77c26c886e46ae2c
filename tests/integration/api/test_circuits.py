"""Circuits over HTTP."""

from collections.abc import Callable
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from pytest_django import DjangoAssertNumQueries, Settings

from proving.models import Circuit
from tests.integration.conftest import Caller, CircuitFolder

pytestmark = pytest.mark.django_db

CIRCUITS = "/api/v1/circuits"


def test_a_circuit_is_registered_and_read_back(caller: Caller, multiplier: CircuitFolder) -> None:
    made = caller.upload(CIRCUITS, multiplier.upload())
    assert made.status_code == 201
    found = caller.get(made["Location"])
    assert found.status_code == 200
    document = found.json()
    assert document == made.json()
    assert document["links"]["self"] == made["Location"]
    assert document["verifying_key"]["curve"] == "bn128"
    assert (document["name"], document["curve"], document["proof_kind"]) == ("multiplier", "bn254", "groth16")
    assert (document["public_count"], document["constraint_count"], document["insecure"]) == (1, 1, True)
    assert document["proving_key"]["size"] == multiplier.zkey.stat().st_size
    assert None not in document.values()


def test_the_same_registration_is_answered_with_200(caller: Caller, multiplier: CircuitFolder) -> None:
    first = caller.upload(CIRCUITS, multiplier.upload())
    again = caller.upload(CIRCUITS, multiplier.upload())
    assert (again.status_code, again.json()["id"]) == (200, first.json()["id"])


def test_a_circuit_is_found_by_its_name_too(caller: Caller, circuit: Circuit) -> None:
    assert caller.get(f"{CIRCUITS}/multiplier").json()["id"] == circuit.pk


def test_the_file_at_fault_is_pointed_at(caller: Caller, multiplier: CircuitFolder, home: Path) -> None:
    (home / "bad.zkey").write_bytes(multiplier.zkey.read_bytes()[:-1])
    answer = caller.upload(CIRCUITS, multiplier.upload(proving_key=home / "bad.zkey"))
    assert answer.status_code == 422
    assert answer["Content-Type"] == "application/problem+json"
    document = answer.json()
    assert document["code"] == "bad_proving_key"
    assert [error["pointer"] for error in document["errors"]] == ["#/proving_key"]
    assert str(home) not in answer.text


@pytest.mark.parametrize(
    ("change", "pointer", "code"),
    [
        ({"proving_key": None}, "#/proving_key", "required"),
        ({"name": None}, "#/name", "required"),
        ({"name": ""}, "#/name", "blank"),
        ({"proving_key": "a text"}, "#/proving_key", "invalid"),
        ({"proof_kind": "plonk"}, "#/proof_kind", "invalid_choice"),
        ({"wasm": "x"}, "#/wasm", "unknown_field"),
    ],
)
def test_a_bad_form_is_pointed_at(
    caller: Caller, multiplier: CircuitFolder, change: dict[str, str | None], pointer: str, code: str
) -> None:
    answer = caller.upload(CIRCUITS, multiplier.upload(**change))
    assert answer.status_code == 400
    assert [(error["pointer"], error["code"]) for error in answer.json()["errors"]] == [(pointer, code)]


def test_an_empty_file_is_named(caller: Caller, multiplier: CircuitFolder, home: Path) -> None:
    (home / "empty.zkey").touch()
    answer = caller.upload(CIRCUITS, multiplier.upload(proving_key=home / "empty.zkey"))
    assert (answer.status_code, answer.json()["code"]) == (422, "bad_proving_key")


def test_a_registration_has_files_or_names_them(caller: Caller) -> None:
    answer = caller.post(CIRCUITS, {"name": "x"})
    assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (400, "#/proving_key")
    assert caller.client.post(CIRCUITS, "x", content_type="text/plain").status_code == 415


def test_an_upload_past_the_limit_is_413(
    caller: Caller, multiplier: CircuitFolder, settings: Settings
) -> None:
    settings.CUZKWEB_MAX_UPLOAD_BYTES = 1000
    answer = caller.upload(CIRCUITS, multiplier.upload())
    assert (answer.status_code, answer.json()["code"]) == (413, "too_large")


def test_others_do_not_see_a_circuit(
    calling: Callable[[User], Caller], bob: User, staff: User, circuit: Circuit
) -> None:
    stranger, operator = calling(bob), calling(staff)
    assert stranger.get(f"{CIRCUITS}/{circuit.pk}").status_code == 404
    assert stranger.get(f"{CIRCUITS}/multiplier").status_code == 404
    assert stranger.get(CIRCUITS).json()["results"] == []
    assert operator.get(f"{CIRCUITS}/{circuit.pk}").status_code == 200
    assert len(operator.get(CIRCUITS).json()["results"]) == 1


def test_a_list_costs_the_same_whatever_its_length(
    caller: Caller,
    circuit: Circuit,
    django_assert_max_num_queries: DjangoAssertNumQueries,
) -> None:
    for number in range(5):
        circuit.pk, circuit.name = f"{number:026}", f"circuit {number}"
        circuit.save(force_insert=True)
    with django_assert_max_num_queries(3):
        page = caller.get(CIRCUITS, limit=4).json()
    assert len(page["results"]) == 4
    rest = caller.client.get(page["next"]).json()
    assert len(rest["results"]) == 2
    assert "verifying_key" not in page["results"][0]
