"""What the generations of witness generators have in common: the field, and complaints about signals."""

from __future__ import annotations

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


def wrong_length(name: str, given: int, wanted: int) -> InputProblem:
    """The complaint about a signal with too many or too few values."""
    return InputProblem(name, f"has {given} values, the circuit takes {wanted}")


def check_total(wanted: int, inputs: Inputs) -> None:
    """Refuse inputs with fewer values than the circuit takes. Raises InputError."""
    given = sum(map(len, inputs.values()))
    if given < wanted:
        raise incomplete(inputs, f"the circuit takes {wanted} values, {given} were given")


def incomplete(inputs: Inputs, counts: str) -> InputError:
    """The complaint that some inputs have no value. Generators cannot name them: they know hashes."""
    names = ", ".join(inputs) or "no signal"
    return InputError(InputProblem("inputs", f"not all inputs set: {counts} ({names[:MAX_LISTED]})"))
