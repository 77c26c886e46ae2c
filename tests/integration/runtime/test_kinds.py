"""Proof kinds and bellman parameters, from the request to the bytes that are handed on."""

import base64
import json
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User

from proving.choices import KINDS, JobState, OnFailure, PartitionState, ProofKind
from proving.formats.bellman import proofs_from_bellman
from proving.formats.bellman_key import encode_parameters
from proving.formats.files import write_atomically
from proving.formats.r1cs import read_r1cs
from proving.formats.snarkjs import verifying_key_from_json
from proving.groth16.qap import RowOrder
from proving.groth16.setup import setup
from proving.groth16.verifier import verify_batch
from proving.models import Circuit, Job
from proving.services import dispatch
from proving.services.errors import ServiceError
from proving.services.proofs import concatenated, encode, proofs_of
from proving.services.register import CircuitFiles, register_circuit
from proving.services.submit import JobRequest, submit_inputs
from tests.integration.conftest import FIXTURES, Caller, CircuitFolder, as_upload
from tests.integration.runtime.conftest import Line

pytestmark = pytest.mark.django_db
COMPILED = FIXTURES / "compiled"
GOOD = {"a": "3", "b": "11"}


@pytest.fixture(scope="session")
def parameters(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """bellman parameters of the multiplier."""
    path = tmp_path_factory.mktemp("parameters") / "multiplier.params"
    key = setup(read_r1cs(COMPILED / "multiplier_bls12381.r1cs"), order=RowOrder.BELLMAN)
    write_atomically(path, encode_parameters(key))
    return path


def files(parameters: Path, **changed: Path | None) -> CircuitFiles:
    given: dict[str, Path | None] = {
        "proving_key": parameters,
        "witness_generator": COMPILED / "multiplier_bls12381.wasm",
        "r1cs": COMPILED / "multiplier_bls12381.r1cs",
        **changed,
    }
    return CircuitFiles(**{name: as_upload(path) for name, path in given.items()})


def register(owner: User, kind: ProofKind, given: CircuitFiles) -> Circuit:
    return register_circuit(owner, f"circuit-{kind}", kind, given).circuit


def submit(owner: User, circuit: Circuit, *inputs: Any, **options: Any) -> Job:
    job = submit_inputs(owner, JobRequest(circuit, **options), inputs).job
    dispatch.enqueue_job(job)
    return job


def products(count: int) -> list[dict[str, str]]:
    return [{"a": "3", "b": str(index)} for index in range(count)]


def test_ten_partitions_over_parameters_become_1920_bytes(
    home: Path, line: Line, alice: User, calling: Any, parameters: Path
) -> None:
    circuit = register(alice, ProofKind.POREP_C2, files(parameters))
    assert (circuit.curve, circuit.domain_size, circuit.constraint_count) == ("bls12-381", 4, 1)
    job = submit(alice, circuit, *products(10))
    assert job.id.startswith("porep-")

    line.run()

    job.refresh_from_db()
    assert job.state == JobState.DONE
    whole = concatenated(job, proofs_of(job))
    assert whole is not None
    assert (whole["form"], whole["size"]) == ("bellman", 1920)
    proofs = proofs_from_bellman(base64.b64decode(whole["base64"]))
    key = verifying_key_from_json(circuit.verifying_key)
    assert verify_batch(key, proofs, [[3 * index] for index in range(10)]).valid
    shuffled = [*proofs[1:], proofs[0]]
    assert not verify_batch(key, shuffled, [[3 * index] for index in range(10)]).valid
    answer = calling(alice).get(f"/api/v1/jobs/{job.id}/proof", form="bellman")
    assert answer.content == base64.b64decode(whole["base64"])
    assert answer["Content-Type"] == "application/octet-stream"
    document = calling(alice).get(f"/api/v1/jobs/{job.id}/proof").json()
    assert document["concatenated"] == whole


def test_other_forms_of_a_jobs_proofs(home: Path, line: Line, alice: User, circuit: Circuit) -> None:
    job = submit(alice, circuit, GOOD)

    line.run()

    rows = proofs_of(job.__class__.objects.get(pk=job.pk))
    assert concatenated(job, rows) is None
    assert len(encode(rows, "gnark").content) == 164
    assert encode(rows, "calldata").content.count(b"0x") == 9
    with pytest.raises(ServiceError, match="bellman has no form for bn254"):
        encode(rows, "bellman")


def test_parameters_want_the_constraints_that_they_are_for(home: Path, alice: User, parameters: Path) -> None:
    for changed, pointer, reason in (
        ({"r1cs": None}, "/r1cs", "hold no constraints"),
        ({"r1cs": COMPILED / "multiplier.r1cs"}, "/r1cs", "bn254"),
        ({"r1cs": COMPILED / "arrays_bls12381.r1cs"}, "/proving_key", "not the parameters of this circuit"),
    ):
        with pytest.raises(ServiceError) as caught:
            register(alice, ProofKind.GROTH16, files(parameters, **changed))
        assert caught.value.faults[0].pointer == pointer
        assert reason in caught.value.detail


def test_a_cut_parameters_file_is_named_as_such(
    home: Path, alice: User, parameters: Path, tmp_path: Path
) -> None:
    cut = tmp_path / "cut.params"
    cut.write_bytes(parameters.read_bytes()[:-100])
    with pytest.raises(ServiceError, match="b_g2 query"):
        register(alice, ProofKind.GROTH16, files(cut))


@pytest.mark.parametrize("kind", ProofKind)
def test_prefix_priority_and_partitions_are_the_kinds(
    home: Path, line: Line, alice: User, parameters: Path, kind: ProofKind
) -> None:
    circuit, traits = register(alice, kind, files(parameters)), KINDS[kind]
    for count in (1, 2, 3, 4, 10, 16, 17):
        if traits.partition_counts and count not in traits.partition_counts:
            with pytest.raises(ServiceError) as caught:
                submit(alice, circuit, *products(count))
            assert caught.value.code == "partition_count"
            assert f"not {count}" in caught.value.detail
        else:
            job = submit(alice, circuit, *products(count))
            assert job.id.startswith(f"{traits.prefix}-")
            assert (job.priority, job.partition_count) == (traits.priority, count)


def test_the_table_says_what_filecoin_says() -> None:
    sizes = {kind: max(traits.partition_counts, default=1) * 192 for kind, traits in KINDS.items()}
    assert (sizes[ProofKind.POREP_C2], sizes[ProofKind.SNAP_UPDATE]) == (1920, 3072)
    inputs = [traits.public_inputs for traits in KINDS.values()]
    assert inputs == [None, 327, 4, 25839, 67]


@pytest.fixture
def asserting(home: Path, alice: User, circuit_folder: Any) -> Circuit:
    """A circuit whose assertion some inputs break."""
    return register_folder(alice, circuit_folder("asserting"))


def register_folder(owner: User, folder: CircuitFolder) -> Circuit:
    given = folder.upload()
    given.pop("name")
    return register_circuit(owner, "asserting", ProofKind.GROTH16, CircuitFiles(**given)).circuit


@pytest.mark.parametrize("on_failure", [None, OnFailure.CANCEL, OnFailure.CONTINUE])
def test_what_becomes_of_the_others_when_one_fails(
    line: Line,
    alice: User,
    calling: Any,
    asserting: Circuit,
    circuit_folder: Any,
    *,
    on_failure: OnFailure | None,
) -> None:
    good = circuit_folder("asserting").input
    bad = {"value": "11"}
    job = submit(alice, asserting, good, bad, good, on_failure=on_failure)

    line.run()

    job.refresh_from_db()
    assert (job.state, job.error_partition) == (JobState.FAILED, 1)
    states = list(job.partitions.order_by("index").values_list("state", flat=True))
    answer = calling(alice).get(f"/api/v1/jobs/{job.id}/proof")
    if on_failure == OnFailure.CONTINUE:
        assert states == [PartitionState.DONE, PartitionState.FAILED, PartitionState.DONE]
        assert [proof["index"] for proof in answer.json()["proofs"]] == [0, 2]
    else:
        assert states[1] == PartitionState.FAILED
        assert PartitionState.CANCELLED in states
        assert answer.status_code == 409


def test_concatenated_kinds_are_all_or_nothing(home: Path, line: Line, alice: User, parameters: Path) -> None:
    circuit = register(alice, ProofKind.WINDOW_POST, files(parameters))
    with pytest.raises(ServiceError, match="all or nothing") as caught:
        submit(alice, circuit, GOOD, on_failure=OnFailure.CONTINUE)
    assert caught.value.faults[0].pointer == "/on_failure"


def test_on_failure_over_http(caller: Caller, circuit: Circuit, dispatched: Any) -> None:
    body = {"circuit": circuit.pk, "inputs": [GOOD], "on_failure": "continue"}
    answer = caller.post("/api/v1/jobs", body)
    assert (answer.status_code, answer.json()["on_failure"]) == (202, "continue")
    body["on_failure"] = "hope"
    assert caller.post("/api/v1/jobs", body).json()["errors"][0]["pointer"] == "#/on_failure"


def test_remarks_on_a_circuit(home: Path, alice: User, calling: Any, parameters: Path) -> None:
    circuit = register(alice, ProofKind.POREP_C2, files(parameters))
    found = calling(alice).get(f"/api/v1/circuits/{circuit.pk}").json()["remarks"]
    assert "no phase-2 contribution" in found[0]
    assert "327 public inputs, this one 1" in found[1]


def test_a_witness_that_breaks_the_circuit_is_refused_at_the_door(
    caller: Caller, circuit: Circuit, multiplier: CircuitFolder, tmp_path: Path, dispatched: Any
) -> None:
    from proving.formats.wtns import read_witness, write_witness

    witness = read_witness(multiplier.wtns)
    values = witness.values.copy()
    values[1, 0] += 1
    write_witness(tmp_path / "bad.wtns", type(witness)(witness.curve, values))
    fields = {"circuit": circuit.pk, "witness": [as_upload(tmp_path / "bad.wtns")]}
    answer = caller.upload("/api/v1/jobs", fields)
    assert (answer.status_code, answer.json()["code"]) == (422, "unsatisfied_witness")
    assert "constraint 0" in json.dumps(answer.json())
    assert not Job.objects.exists()
    assert dispatched.enqueued == []


def test_what_the_circuit_logs_is_the_owners_to_read(
    line: Line, alice: User, staff: User, calling: Any, asserting: Circuit
) -> None:
    job = submit(alice, asserting, {"value": "9"}, {"value": "7"}, on_failure=OnFailure.CONTINUE)

    line.run()

    document = calling(alice).get(f"/api/v1/jobs/{job.id}").json()
    logs = [(entry["partition"], entry["lines"]) for entry in document["logs"]]
    assert logs == [(0, ["value 9"]), (1, ["value 7"])]  # the second failed after it had logged
    assert "value 7" not in json.dumps([document["error"], document["partitions"]])
    assert calling(staff).get(f"/api/v1/jobs/{job.id}").json()["logs"] == []


def test_a_log_is_kept_in_bounds(line: Line, alice: User, circuit: Circuit) -> None:
    from proving.models import CircuitLog
    from proving.services import circuit_log

    job = submit(alice, circuit, GOOD)
    with circuit_log.kept(job.pk, 0, 1) as log:
        for number in range(1000):
            log(f"{number} {'x' * 1000}")
    lines = CircuitLog.objects.get().lines
    assert (len(lines), len(lines[-1])) == (circuit_log.MAX_LINES, circuit_log.MAX_LINE)

    def fail() -> None:
        with circuit_log.kept(job.pk, 0, 2) as log:
            log("the last words")
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    assert CircuitLog.objects.get().lines == ["the last words"]
