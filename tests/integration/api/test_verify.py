"""Verification over HTTP."""

import json
from typing import Any

import pytest

from kernels.curves import BN254
from kernels.device import open_device
from proving.formats.snarkjs import proof_to_json, public_to_json
from proving.formats.wtns import read_witness
from proving.formats.zkey import read_zkey
from proving.groth16.prover import prove
from proving.models import Circuit
from tests.integration.conftest import Caller, CircuitFolder

pytestmark = pytest.mark.django_db

VERIFY = "/api/v1/verify"


@pytest.fixture(scope="session")
def statement(multiplier: CircuitFolder) -> dict[str, Any]:
    """A proof of 3 * 11 = 33, made with the session's own key."""
    device = open_device("host", threads=1)
    proved = prove(device, read_zkey(multiplier.zkey), read_witness(multiplier.wtns).values)
    device.close()
    return {"proof": proof_to_json(proved.proof), "public": public_to_json(proved.public)}


def test_a_valid_proof_is_valid(caller: Caller, circuit: Circuit, statement: dict[str, Any]) -> None:
    answer = caller.post(VERIFY, {"circuit": circuit.pk, **statement})
    assert answer.status_code == 200
    assert answer.json() == {"valid": True, "failed": None, "reason": "valid", "bad": []}
    assert statement["public"] == ["33"]


def test_a_verifying_key_may_be_brought(
    caller: Caller, multiplier: CircuitFolder, statement: dict[str, Any]
) -> None:
    key = json.loads(multiplier.vkey.read_bytes())
    assert caller.post(VERIFY, {"verifying_key": key, **statement}).json()["valid"] is True


@pytest.mark.parametrize(
    ("public", "failed"),
    [
        (["34"], "pairing"),
        ([str(33 + BN254.r)], "public_range"),
        ([], "public_count"),
        (["33", "33"], "public_count"),
    ],
)
def test_a_wrong_statement_names_the_check(
    caller: Caller, circuit: Circuit, statement: dict[str, Any], public: list[str], failed: str
) -> None:
    answer = caller.post(VERIFY, {"circuit": circuit.pk, "proof": statement["proof"], "public": public})
    assert answer.status_code == 200
    assert (answer.json()["valid"], answer.json()["failed"]) == (False, failed)


def test_a_point_off_the_curve_is_no_proof(
    caller: Caller, circuit: Circuit, statement: dict[str, Any]
) -> None:
    proof = {**statement["proof"], "pi_a": ["1", "1", "1"]}
    answer = caller.post(VERIFY, {"circuit": circuit.pk, "proof": proof, "public": ["33"]}).json()
    assert (answer["valid"], answer["failed"]) == (False, "on_curve")


@pytest.mark.parametrize(
    ("change", "pointer"),
    [
        ({"proof": {}}, "#/proof"),
        ({"proof": []}, "#/proof"),
        ({"proof": 1.5}, "#/proof"),
        ({"public": "33"}, "#/public"),
        ({"public": ["x"]}, "#/public/0"),
        ({"public": [1.5]}, "#/public/0"),
        ({"public": [-1]}, "#/public/0"),
    ],
)
def test_what_is_no_proof_document_is_pointed_at(
    caller: Caller, circuit: Circuit, statement: dict[str, Any], change: dict[str, Any], pointer: str
) -> None:
    answer = caller.post(VERIFY, {"circuit": circuit.pk, **statement, **change})
    assert answer.status_code == 422
    assert [error["pointer"] for error in answer.json()["errors"]] == [pointer]


def test_a_coordinate_at_fault_is_pointed_at(
    caller: Caller, circuit: Circuit, statement: dict[str, Any]
) -> None:
    proof = {**statement["proof"], "pi_b": [["1", "x"], ["1", "2"], ["1", "0"]]}
    answer = caller.post(VERIFY, {"circuit": circuit.pk, "proof": proof, "public": ["33"]})
    assert answer.json()["errors"][0]["pointer"] == "#/proof/pi_b/0/1"


@pytest.mark.parametrize("keys", [{}, {"circuit": "x", "verifying_key": {}}])
def test_one_key_is_wanted(caller: Caller, statement: dict[str, Any], keys: dict[str, Any]) -> None:
    answer = caller.post(VERIFY, {**keys, **statement})
    assert (answer.status_code, answer.json()["errors"][0]["code"]) == (422, "one_of")


def test_a_bad_verifying_key_is_pointed_at(caller: Caller, statement: dict[str, Any]) -> None:
    answer = caller.post(VERIFY, {"verifying_key": {"protocol": "plonk"}, **statement})
    assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (422, "#/verifying_key/protocol")
