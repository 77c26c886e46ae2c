"""The provers that the benchmark runs side by side, each as a process of its own."""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).resolve().parents[2]
MEASURED = Path(__file__).with_name("measured.py")
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
    """One run of a prover: wall and CPU seconds of the whole process, the most memory that it held (resident,
    mapped files included), and what it said on standard error."""

    wall: float
    cpu: float
    stderr: str
    peak_bytes: int = 0


class ProverFailedError(RuntimeError):
    """A prover left with an error; the text is its last line."""


def own_command() -> list[str]:
    """The installed command, or this package where there is none."""
    native = Path(sys.executable).with_name("cuzkweb")
    return [str(native)] if native.exists() else [sys.executable, "-m", "cuzkweb"]


def own_prover() -> Prover:
    """cuzkweb itself, as the command line runs it, with stage times on standard error."""

    def command(task: Task) -> list[str]:
        files = ["--zkey", task.zkey, "--wtns", task.wtns, "--proof", task.proof, "--public", task.public]
        return [*own_command(), "prove", *map(str, files), "--json"]

    return Prover("cuzkweb", command)


def find_peers(given: dict[str, str] | None = None) -> tuple[list[Prover], list[str]]:
    """The peers that are installed or whose path is given, and a word on each that is not."""
    paths = given or {}
    found, absent = [], []
    for name, prefix, hint in (
        ("snarkjs", snarkjs_prefix(), "needs node, and npm ci in tests/node or snarkjs on PATH"),
        (
            "rapidsnark",
            [paths["rapidsnark"]] if "rapidsnark" in paths else rapidsnark_prefix(),
            "not on PATH",
        ),
        ("groth16py", groth16py_prefix(paths.get("groth16py")), "its Python is not named (--peer)"),
    ):
        if prefix is None:
            absent.append(f"{name}: {hint}")
        else:
            found.append(Prover(name, peer_command(prefix)))
    return found, absent


def peer_command(prefix: list[str]) -> Callable[[Task], list[str]]:
    """All peers take zkey, wtns, proof and public in this order."""
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


def groth16py_prefix(python: str | None) -> list[str] | None:
    """How to start groth16py in the Python that it is installed for."""
    script = REPOSITORY / "tests" / "benchmarks" / "groth16py" / "prove.py"
    return None if python is None or not script.is_file() else [python, str(script)]


def measure(prover: Prover, task: Task) -> Measure:
    """Run one proof. Raises ProverFailedError."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report"
        output, errors = Path(folder) / "output", Path(folder) / "errors"
        runner = [sys.executable, "-I", "-S", str(MEASURED), str(report), *prover.command(task)]
        with output.open("wb") as out, errors.open("wb") as err:
            process = subprocess.Popen(
                runner, stdout=out, stderr=err, env=as_installed(), start_new_session=True
            )
            try:
                process.wait(TIMEOUT_SECONDS)
            except subprocess.TimeoutExpired as error:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
                raise ProverFailedError(f"no proof after {TIMEOUT_SECONDS} s") from error
        said = [path.read_text(errors="replace") for path in (output, errors)]
        cost = json.loads(report.read_text()) if report.exists() else {"code": process.returncode}
    if cost["code"]:
        lines = (said[1] or said[0]).strip().splitlines() or ["no reason given"]
        raise ProverFailedError(lines[-1])
    return Measure(cost["wall"], cost["cpu"], said[1], cost["peak_bytes"])


def as_installed() -> dict[str, str]:
    """The environment without what keeps Python from storing its bytecode, as no installed program starts."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


def measure_in_process(program: str, curve: str, what: str, log_size: int, runs: int) -> list[dict[str, Any]]:
    """What the programs of tests/benchmarks (gnark, arkworks) say of an equal-sized circuit of their own: one
    object a run with what, wall and cpu. Raises ProverFailedError."""
    done = subprocess.run(
        [program, curve, what, str(log_size), str(runs)],
        capture_output=True,
        text=True,
        timeout=TIMEOUT_SECONDS,
        check=False,
    )
    if done.returncode:
        raise ProverFailedError((done.stderr.strip().splitlines() or ["no reason given"])[-1])
    return [json.loads(line) for line in done.stdout.splitlines()]
