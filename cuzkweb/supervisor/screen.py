"""What a person sees of the processes: short lines, each with the name of the process it is about."""

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TextIO

NAME_WIDTH = 10
LINE_WIDTH = 160


class Screen:
    """Prints what the supervisor says and, with `logs`, what the processes write."""

    def __init__(self, *, quiet: bool = False, logs: bool = True, stream: TextIO | None = None) -> None:
        self._quiet = quiet
        self._logs = logs and not quiet
        self._stream = stream or sys.stderr
        self._places: dict[Path, int] = {}

    def say(self, name: str, text: str) -> None:
        """One line about one process."""
        if not self._quiet:
            print(f"{name:<{NAME_WIDTH}} {text[:LINE_WIDTH]}", file=self._stream, flush=True)

    def follow(self, logs: Iterable[tuple[str, Path]]) -> None:
        """Print the whole lines that were added to the logs since the last call."""
        if not self._logs:
            return
        for name, log in logs:
            for line in self._new_lines(log):
                self.say(name, f"| {line}")

    def _new_lines(self, log: Path) -> list[str]:
        try:
            size = log.stat().st_size
        except FileNotFoundError:
            return []
        place = self._places.setdefault(log, size)
        if size <= place:
            self._places[log] = size
            return []
        with log.open("rb") as file:
            file.seek(place)
            found = file.read(size - place)
        whole = found.rfind(b"\n") + 1
        self._places[log] = place + whole
        return found[:whole].decode(errors="replace").splitlines()
