"""Expected failures of commands: one line on standard error and exit code 1."""

import sys

EXPECTED = {
    "proving.formats.errors": ("FormatError",),
    "proving.synthesis.errors": ("InputError", "SynthesisError"),
    "proving.groth16.prover": ("UnsatisfiedWitnessError",),
    "kernels.device": ("DeviceUnavailable",),
    "cuzkweb.refusal": ("ApiError",),
    "httpx": ("TransportError",),
    "kernels.library": ("EngineUnavailable",),
}


class Refused(Exception):  # noqa: N818 - the outcome, as the person meets it
    """A command will not do what was asked; the text is the one line that says why."""


def reason(error: Exception) -> str | None:
    """The line to show for an expected failure, None for a fault of the program's own."""
    if isinstance(error, (Refused, *expected_types())):
        return one_line(str(error))
    if isinstance(error, OSError) and error.strerror:
        place = f"{error.filename}: " if error.filename else ""
        return f"{place}{error.strerror}"
    if isinstance(error, MemoryError):
        return "not enough memory"
    return None


def expected_types() -> tuple[type[Exception], ...]:
    """The exception types of EXPECTED whose modules were imported: only those can have been raised."""
    loaded = ((sys.modules[module], names) for module, names in EXPECTED.items() if module in sys.modules)
    return tuple(getattr(module, name) for module, names in loaded for name in names if hasattr(module, name))


def one_line(text: str) -> str:
    """The text with every run of blanks, line ends included, as one space."""
    return " ".join(text.split())
