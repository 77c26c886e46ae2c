"""Stage times of a command, shown on standard error."""

import argparse
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The flags that ask for times."""
    parser.add_argument(
        "-v", "--verbose", action="store_true", help="show the time of each stage on standard error"
    )
    parser.add_argument(
        "--json", action="store_true", help="show the times as one JSON object on standard error"
    )


class Stopwatch:
    """Collects the wall time of named stages in the order in which they ran."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._started = time.monotonic()

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Time one stage."""
        started = time.monotonic()
        try:
            yield
        finally:
            self.add(name, time.monotonic() - started)

    def add(self, name: str, seconds: float) -> None:
        """Record a stage that was timed elsewhere."""
        self.seconds[name] = self.seconds.get(name, 0.0) + seconds

    def show(self, options: argparse.Namespace) -> None:
        """Print what `options` asks for."""
        total = time.monotonic() - self._started
        if options.json:
            import json

            rounded = {name: round(seconds, 6) for name, seconds in self.seconds.items()}
            print(json.dumps({"stages": rounded, "total": round(total, 6)}), file=sys.stderr)
        elif options.verbose:
            for name, seconds in [*self.seconds.items(), ("total", total)]:
                print(f"{name:>10} {seconds * 1000:10.1f} ms", file=sys.stderr)
