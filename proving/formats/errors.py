"""What a reader says when it refuses a file."""

from __future__ import annotations


class FormatError(ValueError):
    """A file is not what it should be: which file, where in it, and why.

    Never carries the values of inputs or witnesses.
    """

    def __init__(self, file: object, place: str, reason: str) -> None:
        self.file = str(file)
        self.place = place
        self.reason = reason
        super().__init__(f"{self.file}: {place}: {reason}")
