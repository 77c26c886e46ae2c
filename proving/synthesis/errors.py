"""Why a witness could not be made."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


@dataclass(frozen=True, slots=True)
class InputProblem:
    """What is wrong with the inputs at one place. Never carries an input's value."""

    path: str
    reason: str

    def __str__(self) -> str:
        return f"{self.path}: {self.reason}"


class InputError(ValueError):
    """The inputs are not what the circuit takes: one problem or several, each with its signal's path.

    `place` numbers the inputs that are meant, where several were looked at.
    """

    def __init__(self, *problems: InputProblem, place: int = 0) -> None:
        self.place = place
        self.problems = problems
        super().__init__("; ".join(map(str, problems)))

    @property
    def path(self) -> str:
        """Where the first problem is."""
        return self.problems[0].path

    @property
    def reason(self) -> str:
        """What the first problem is."""
        return self.problems[0].reason


class SynthesisErrorKind(StrEnum):
    """What went wrong in a witness generator."""

    MODULE = "module"  # the file is no witness generator that is known here
    ASSERTION = "assertion"  # the circuit refuses the inputs
    TIME = "time"
    MEMORY = "memory"
    TRAP = "trap"  # the generator crashed


class SynthesisError(Exception):
    """A witness generator did not deliver. The message holds the circuit's own words where it has any."""

    def __init__(self, kind: SynthesisErrorKind, message: str) -> None:
        self.kind = kind
        self.message = message
        super().__init__(message)
