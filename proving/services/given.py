"""What a caller gives for a circuit, checked at the door: inputs, witness files, witness generators."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from django.conf import settings

from kernels.curves import Curve, curve_by_name
from proving.formats.r1cs import first_unsatisfied
from proving.formats.wtns import read_witness
from proving.models import Circuit
from proving.services import circuits
from proving.services.errors import Fault, Refusal, ServiceError, conflict, invalid
from proving.services.reading import pointer_to, refusing_file
from proving.synthesis.confined import ConfinedGenerator, examine_confined
from proving.synthesis.errors import InputError, SynthesisError
from proving.synthesis.inputs import flatten_inputs

LARGE_GENERATOR = 1 << 20
"""Bytes from which on a generator is compiled outside of the request that brings it."""


def open_generator(path: Path, pointer: str) -> ConfinedGenerator:
    """A witness generator, compiled once for all processes of this host. ServiceError when it is none."""
    try:
        return ConfinedGenerator(path, cache_dir=settings.CUZKWEB_HOME / "cache" / "wasm")
    except SynthesisError as error:
        detail = error.message.removeprefix(f"{path}: ")
        raise invalid(pointer, "bad_witness_generator", detail) from error


def generator_curve(path: Path, pointer: str) -> Curve:
    """The curve of a witness generator. ServiceError when it is none.

    A large one is not compiled here: that takes seconds, and `warm` does it once the circuit is kept.
    """
    try:
        curve = examine_confined(path)
    except SynthesisError as error:
        raise invalid(pointer, "bad_witness_generator", error.message.removeprefix(f"{path}: ")) from error
    if curve is None or not is_large(path):
        return open_generator(path, pointer).curve
    return curve


def is_large(path: Path) -> bool:
    """Whether compiling a generator takes long."""
    return path.stat().st_size > LARGE_GENERATOR


def check_inputs(circuit: Circuit, documents: Sequence[Any], pointer: str) -> None:
    """Refuse inputs that the circuit cannot take, one document a partition, naming each signal that is wrong.

    They are looked at in their order; of several that are wrong the first is named.
    """
    place = 0
    try:
        flat = []
        for place, document in enumerate(documents):  # noqa: B007 - where it stopped is what is told
            flat.append(flatten_inputs(document, curve_by_name(circuit.curve).r))
        if (generator := circuits.witness_generator(circuit)) is not None:
            place = 0
            generator.check_all(flat)
    except SynthesisError as error:
        detail = "the circuit's witness generator cannot be run"
        raise conflict("bad_witness_generator", detail, "/circuit") from error
    except InputError as error:
        raise _misfit(error, f"{pointer}/{place + error.place}") from error


def _misfit(error: InputError, pointer: str) -> ServiceError:
    faults = [
        Fault(
            pointer_to(pointer, "" if problem.path == "inputs" else problem.path),
            problem.reason,
            "bad_input",
        )
        for problem in error.problems
    ]
    return ServiceError(Refusal.INVALID, "bad_input", f"{pointer}: {error}", *faults)


def check_witness(circuit: Circuit, path: Path, pointer: str) -> None:
    """Refuse a witness file that is not one for the circuit's key, or that breaks a constraint.

    Constraints are known of circuits that were registered with an r1cs.
    """
    with refusing_file(pointer, "bad_witness"):
        witness = read_witness(path, curve_by_name(circuit.curve), circuit.variable_count)
    system = circuits.r1cs(circuit)
    broken = None if system is None else first_unsatisfied(system, witness.values)
    if broken is not None:
        reason = f"the witness does not satisfy the circuit: constraint {broken} is broken"
        raise invalid(pointer, "unsatisfied_witness", reason)
