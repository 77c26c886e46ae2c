"""The whole service as real processes in a home of its own."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from cuzkweb.client import CircuitFiles, Client
from cuzkweb.supervisor.home import read_state
from tests.support.processes import command_line, processes_of, wait_for

LEASE_SECONDS = 2.0
DEPLOYMENT = "test"
START_SECONDS = 240.0


class Stack:
    """A service under `cuzkweb up`, reached as its users reach it."""

    def __init__(self, home: Path, process: subprocess.Popen[bytes]) -> None:
        self.home = home
        self.process = process
        self.client = Client(self.state()["web"], self.credentials()["api_key"])

    def state(self) -> dict[str, Any]:
        """What the supervisor tells of the service, with the process ids as they are now."""
        found = read_state(self.home)
        assert found is not None, "no service runs in this home"
        return found

    def credentials(self) -> dict[str, str]:
        found: dict[str, str] = json.loads((self.home / "credentials.json").read_text())
        return found

    def own_client(self) -> Client:
        """Another client, for another thread."""
        return Client(self.state()["web"], self.credentials()["api_key"])

    def pid(self, name: str) -> int:
        """The process id of one program: web, synthesis, gpu0, finalize, periodic, valkey.

        Waits for a program that is between two lives.
        """
        found: int = wait_for(lambda: self.state()["processes"].get(name), f"{name} runs")
        return found

    def log(self, name: str) -> str:
        return (self.home / "log" / f"{name}.log").read_text()

    def register(
        self, folder: Path, name: str, *, generator: Path | None = None, r1cs: Path | None = None
    ) -> str:
        """Register the circuit in `folder` whose files bear its name; the answer is its id."""
        files = CircuitFiles(
            folder / f"{name}.zkey", generator or folder / f"{name}.wasm", r1cs or folder / f"{name}.r1cs"
        )
        found: str = self.client.register(name, files)["id"]
        return found

    def command(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run a command of this home, as a person beside the service does."""
        return subprocess.run(
            [sys.executable, "-m", "cuzkweb", *arguments],
            env={**os.environ, "CUZKWEB_HOME": str(self.home)},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )

    def stop(self) -> int:
        """Stop as a person does, and wait; the exit status."""
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(60)


@contextmanager
def running_stack(home: Path, *options: str, **environment: str) -> Iterator[Stack]:
    """A service in `home` with short leases; it must stop well, and no process of it may stay."""
    settings = {
        "CUZKWEB_HOME": str(home),
        "CUZKWEB_LEASE_SECONDS": str(LEASE_SECONDS),
        "CUZKWEB_DEPLOYMENT": DEPLOYMENT,
        **environment,
    }
    inherited = {
        name: value for name, value in os.environ.items() if name not in {"REDIS_URL", "DATABASE_URL"}
    }
    output = home / "up.txt"
    home.mkdir(parents=True, exist_ok=True)
    if "DATABASE_URL" in environment:
        make_credentials(home, {**inherited, **settings})
    with output.open("wb") as screen:
        process = subprocess.Popen(
            [sys.executable, "-m", "cuzkweb", "up", "--port", "0", *options],
            env={**inherited, **settings},
            stdout=screen,
            stderr=subprocess.STDOUT,
        )
    try:
        wait_for(lambda: has_started(home, process, output), "the service is up", START_SECONDS)
        stack = Stack(home, process)
        with stack.client:
            yield stack
            if process.poll() is None:
                assert stack.stop() == 0, output.read_text()
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()
        wait_for(lambda: not processes_of(home), f"gone: {[command_line(p) for p in processes_of(home)]}", 15)


def make_credentials(home: Path, environment: dict[str, str]) -> None:
    """The logins of a service with a database of its own, for which `up` makes none."""
    script = (
        "from pathlib import Path; from cuzkweb.supervisor.service import migrate; migrate()\n"
        "from cuzkweb.supervisor.credentials import ensure_credentials\n"
        f"ensure_credentials(Path({str(home)!r}))"
    )
    subprocess.run([sys.executable, "-c", script], env=environment, check=True, timeout=60)


def has_started(home: Path, process: subprocess.Popen[bytes], output: Path) -> bool:
    """Whether the service says that it is up. AssertionError with what it printed when it ended instead."""
    assert process.poll() is None, output.read_text()
    state = read_state(home)
    return state is not None and state["pid"] == process.pid and (home / "credentials.json").exists()
