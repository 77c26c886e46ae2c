"""One process of the service: it has a log of its own, starts again when it dies, is never left behind."""

import ctypes
import os
import signal
import subprocess
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

PR_SET_PDEATHSIG = 1
LOG_LIMIT = 16 * 2**20
BACKOFF = (0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0)
STEADY_SECONDS = 60.0
"""After this long a process counts as well, and its next death as its first."""

_libc = ctypes.CDLL(None, use_errno=True)


@dataclass(frozen=True, slots=True)
class Program:
    """What to run. `ready` is asked with the process id until it answers True.

    Programs stop in the order of `stop_rank`: each rank gets SIGTERM, and SIGKILL after `grace` seconds. What
    the others need has a higher one.
    `death_signal` is what the kernel sends when the supervisor dies without stopping anything.
    """

    name: str
    argv: tuple[str, ...]
    ready: Callable[[int], bool]
    environment: Mapping[str, str] = field(default_factory=dict)
    stop_rank: int = 0
    grace: float = 10.0
    death_signal: signal.Signals = signal.SIGKILL
    pass_fds: tuple[int, ...] = ()


def die_with_parent(death_signal: signal.Signals, parent: int) -> None:
    """Have the kernel signal this process when the thread that started it ends."""
    _libc.prctl(PR_SET_PDEATHSIG, int(death_signal), 0, 0, 0)
    if os.getppid() != parent:
        os.kill(os.getpid(), death_signal)


class Child:
    """A running program. Start it from the supervisor's main thread: the kernel watches that thread."""

    def __init__(self, program: Program, log_folder: Path) -> None:
        self.program = program
        self.log = log_folder / f"{program.name}.log"
        self.ready = False
        self.deaths = 0
        self.restart_at = 0.0
        self._started_at = 0.0
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int | None:
        """The process id while it runs."""
        return self._process.pid if self._process else None

    def start(self) -> None:
        """Start the program; its output goes to its log."""
        if self.log.exists() and self.log.stat().st_size > LOG_LIMIT:
            self.log.replace(self.log.with_suffix(".log.1"))
        parent, death_signal = os.getpid(), self.program.death_signal
        descriptor = os.open(self.log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        try:
            self._process = subprocess.Popen(
                self.program.argv,
                stdin=subprocess.DEVNULL,
                stdout=descriptor,
                stderr=subprocess.STDOUT,
                env={**os.environ, **self.program.environment},
                pass_fds=self.program.pass_fds,
                start_new_session=True,
                preexec_fn=lambda: die_with_parent(death_signal, parent),  # noqa: PLW1509
            )
        finally:
            os.close(descriptor)
        self.ready = False
        self._started_at = time.monotonic()

    def became_ready(self) -> bool:
        """True once, when the program has become ready."""
        if self.ready or self._process is None or not self.program.ready(self._process.pid):
            return False
        self.ready = True
        return True

    def died(self) -> int | None:
        """The exit status if the program has ended by itself since the last call; plans its next start."""
        if self._process is None or (status := self._process.poll()) is None:
            return None
        if time.monotonic() - self._started_at > STEADY_SECONDS:
            self.deaths = 0
        self.restart_at = time.monotonic() + BACKOFF[min(self.deaths, len(BACKOFF) - 1)]
        self.deaths += 1
        self._process = None
        self.ready = False
        return status

    def due(self) -> bool:
        """Whether a program that died is to be started again now."""
        return self._process is None and time.monotonic() >= self.restart_at

    def running(self) -> bool:
        """Whether the process is there."""
        return self._process is not None and self._process.poll() is None

    def signal(self, number: signal.Signals) -> None:
        """Signal the process, if it is there."""
        if self._process is not None and self._process.poll() is None:
            self._process.send_signal(number)

    def kill(self) -> None:
        """End the process and whatever it started in its session, at once."""
        if self._process is None:
            return
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()

    def last_lines(self, count: int = 12) -> list[str]:
        """The end of the program's log."""
        if not self.log.exists():
            return []
        with self.log.open("rb") as file:
            file.seek(max(0, self.log.stat().st_size - 16_384))
            return file.read().decode(errors="replace").splitlines()[-count:]
