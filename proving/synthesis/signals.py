"""What the generations of witness generators have in common: the field, and complaints about signals."""

from __future__ import annotations

from collections.abc import Mapping

from kernels.curves import CURVES, Curve
from proving.synthesis.errors import InputError, InputProblem, SynthesisError, SynthesisErrorKind
from proving.synthesis.inputs import Inputs

ELEMENT_BYTES = 32
ELEMENT_WORDS = ELEMENT_BYTES // 4
MAX_LISTED = 200


def curve_of(prime: int) -> Curve:
    """The curve whose scalar field has this prime. Raises SynthesisError."""
    for curve in CURVES:
        if curve.r == prime:
            return curve
    raise SynthesisError(
        SynthesisErrorKind.MODULE, "the circuit's prime is of no curve known here (bn254, bls12-381)"
    )


def unknown_signal(name: str) -> InputProblem:
    """The complaint about a name that the circuit does not know."""
    return InputProblem(name, "is no input signal of the circuit")


def hold_against(inputs: Inputs, lengths: Mapping[str, int | None], total: int) -> None:
    """Refuse unknown names, wrong lengths and missing signals, all of them at once. Raises InputError.

    `lengths` has the number of values that each given signal takes, None for a name that the circuit does not
    know; `total` is what it takes in all.
    """
    problems = [
        problem for name, values in inputs.items() for problem in misfits(name, len(values), lengths[name])
    ]
    missing = total - sum(length or 0 for length in lengths.values())
    if missing > 0:
        counts = f"the circuit takes {total} values, {missing} of them for signals that are missing"
        problems.append(incomplete(inputs, counts))
    if problems:
        raise InputError(*problems)


def misfits(name: str, given: int, wanted: int | None) -> list[InputProblem]:
    """What is wrong with a signal's name or number of values."""
    if wanted is None:
        return [unknown_signal(name)]
    if given != wanted:
        return [InputProblem(name, f"has {given} values, the circuit takes {wanted}")]
    return []


def incomplete(inputs: Inputs, counts: str) -> InputProblem:
    """The complaint that some inputs have no value. Generators cannot name them: they know hashes."""
    names = ", ".join(inputs) or "none"
    return InputProblem("inputs", f"not all inputs set: {counts} (given: {names[:MAX_LISTED]})")
