"""Taking a circuit in: every file is read and held against the proving key before anything is kept."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction

from kernels.curves import BLS12_381, Curve
from proving.choices import ProofKind
from proving.formats.bellman import read_parameters, validate_queries
from proving.formats.bellman_key import key_from_parameters
from proving.formats.errors import FormatError
from proving.formats.r1cs import R1cs, read_r1cs
from proving.formats.recognise import read_any_key
from proving.formats.snarkjs import verifying_key_to_json
from proving.formats.zkey import check_system, is_zkey, read_zkey, validate_points
from proving.groth16.proving_key import ProvingKey
from proving.models import Circuit
from proving.services.artefacts import StagedFile, Upload, publish, staged
from proving.services.errors import conflict, invalid
from proving.services.given import generator_curve
from proving.services.reading import refusing_file
from proving.services.warm import compile_later


@dataclass(frozen=True, slots=True)
class CircuitFiles:
    """What a caller hands in for a circuit. Only the proving key must be there."""

    proving_key: Upload
    witness_generator: Upload | None = None
    r1cs: Upload | None = None
    verifying_key: Upload | None = None


@dataclass(frozen=True, slots=True)
class Registered:
    """The circuit, and whether this call made it: the same files under the same name are there already."""

    circuit: Circuit
    created: bool


def register_circuit(owner: User, name: str, proof_kind: ProofKind, uploads: CircuitFiles) -> Registered:
    """Register a circuit. ServiceError names the file, the place in it and the reason."""
    given = {
        "proving_key": uploads.proving_key,
        "witness_generator": uploads.witness_generator,
        "r1cs": uploads.r1cs,
        "verifying_key": uploads.verifying_key,
    }
    with staged(**given) as files:
        if (earlier := _same_circuit(owner, name, proof_kind, files)) is not None:
            return Registered(earlier, created=False)
        facts = _examine(files)
        return _keep(owner, name, proof_kind, files, facts)


def _examine(files: dict[str, StagedFile]) -> dict[str, Any]:
    """The columns of a circuit that its files tell, once all of them agree."""
    system = _read_r1cs(files["r1cs"].path) if "r1cs" in files else None
    key = _read_key(files["proving_key"], system)
    if (generator := files.get("witness_generator")) is not None:
        _check_generator(generator.path, key.curve)
    if (verifying_key := files.get("verifying_key")) is not None:
        _check_verifying_key(verifying_key.path, key)
    return {
        "curve": key.curve.name,
        "verifying_key": verifying_key_to_json(key.verifying_key),
        "variable_count": key.variable_count,
        "public_count": key.public_count,
        "constraint_count": system.constraints if system is not None else None,
        "domain_size": key.domain_size,
        "contributions": key.contributions,
        "insecure": key.insecure,
    }


def _read_r1cs(path: Path) -> R1cs:
    with refusing_file("/r1cs", "bad_r1cs"):
        return read_r1cs(path)


def _read_key(file: StagedFile, system: R1cs | None) -> ProvingKey:
    """The proving key, every point in its group, held against the constraint system where one is given."""
    with refusing_file("/proving_key", "bad_proving_key"):
        if is_parameters(file.path):
            return _read_parameters(file, system)
        key = read_zkey(file.path, key_id=file.sha256)
    if system is not None:
        _check_r1cs(system, key)
    with refusing_file("/proving_key", "bad_proving_key"):
        validate_points(key)
    return key


def is_parameters(path: Path) -> bool:
    """Whether a key that is no zkey begins as bellman parameters do: with points that lie on their curves."""
    if is_zkey(path):
        return False
    try:
        read_parameters(path)
    except FormatError as error:
        return error.place not in {"verifying key", "file"}
    return True


def _read_parameters(file: StagedFile, system: R1cs | None) -> ProvingKey:
    parameters = read_parameters(file.path)
    if system is None:
        wanted = "bellman parameters hold no constraints: send the circuit's r1cs with them"
        raise invalid("/r1cs", "r1cs_missing", wanted)
    if system.curve != BLS12_381:
        mismatch = f"the r1cs is for {system.curve.name}, the proving key for {BLS12_381.name}"
        raise invalid("/r1cs", "curve_mismatch", mismatch)
    key = key_from_parameters(parameters, system, file.sha256)
    validate_queries(parameters)
    return key


def _check_generator(path: Path, curve: Curve) -> None:
    found = generator_curve(path, "/witness_generator")
    if found != curve:
        mismatch = f"the generator is for {found.name}, the proving key for {curve.name}"
        raise invalid("/witness_generator", "curve_mismatch", mismatch)


def _check_r1cs(system: R1cs, key: ProvingKey) -> None:
    if system.curve != key.curve:
        mismatch = f"the r1cs is for {system.curve.name}, the proving key for {key.curve.name}"
        raise invalid("/r1cs", "curve_mismatch", mismatch)
    with refusing_file("/r1cs", "r1cs_mismatch"):
        check_system(key, system)


def _check_verifying_key(path: Path, key: ProvingKey) -> None:
    with refusing_file("/verifying_key", "bad_verifying_key"):
        given = read_any_key(path).key
    own = key.verifying_key
    if given.curve != own.curve:
        mismatch = f"the verifying key is for {given.curve.name}, the proving key for {own.curve.name}"
        raise invalid("/verifying_key", "curve_mismatch", mismatch)
    if given != own:
        raise invalid(
            "/verifying_key", "verifying_key_mismatch", "the verifying key is not that of the proving key"
        )


def _same_circuit(owner: User, name: str, kind: ProofKind, files: dict[str, StagedFile]) -> Circuit | None:
    """The owner's circuit of this name, when it has the same files; conflict when it has others."""
    found = Circuit.objects.filter(owner=owner, name=name).first()
    if found is None:
        return None
    here = [kind, *(files[part].sha256 if part in files else None for part in KEPT)]
    if here != [found.proof_kind, found.proving_key_id, found.witness_generator_id, found.r1cs_id]:
        raise conflict("circuit_name_taken", "you have another circuit of this name", "/name")
    return found


KEPT = ("proving_key", "witness_generator", "r1cs")


def _keep(
    owner: User, name: str, kind: ProofKind, files: dict[str, StagedFile], facts: dict[str, Any]
) -> Registered:
    kept = {part: publish(files[part]) for part in KEPT if part in files}
    try:
        with transaction.atomic():
            circuit = Circuit.objects.create(owner=owner, name=name, proof_kind=kind, **kept, **facts)
    except IntegrityError:
        earlier = _same_circuit(owner, name, kind, files)
        if earlier is None:
            raise
        return Registered(earlier, created=False)
    compile_later(circuit)
    return Registered(circuit, created=True)
