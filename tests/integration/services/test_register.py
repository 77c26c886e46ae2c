"""Registration reads every file, holds it against the key, and keeps it once under its digest."""

import hashlib
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User

from proving.choices import ProofKind
from proving.models import Artefact, Circuit
from proving.services.errors import ServiceError
from proving.services.register import CircuitFiles, Registered, register_circuit
from tests.integration.conftest import CircuitFolder, as_upload

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("home")]


def register(owner: User, folder: CircuitFolder, name: str = "multiplier", **replaced: Any) -> Registered:
    given = folder.upload(**replaced)
    given.pop("name")
    return register_circuit(owner, name, ProofKind.GROTH16, CircuitFiles(**given))


def refusal(owner: User, folder: CircuitFolder, **replaced: Any) -> ServiceError:
    with pytest.raises(ServiceError) as caught:
        register(owner, folder, **replaced)
    assert not Circuit.objects.exists()
    assert not Artefact.objects.exists()
    return caught.value


def test_what_the_files_tell_is_recorded(alice: User, multiplier: CircuitFolder) -> None:
    found = register(alice, multiplier)
    assert found.created
    circuit = Circuit.objects.get()
    assert (circuit.curve, circuit.public_count, circuit.variable_count) == ("bn254", 1, 4)
    assert (circuit.constraint_count, circuit.domain_size) == (1, 4)
    assert circuit.insecure
    assert circuit.verifying_key["nPublic"] == 1
    assert circuit.proving_key.path.read_bytes() == multiplier.zkey.read_bytes()
    assert circuit.proving_key.sha256 == hashlib.sha256(multiplier.zkey.read_bytes()).hexdigest()
    assert circuit.proving_key.size == multiplier.zkey.stat().st_size
    assert stat.S_IMODE(circuit.proving_key.path.stat().st_mode) == 0o600


def test_the_key_alone_is_enough(alice: User, multiplier: CircuitFolder) -> None:
    circuit = register(alice, multiplier, witness_generator=None, r1cs=None, verifying_key=None).circuit
    assert circuit.witness_generator is None
    assert circuit.r1cs is None
    assert circuit.constraint_count is None


def test_one_content_is_kept_once(home: Path, alice: User, bob: User, multiplier: CircuitFolder) -> None:
    register(alice, multiplier)
    register(bob, multiplier)
    kept = [path for path in (home / "artefacts").rglob("*") if path.is_file()]
    assert len(kept) == Artefact.objects.count() == 3


def test_the_same_registration_again_is_answered_with_the_circuit(
    alice: User, multiplier: CircuitFolder
) -> None:
    first = register(alice, multiplier)
    again = register(alice, multiplier)
    assert (again.created, again.circuit.pk) == (False, first.circuit.pk)


def test_a_name_stands_for_one_circuit(
    alice: User, bob: User, multiplier: CircuitFolder, circuit_folder: Callable[[str], CircuitFolder]
) -> None:
    register(alice, multiplier)
    with pytest.raises(ServiceError) as caught:
        register(alice, circuit_folder("arrays"))
    assert caught.value.code == "circuit_name_taken"
    assert register(bob, circuit_folder("arrays")).created


def test_a_half_written_file_in_the_store_is_replaced(alice: User, multiplier: CircuitFolder) -> None:
    digest = hashlib.sha256(multiplier.zkey.read_bytes()).hexdigest()
    target = Artefact(sha256=digest, size=0).path
    target.parent.mkdir(parents=True)
    target.write_bytes(b"")
    assert register(alice, multiplier).circuit.proving_key.path.read_bytes() == multiplier.zkey.read_bytes()


@pytest.mark.parametrize(
    ("field", "content"),
    [
        ("proving_key", b""),
        ("proving_key", b"not a key at all"),
        ("witness_generator", b""),
        ("witness_generator", b"\0asm\1\0\0\0"),
        ("r1cs", b"r1cs"),
        ("verifying_key", b"{}"),
        ("verifying_key", b"["),
    ],
)
def test_a_bad_file_is_named(
    home: Path, alice: User, multiplier: CircuitFolder, field: str, content: bytes
) -> None:
    (home / "bad").write_bytes(content)
    error = refusal(alice, multiplier, **{field: home / "bad"})
    assert error.code == f"bad_{field}"
    assert [fault.pointer for fault in error.faults] == [f"/{field}"]
    assert str(home) not in error.detail
    assert not (home / "artefacts").exists()


def test_a_truncated_key_is_refused(alice: User, multiplier: CircuitFolder, tmp_path: Path) -> None:
    (tmp_path / "bad").write_bytes(multiplier.zkey.read_bytes()[:-100])
    assert refusal(alice, multiplier, proving_key=tmp_path / "bad").code == "bad_proving_key"


@pytest.mark.parametrize(
    ("field", "attribute"), [("witness_generator", "wasm"), ("r1cs", "r1cs"), ("verifying_key", "vkey")]
)
def test_files_of_another_curve_are_refused(
    alice: User,
    multiplier: CircuitFolder,
    circuit_folder: Callable[[str], CircuitFolder],
    field: str,
    attribute: str,
) -> None:
    other = circuit_folder("multiplier_bls12381")
    error = refusal(alice, multiplier, **{field: getattr(other, attribute)})
    assert (error.code, error.faults[0].pointer) == ("curve_mismatch", f"/{field}")
    assert "bls12-381" in error.detail
    assert "bn254" in error.detail


def test_an_r1cs_of_another_circuit_is_refused(
    alice: User, multiplier: CircuitFolder, circuit_folder: Callable[[str], CircuitFolder]
) -> None:
    assert refusal(alice, multiplier, r1cs=circuit_folder("arrays").r1cs).code == "r1cs_mismatch"


def test_a_verifying_key_of_another_setup_is_refused(
    alice: User, multiplier: CircuitFolder, circuit_folder: Callable[[str], CircuitFolder]
) -> None:
    error = refusal(alice, multiplier, verifying_key=circuit_folder("arrays").vkey)
    assert error.code == "verifying_key_mismatch"


def test_uploads_leave_nothing_behind(home: Path, alice: User, multiplier: CircuitFolder) -> None:
    register(alice, multiplier)
    assert list((home / "uploads").iterdir()) == []
    assert as_upload(multiplier.zkey).size == multiplier.zkey.stat().st_size


@pytest.mark.shared
@pytest.mark.parametrize("name", ["x_no9", "x_trunc", "x_dup4", "x_sigoob"])
def test_foreign_broken_keys_are_refused(
    alice: User, shared_fixtures: Path, multiplier: CircuitFolder, name: str
) -> None:
    path = shared_fixtures / "edge" / "malformed" / f"{name}.zkey"
    if not path.exists():
        pytest.skip(f"there is no {path.name}")
    nothing_else = {"witness_generator": None, "r1cs": None, "verifying_key": None}
    assert refusal(alice, multiplier, proving_key=path, **nothing_else).code == "bad_proving_key"


@pytest.mark.shared
def test_a_foreign_circuit_is_registered_whole(alice: User, shared_fixtures: Path) -> None:
    folder = shared_fixtures / "edge" / "mul13"
    files = {
        "proving_key": "mul13.zkey",
        "witness_generator": "mul13.wasm",
        "r1cs": "mul13.r1cs",
        "verifying_key": "mul13.vk.json",
    }
    given = {field: as_upload(folder / name) for field, name in files.items()}
    circuit = register_circuit(alice, "mul13", ProofKind.GROTH16, CircuitFiles(**given)).circuit
    assert (circuit.constraint_count, circuit.domain_size, circuit.insecure) == (13, 16, False)
