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
from proving.services.artefact_cache import AtHand, at_hand, recheck
from proving.synthesis.confined import ConfinedGenerator

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
    with at_hand(circuit.proving_key) as key:
        if is_zkey(str(key.path)):
            return _proving_key(circuit.id, key)
        if circuit.r1cs is None:
            raise FormatError(str(key.path), "r1cs", "parameters prove nothing without the constraint system")
        with at_hand(circuit.r1cs) as system:
            return _from_parameters(circuit.id, key, system)


def verifying_key(circuit: Circuit) -> VerifyingKey:
    """The circuit's verifying key."""
    return verifying_key_from_json(circuit.verifying_key)


def witness_generator(circuit: Circuit) -> ConfinedGenerator | None:
    """The circuit's witness generator, behind walls of its own, or None where it has none."""
    if circuit.witness_generator is None:
        return None
    with at_hand(circuit.witness_generator) as generator:
        return _witness_generator(generator)


def r1cs(circuit: Circuit) -> R1cs | None:
    """The circuit's constraint system, or None where it has none."""
    if circuit.r1cs is None:
        return None
    with at_hand(circuit.r1cs) as system:
        return _r1cs(system)


def damaged(circuit: Circuit) -> list[str]:
    """Which of the circuit's files are not what they were when it was registered, hashed now."""
    files = {
        "proving key": circuit.proving_key,
        "witness generator": circuit.witness_generator,
        "r1cs": circuit.r1cs,
    }
    return [name for name, artefact in files.items() if artefact is not None and not recheck(artefact)]


@lru_cache(KEPT)
def _proving_key(circuit_id: str, key: AtHand) -> ProvingKey:
    return read_zkey(str(key.path), key_id=_resident_name(circuit_id, key.mark))


@lru_cache(KEPT)
def _from_parameters(circuit_id: str, key: AtHand, system: AtHand) -> ProvingKey:
    parameters, constraints = read_parameters(str(key.path)), read_r1cs(str(system.path))
    return key_from_parameters(parameters, constraints, _resident_name(circuit_id, key.mark))


@lru_cache(KEPT)
def _witness_generator(generator: AtHand) -> ConfinedGenerator:
    return ConfinedGenerator(generator.path, cache_dir=settings.CUZKWEB_HOME / "cache" / "wasm")


@lru_cache(1)
def _r1cs(system: AtHand) -> R1cs:
    return read_r1cs(str(system.path))


def circuit_of_resident(name: str) -> str:
    """The circuit whose key a device holds under a name."""
    return name.partition(AGAIN)[0]


def _resident_name(circuit_id: str, mark: str) -> str:
    """The name under which a device keeps a key: another one when the key's file is another than before."""
    marks = _marks.setdefault(circuit_id, [])
    if mark not in marks:
        marks.append(mark)
    place = marks.index(mark)
    return f"{circuit_id}{AGAIN}{place}" if place else circuit_id


AGAIN = "#"
_marks: dict[str, list[str]] = {}
