"""Keeps the processes of one home: starts them in order, starts the dead again, stops every one."""

import signal
import time
from collections.abc import Callable, Iterable
from itertools import groupby
from pathlib import Path
from types import FrameType

from cuzkweb.supervisor.child import Child, Program
from cuzkweb.supervisor.screen import Screen

TICK_SECONDS = 0.1
START_SECONDS = 120.0
START_DEATHS = 3
"""Deaths before it was ever ready after which a program is given up, and the start with it."""

STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class StartFailed(Exception):  # noqa: N818 - what happened, as the person reads it
    """A program did not become ready; the text names it and its log's last lines."""


class Stopped(Exception):  # noqa: N818 - an outcome that a person asked for
    """A stop signal came while the service was still starting."""


class Supervisor:
    """Use it from the main thread only: the kernel ties the children's lives to that thread.

    `changed` is called after a child was started again.
    """

    def __init__(self, home: Path, screen: Screen) -> None:
        self.children: list[Child] = []
        self._logs = home / "log"
        self._logs.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._screen = screen
        self._signals = 0
        self.changed: Callable[[], None] = lambda: None

    def listen_to_signals(self) -> None:
        """From now on SIGINT, SIGTERM and SIGHUP ask for a stop; a second one for an immediate stop."""
        for number in STOP_SIGNALS:
            signal.signal(number, self._note_signal)

    def _note_signal(self, _number: int, _frame: FrameType | None) -> None:
        self._signals += 1

    @property
    def stopping(self) -> bool:
        """Whether a signal has asked for a stop."""
        return self._signals > 0

    def start(self, programs: Iterable[Program]) -> None:
        """Start these together and wait until all are ready. Raises StartFailed or Stopped."""
        fresh = [Child(program, self._logs) for program in programs]
        for child in fresh:
            self._start(child)
        deadline = time.monotonic() + START_SECONDS
        while not all(child.ready for child in fresh):
            if self.stopping:
                raise Stopped
            self.tick()
            late = [child for child in fresh if not child.ready]
            failed = next((child for child in late if child.deaths >= START_DEATHS), None)
            if failed or (late and time.monotonic() > deadline):
                raise StartFailed(_why(failed or late[0]))
            time.sleep(TICK_SECONDS)

    def run(self, finished: Callable[[], bool] = lambda: False) -> None:
        """Keep everything running until a signal asks for a stop or `finished` answers True."""
        while not self.stopping and not finished():
            self.tick()
            time.sleep(TICK_SECONDS)

    def tick(self) -> None:
        """Look after every process once: note deaths, start again what is due, show the logs' news."""
        for child in self.children:
            status = child.died()
            if status is not None:
                wait = max(0.0, child.restart_at - time.monotonic())
                self._screen.say(child.program.name, f"ended with status {status}; again in {wait:.1f} s")
            elif child.due():
                child.start()
                self.changed()
            elif child.became_ready():
                self._screen.say(child.program.name, f"ready (pid {child.pid})")
        self._screen.follow([(child.program.name, child.log) for child in self.children])

    def stop(self) -> None:
        """Stop every process, rank by rank: SIGTERM, then SIGKILL after its grace or at a second signal."""
        asked = self._signals
        ordered = sorted(self.children, key=lambda child: child.program.stop_rank)
        for _, group in groupby(ordered, key=lambda child: child.program.stop_rank):
            rank = list(group)
            for child in rank:
                child.signal(signal.SIGTERM)
            deadline = time.monotonic() + max(child.program.grace for child in rank)
            while any(child.running() for child in rank) and time.monotonic() < deadline:
                if self._signals > max(asked, 1):
                    break
                time.sleep(TICK_SECONDS / 4)
            for child in rank:
                if child.running():
                    self._screen.say(child.program.name, "did not stop in time: killed")
                child.kill()
        self.children.clear()

    def pids(self) -> dict[str, int]:
        """The process id of each program that runs."""
        return {child.program.name: child.pid for child in self.children if child.pid is not None}

    def _start(self, child: Child) -> None:
        self.children.append(child)
        child.start()


def _why(child: Child) -> str:
    lines = "\n".join(f"  {line}" for line in child.last_lines())
    what = "ends at once" if child.deaths else f"is not ready after {START_SECONDS:.0f} s"
    return f"{child.program.name} {what}; the end of {child.log}:\n{lines}"
