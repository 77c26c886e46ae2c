"""The provers that the benchmark runs side by side, each as a process of its own."""

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
TIMEOUT_SECONDS = 900


@dataclass(frozen=True, slots=True)
class Task:
    """Files of one proof: what goes in and where the results go."""

    zkey: Path
    wtns: Path
    proof: Path
    public: Path


@dataclass(frozen=True, slots=True)
class Prover:
    """A program that proves: `command` gives its command line for a task."""

    name: str
    command: Callable[[Task], list[str]]


@dataclass(frozen=True, slots=True)
class Measure:
    """One run of a prover: wall and CPU seconds of the whole process, and what it said on standard error."""

    wall: float
    cpu: float
    stderr: str


class ProverFailedError(RuntimeError):
    """A prover left with an error; the text is its last line."""


def own_prover() -> Prover:
    """cuzkweb itself, as the command line runs it, with stage times on standard error."""

    def command(task: Task) -> list[str]:
        files = ["--zkey", task.zkey, "--wtns", task.wtns, "--proof", task.proof, "--public", task.public]
        return [sys.executable, "-m", "cuzkweb", "prove", *map(str, files), "--json"]

    return Prover("cuzkweb", command)


def find_peers() -> tuple[list[Prover], list[str]]:
    """The peers that are installed, and a word on each that is not."""
    found, absent = [], []
    for name, prefix, hint in (
        ("snarkjs", snarkjs_prefix(), "needs node, and npm ci in tests/node or snarkjs on PATH"),
        ("rapidsnark", rapidsnark_prefix(), "not on PATH"),
    ):
        if prefix is None:
            absent.append(f"{name}: {hint}")
        else:
            found.append(Prover(name, peer_command(prefix)))
    return found, absent


def peer_command(prefix: list[str]) -> Callable[[Task], list[str]]:
    """Both peers take zkey, wtns, proof and public in this order."""
    return lambda task: [*prefix, *map(str, (task.zkey, task.wtns, task.proof, task.public))]


def snarkjs_prefix() -> list[str] | None:
    """How to start snarkjs's Groth16 prover, None where it or node is absent."""
    node = shutil.which("node")
    local = REPOSITORY / "tests" / "node" / "node_modules" / "snarkjs" / "build" / "cli.cjs"
    program = str(local) if local.is_file() else shutil.which("snarkjs")
    if node is None or program is None:
        return None
    return [node, program, "groth16", "prove"]


def rapidsnark_prefix() -> list[str] | None:
    """How to start rapidsnark's prover, None where it is absent."""
    program = shutil.which("rapidsnark")
    return None if program is None else [program]


def measure(prover: Prover, task: Task) -> Measure:
    """Run one proof. Raises ProverFailedError."""
    before = os.times()
    started = time.monotonic()
    try:
        done = subprocess.run(
            prover.command(task), capture_output=True, text=True, timeout=TIMEOUT_SECONDS, check=False
        )
    except subprocess.TimeoutExpired as error:
        raise ProverFailedError(f"no proof after {TIMEOUT_SECONDS} s") from error
    wall = time.monotonic() - started
    after = os.times()
    if done.returncode:
        lines = (done.stderr or done.stdout).strip().splitlines() or ["no reason given"]
        raise ProverFailedError(lines[-1])
    cpu = after.children_user - before.children_user + after.children_system - before.children_system
    return Measure(wall, cpu, done.stderr)
