"""Verification over HTTP of proofs and keys in other forms than snarkjs's."""

import base64
import json
from typing import Any

import pytest

from kernels.device import open_device
from proving.formats.calldata import proof_to_abi, proof_to_calldata
from proving.formats.coats import Coat, FullVerifyingKey, proof_to_bytes, verifying_key_to_bytes
from proving.formats.snarkjs import proof_to_json
from proving.formats.wtns import read_witness
from proving.formats.zkey import read_zkey
from proving.groth16.prover import ProvedStatement, prove
from proving.groth16.proving_key import ProvingKey
from proving.models import Circuit
from tests.integration.conftest import Caller, CircuitFolder

pytestmark = pytest.mark.django_db

VERIFY = "/api/v1/verify"


def proved_with(folder: CircuitFolder) -> tuple[ProvingKey, ProvedStatement]:
    device, key = open_device("host", threads=1), read_zkey(folder.zkey)
    found = prove(device, key, read_witness(folder.wtns).values)
    device.close()
    return key, found


@pytest.fixture(scope="session")
def bn254(multiplier: CircuitFolder) -> tuple[ProvingKey, ProvedStatement]:
    return proved_with(multiplier)


@pytest.fixture(scope="session")
def bls(circuit_folder: Any) -> tuple[ProvingKey, ProvedStatement]:
    return proved_with(circuit_folder("multiplier_bls12381"))


def check(caller: Caller, **body: Any) -> dict[str, Any]:
    answer = caller.post(VERIFY, body)
    assert answer.status_code == 200, answer.content
    return answer.json()


@pytest.mark.parametrize("coat", [Coat.ARKWORKS, Coat.ARKWORKS_UNCOMPRESSED, Coat.GNARK, Coat.GNARK_RAW])
@pytest.mark.parametrize("named", [True, False])
def test_binary_forms(
    caller: Caller, circuit: Circuit, bn254: tuple[ProvingKey, ProvedStatement], coat: Coat, *, named: bool
) -> None:
    data = proof_to_bytes(bn254[1].proof, coat)
    form = {"form": str(coat)} if named else {}
    for text in (data.hex(), "0x" + data.hex(), base64.b64encode(data).decode()):
        assert check(caller, circuit=circuit.pk, proof=text, public=["33"], **form)["valid"]
    assert check(caller, circuit=circuit.pk, proof=data.hex(), public=["34"], **form)["failed"] == "pairing"


def test_calldata_brings_its_signals(
    caller: Caller, circuit: Circuit, bn254: tuple[ProvingKey, ProvedStatement]
) -> None:
    proof = bn254[1].proof
    assert check(caller, circuit=circuit.pk, proof=proof_to_calldata(proof, [33]))["valid"]
    assert not check(caller, circuit=circuit.pk, proof=proof_to_calldata(proof, [34]))["valid"]
    call = proof_to_abi(proof, [33], selector=b"\1\2\3\4")
    assert check(caller, circuit=circuit.pk, proof=call.hex(), form="calldata")["valid"]


@pytest.mark.parametrize("coat", [Coat.BELLMAN, Coat.ARKWORKS, Coat.GNARK, Coat.WAVES])
def test_a_key_in_a_binary_form(caller: Caller, bls: tuple[ProvingKey, ProvedStatement], coat: Coat) -> None:
    key, found = bls
    full = FullVerifyingKey(key.verifying_key, key.beta_g1, key.delta_g1)
    text = verifying_key_to_bytes(full, coat).hex()
    proof = proof_to_bytes(found.proof, Coat.BELLMAN).hex()
    assert check(caller, verifying_key=text, proof=proof, public=["33"])["valid"]
    assert check(caller, verifying_key=text, proof=proof, public=["33"], curve="bls12-381")["valid"]


def test_the_bad_partition_of_many_is_named(caller: Caller, bls: tuple[ProvingKey, ProvedStatement]) -> None:
    key, found = bls
    full = FullVerifyingKey(key.verifying_key, key.beta_g1, key.delta_g1)
    text = verifying_key_to_bytes(full, Coat.BELLMAN).hex()
    data = (3 * proof_to_bytes(found.proof, Coat.BELLMAN)).hex()
    assert check(caller, verifying_key=text, proof=data, public=[["33"]] * 3)["valid"]
    answer = check(caller, verifying_key=text, proof=data, public=[["33"], ["33"], ["34"]])
    assert [item["index"] for item in answer["bad"]] == [2]
    refused = caller.post(VERIFY, {"verifying_key": text, "proof": data, "public": [["33"]] * 2})
    assert refused.status_code == 422
    assert "3 proofs came with 2 lists" in refused.json()["detail"]


def test_a_list_of_proofs(
    caller: Caller, circuit: Circuit, bn254: tuple[ProvingKey, ProvedStatement]
) -> None:
    proof = bn254[1].proof
    statements = [
        {"proof": proof_to_json(proof), "public": ["33"]},
        {"proof": proof_to_bytes(proof, Coat.GNARK).hex(), "public": ["33"]},
        {"proof": proof_to_json(proof), "public": ["35"]},
        {"proof": proof_to_calldata(proof, [33])},
        {"proof": proof_to_json(proof), "public": ["33", "1"]},
    ]
    answer = check(caller, circuit=circuit.pk, proofs=statements)
    assert [(item["index"], item["failed"]) for item in answer["bad"]] == [
        (2, "pairing"),
        (4, "public_count"),
    ]
    assert check(caller, circuit=circuit.pk, proofs=statements[:2])["valid"]


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({"proof": "zz", "public": ["33"]}, "#/proof"),
        ({"proof": "00", "public": ["33"]}, "#/proof/length"),
        ({"proof": "", "public": ["33"]}, "#/proof/length"),
        ({"proof": "ff" * 128, "public": ["33"]}, "#/proof/A"),
        ({"proof": '["0x1"]', "public": ["33"]}, "#/proof/calldata"),
        ({"proofs": [{"proof": {}, "public": []}]}, "#/proofs/0/proof"),
    ],
)
def test_what_is_no_proof_is_pointed_at(
    caller: Caller, circuit: Circuit, body: dict[str, Any], pointer: str
) -> None:
    answer = caller.post(VERIFY, {"circuit": circuit.pk, **body})
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["pointer"] == pointer


@pytest.mark.parametrize("text", ["", "00", "zz", "ff" * 400])
def test_what_is_no_key_is_pointed_at(caller: Caller, text: str) -> None:
    answer = caller.post(VERIFY, {"verifying_key": text, "proof": "00", "public": []})
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["pointer"].startswith("#/verifying_key")


@pytest.mark.parametrize(
    "body", [{"proof": {}, "proofs": [{"proof": {}}]}, {"proofs": [{"proof": {}}], "public": []}, {}]
)
def test_one_or_many(caller: Caller, circuit: Circuit, body: dict[str, Any]) -> None:
    answer = caller.post(VERIFY, {"circuit": circuit.pk, **body})
    assert (answer.status_code, answer.json()["errors"][0]["code"]) == (422, "one_of")


@pytest.mark.shared
def test_the_mainnet_proofs_in_one_request(caller: Caller, shared_fixtures: Any) -> None:
    folder = shared_fixtures / "zcash-sapling"
    key = json.loads((folder / "output.verification_key.json").read_text())
    items = json.loads((folder / "chain_proofs.json").read_text())["output"]
    text = "".join(item["proof_hex"] for item in items)
    publics = [item["public"] for item in items]
    assert check(caller, verifying_key=key, proof=text, public=publics)["valid"]
    changed = [*publics[:13], [str(int(publics[13][0]) ^ 1), *publics[13][1:]], *publics[14:]]
    answer = check(caller, verifying_key=key, proof=text, public=changed)
    assert [item["index"] for item in answer["bad"]] == [13]
