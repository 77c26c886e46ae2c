"""One changed byte in anything that is sent: a refusal that is no 500, or a proof that verifies."""

import json
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from pytest_django import Settings

from kernels.device import open_device
from proving.choices import JobState
from proving.formats.bellman_key import encode_parameters
from proving.formats.coats import Coat, proof_to_bytes
from proving.formats.r1cs import read_r1cs
from proving.formats.snarkjs import (
    proof_from_json,
    proof_to_json,
    public_from_json,
    read_verifying_key,
    verifying_key_to_json,
)
from proving.formats.wtns import read_witness
from proving.formats.zkey import read_zkey
from proving.groth16.objects import Proof, VerifyingKey
from proving.groth16.prover import prove
from proving.groth16.qap import RowOrder
from proving.groth16.setup import setup
from proving.groth16.verifier import verify
from proving.models import Circuit, Job
from tests.integration.conftest import Caller, CircuitFolder
from tests.integration.runtime.conftest import Line
from tests.support.changes import EVERY_BYTE, changed

pytestmark = [pytest.mark.django_db, pytest.mark.timeout(0 if EVERY_BYTE else 300)]
SAMPLE = 10
REFUSED = 422
PUBLIC = ["33"]

Files = dict[str, bytes]


@pytest.fixture(autouse=True)
def unhurried(settings: Settings) -> None:
    """Nobody is told to wait."""
    settings.CUZKWEB_READS_PER_MINUTE = settings.CUZKWEB_SUBMITS_PER_MINUTE = 0


@pytest.fixture
def sent(multiplier: CircuitFolder) -> Files:
    """What a caller sends for a circuit and a job, by the names of the fields."""
    return {
        "proving_key": multiplier.zkey.read_bytes(),
        "r1cs": multiplier.r1cs.read_bytes(),
        "verifying_key": multiplier.vkey.read_bytes(),
        "witness": multiplier.wtns.read_bytes(),
    }


def upload(caller: Caller, path: str, fields: dict[str, str | bytes]) -> Any:
    files = {
        name: SimpleUploadedFile(name, value) if isinstance(value, bytes) else value
        for name, value in fields.items()
    }
    answer = caller.upload(path, files)
    assert answer.status_code in {201, 202, REFUSED}, answer.content
    return answer


def prove_or_refuse(caller: Caller, line: Line, circuit: str, witness: bytes, key: VerifyingKey) -> str:
    """How a job of one witness ends; a proof that it gives verifies with the key."""
    answer = upload(caller, "/api/v1/jobs", {"circuit": circuit, "witness": witness})
    if answer.status_code == REFUSED:
        return "job refused"
    line.run()
    job = Job.objects.get(pk=answer.json()["id"])
    if job.state == JobState.DONE:
        row = job.proofs.get()
        assert verify(key, proof_from_json(row.proof), public_from_json(row.public)).valid
        return "proved and verified"
    assert (job.state, job.error_code) == (JobState.FAILED, "unsatisfied_witness"), job.error_detail
    assert not job.proofs.exists()
    return "failed without a proof"


@pytest.mark.parametrize(
    ("name", "others"),
    [
        ("proving_key", ["r1cs"]),
        ("proving_key", []),
        ("r1cs", ["proving_key"]),
        ("verifying_key", ["proving_key"]),
    ],
)
def test_a_circuit(
    caller: Caller, line: Line, sent: Files, multiplier: CircuitFolder, *, name: str, others: list[str]
) -> None:
    key = read_verifying_key(multiplier.vkey)
    fields = {field: sent[field] for field in (name, *others)}
    print(f"{name} with {others}: {change_circuit(caller, line, fields, name, (sent['witness'], key))}")


def test_parameters(caller: Caller, line: Line, circuit_folder: Callable[[str], CircuitFolder]) -> None:
    folder = circuit_folder("multiplier_bls12381")
    made = setup(read_r1cs(folder.r1cs), order=RowOrder.BELLMAN)
    fields = {"proving_key": b"".join(encode_parameters(made)), "r1cs": folder.r1cs.read_bytes()}
    job = folder.wtns.read_bytes(), made.verifying_key
    print(f"parameters: {change_circuit(caller, line, fields, 'proving_key', job)}")


def change_circuit(
    caller: Caller, line: Line, fields: Files, name: str, job: tuple[bytes, VerifyingKey]
) -> dict[str, int]:
    """How circuits, and jobs of theirs, fare whose file `name` was changed."""
    ends: Counter[str] = Counter()
    for index, content in enumerate(changed(fields[name], SAMPLE)):
        answer = upload(caller, "/api/v1/circuits", {**fields, "name": f"c{index}", name: content})
        if answer.status_code == REFUSED:
            ends["circuit refused"] += 1
        else:
            ends[prove_or_refuse(caller, line, answer.json()["id"], *job)] += 1
    return dict(ends)


@pytest.mark.parametrize("with_r1cs", [True, False])
def test_a_witness(
    caller: Caller, line: Line, sent: Files, multiplier: CircuitFolder, circuit: Circuit, *, with_r1cs: bool
) -> None:
    if not with_r1cs:
        Circuit.objects.update(r1cs=None)
    key = read_verifying_key(multiplier.vkey)
    ends: Counter[str] = Counter()
    for content in changed(sent["witness"], SAMPLE):
        ends[prove_or_refuse(caller, line, circuit.pk, content, key)] += 1
    print(f"witness, {with_r1cs=}: {dict(ends)}")


@pytest.fixture(scope="session")
def proof(multiplier: CircuitFolder) -> Proof:
    """A proof of 3 * 11 = 33."""
    device = open_device("host", threads=1)
    proved = prove(device, read_zkey(multiplier.zkey), read_witness(multiplier.wtns).values)
    device.close()
    return proved.proof


@pytest.mark.parametrize("name", ["proof", "public", "verifying_key"])
def test_a_question_of_validity(
    caller: Caller, sent: Files, multiplier: CircuitFolder, proof: Proof, name: str
) -> None:
    key = read_verifying_key(multiplier.vkey)
    documents = {"proof": proof_to_json(proof), "public": PUBLIC, "verifying_key": verifying_key_to_json(key)}
    parts = {part: json.dumps(document).encode() for part, document in documents.items()}
    ends: Counter[str] = Counter()
    for content in changed(parts[name], SAMPLE):
        members = (f'"{part}": '.encode() + text for part, text in {**parts, name: content}.items())
        ends[ask(caller, b"{" + b", ".join(members) + b"}")] += 1
    print(f"{name}: {dict(ends)}")


@pytest.mark.parametrize("coat", [Coat.ARKWORKS, Coat.ARKWORKS_UNCOMPRESSED, Coat.GNARK, Coat.GNARK_RAW])
def test_a_question_in_another_form(caller: Caller, circuit: Circuit, proof: Proof, coat: Coat) -> None:
    ends: Counter[str] = Counter()
    for content in changed(proof_to_bytes(proof, coat), SAMPLE):
        body = {"circuit": circuit.pk, "proof": content.hex(), "public": PUBLIC}
        ends[ask(caller, json.dumps(body).encode())] += 1
    print(f"{coat}: {dict(ends)}")


def ask(caller: Caller, body: bytes) -> str:
    """The answer to a question of validity, in a word."""
    answer = caller.post("/api/v1/verify", body)
    assert answer.status_code in {200, 400, REFUSED}, answer.content
    if answer.status_code != 200:
        return "refused"
    return "valid" if answer.json()["valid"] else f"invalid: {answer.json()['failed']}"
