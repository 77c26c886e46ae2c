"""A circuit's artefacts as this process holds them: opened once, mapped, kept for what follows."""

from functools import lru_cache

from django.conf import settings

from proving.formats.bellman import read_parameters
from proving.formats.bellman_key import key_from_parameters
from proving.formats.errors import FormatError
from proving.formats.r1cs import R1cs, read_r1cs
from proving.formats.snarkjs import verifying_key_from_json
from proving.formats.zkey import is_zkey, read_zkey
from proving.groth16.objects import VerifyingKey
from proving.groth16.proving_key import ProvingKey
from proving.models import Circuit, Job
from proving.synthesis.wasm import WitnessGenerator

KEPT = 8
"""Circuits whose artefacts a process keeps open. They are mapped: what they hold is address space."""


def circuit_of(job_id: str) -> Circuit:
    """The circuit of a job, with its artefacts. Raises Job.DoesNotExist."""
    job = Job.objects.select_related(
        "circuit__proving_key", "circuit__witness_generator", "circuit__r1cs"
    ).get(pk=job_id)
    return job.circuit


def proving_key(circuit: Circuit) -> ProvingKey:
    """The circuit's proving key; devices know it under the circuit's id. Raises FormatError, OSError.

    bellman parameters become a key with the circuit's constraint system.
    """
    path = str(circuit.proving_key.path)
    if is_zkey(path):
        return _proving_key(circuit.id, path)
    if circuit.r1cs is None:
        raise FormatError(path, "r1cs", "parameters prove nothing without the constraint system")
    return _from_parameters(circuit.id, path, str(circuit.r1cs.path))


def verifying_key(circuit: Circuit) -> VerifyingKey:
    """The circuit's verifying key."""
    return verifying_key_from_json(circuit.verifying_key)


def witness_generator(circuit: Circuit) -> WitnessGenerator | None:
    """The circuit's witness generator, compiled, or None where it has none."""
    artefact = circuit.witness_generator
    return None if artefact is None else _witness_generator(str(artefact.path))


def r1cs(circuit: Circuit) -> R1cs | None:
    """The circuit's constraint system, or None where it has none."""
    return None if circuit.r1cs is None else _r1cs(str(circuit.r1cs.path))


@lru_cache(KEPT)
def _proving_key(circuit_id: str, path: str) -> ProvingKey:
    return read_zkey(path, key_id=circuit_id)


@lru_cache(KEPT)
def _from_parameters(circuit_id: str, path: str, r1cs_path: str) -> ProvingKey:
    return key_from_parameters(read_parameters(path), read_r1cs(r1cs_path), circuit_id)


@lru_cache(KEPT)
def _witness_generator(path: str) -> WitnessGenerator:
    return WitnessGenerator(path, cache_dir=settings.CUZKWEB_HOME / "cache" / "wasm")


@lru_cache(1)
def _r1cs(path: str) -> R1cs:
    return read_r1cs(path)
