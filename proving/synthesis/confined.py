"""Witness generators run behind walls: the same calls as `wasm.WitnessGenerator`, each in a cell of its own.

A cell that crashes, is out of memory or does not end is an error of the call; this process goes on.
"""

from __future__ import annotations

import atexit
import json
import logging
import mmap
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import proving
from kernels.curves import Curve, curve_by_name
from kernels.device import Cancelled, never
from proving.formats.errors import FormatError
from proving.formats.files import write_atomically
from proving.formats.wtns import check_values
from proving.synthesis.cell import STALE
from proving.synthesis.engine import PRIVATE_FILE, is_private, name_compiled, prepare
from proving.synthesis.errors import InputError, InputProblem, SynthesisError, SynthesisErrorKind
from proving.synthesis.inputs import Inputs
from proving.synthesis.sandbox import Limits
from proving.synthesis.wasm import MAX_MODULE_BYTES, ignore

logger = logging.getLogger(__name__)

COMPILING, EXAMINING = Limits(memory_bytes=8 << 30, seconds=600.0), Limits(seconds=60.0)
GRACE_SECONDS = 5.0
"""A cell stops itself when its time is over; one that does not is killed after this."""

POLL_SECONDS = 0.1
ANSWER_BYTES = 64 << 20
"""What a cell may tell besides a witness: more is taken for a fault of it."""

Answer = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Call:
    """What a cell is asked to do, with which generator; its curve, where it is known."""

    task: str
    file: str
    limits: Limits
    curve: str | None = None

    def words(self) -> Answer:
        """The request as it is sent."""
        memory, seconds = self.limits.memory_bytes, self.limits.seconds
        return {
            "task": self.task,
            "file": self.file,
            "curve": self.curve,
            "memory_bytes": memory,
            "seconds": seconds,
        }


class ConfinedGenerator:
    """A witness generator whose every call runs in a process of its own. Threads may share it."""

    def __init__(self, path: Path | str, *, cache_dir: Path | str, limits: Limits | None = None) -> None:
        """Compile the generator at `path`, or take what an earlier call compiled from the same bytes.

        Raises SynthesisError for a file that is no circom generator, OSError when there is no file.
        """
        self.path = Path(path)
        self.limits = limits or Limits()
        self.cache = Path(cache_dir)
        try:
            self.curve = self._find_curve()
        except SynthesisError as error:
            if error.message != STALE:
                raise
            self._compiled_path().unlink(missing_ok=True)
            self.curve = self._find_curve()

    def check(self, inputs: Inputs) -> None:
        """Refuse inputs whose signals or sizes do not fit the circuit. Raises InputError, SynthesisError."""
        self.check_all([inputs])

    def check_all(self, inputs: Sequence[Inputs]) -> None:
        """Check the inputs of several partitions in one cell.

        Raises InputError with `place` set to the number of the first that does not fit; SynthesisError.
        """
        with self._compiled() as module, memory_file(json.dumps(inputs).encode()) as given:
            answer = ask(self._call("check"), module=module, given=given)
        if "problems" in answer:
            raise misfit(answer)

    def generate(
        self, inputs: Inputs, log: Callable[[str], None] = ignore, cancelled: Callable[[], bool] = never
    ) -> NDArray[np.uint64]:
        """The witness for some inputs: (n, 4) uint64, plain, canonical, wire 0 is one; read-only.

        `log` gets the lines that the circuit logs. `cancelled` is asked several times a second.
        Raises InputError, SynthesisError, and Cancelled within a moment after `cancelled` has said so.
        """
        with (
            self._compiled() as module,
            memory_file(json.dumps(inputs).encode()) as given,
            memory_file() as result,
        ):
            files = {"module": module, "given": given, "result": result}
            answer = ask(self._call("generate"), log=log, cancelled=cancelled, **files)
            if "problems" in answer:
                raise misfit(answer)
            witness = read_words(result)
        try:
            check_values(str(self.path), "witness", self.curve, witness)
        except FormatError as error:
            reason = f"the witness generator is broken: {error.place}: {error.reason}"
            raise SynthesisError(SynthesisErrorKind.MODULE, reason) from error
        return witness

    def _find_curve(self) -> Curve:
        with self._compiled() as module:
            return curve_by_name(ask(Call("curve", str(self.path), self.limits), module=module)["curve"])

    def _call(self, task: str) -> Call:
        return Call(task, str(self.path), self.limits, self.curve.name)

    @contextmanager
    def _compiled(self) -> Iterator[int]:
        """The compiled code, open."""
        path = self._compiled_path()
        if not (prepare(self.cache) and is_private(path)):
            with self._compile() as made:
                yield made
            return
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            yield descriptor
        finally:
            os.close(descriptor)

    @contextmanager
    def _compile(self) -> Iterator[int]:
        """Compile into memory, and keep it for others where the cache takes it."""
        with self.path.open("rb") as source, memory_file() as result:
            ask(Call("compile", str(self.path), COMPILING), module=source.fileno(), result=result)
            with suppress(OSError):  # a full or read-only disk costs only speed
                write_atomically(self._compiled_path(), [content_of(result)], mode=PRIVATE_FILE)
            yield result

    def _compiled_path(self) -> Path:
        if not hasattr(self, "_name"):
            if self.path.stat().st_size > MAX_MODULE_BYTES:
                reason = f"{self.path}: larger than {MAX_MODULE_BYTES} bytes"
                raise SynthesisError(SynthesisErrorKind.MODULE, reason)
            self._name = name_compiled(self.path.read_bytes())
        return self.cache / f"{self._name}.cwasm"


def examine_confined(path: Path | str) -> Curve | None:
    """As `examine.examine_generator`, in a cell."""
    if Path(path).stat().st_size > MAX_MODULE_BYTES:
        raise SynthesisError(SynthesisErrorKind.MODULE, f"{path}: larger than {MAX_MODULE_BYTES} bytes")
    with Path(path).open("rb") as source:
        curve = ask(Call("examine", str(path), EXAMINING), module=source.fileno())["curve"]
    return None if curve is None else curve_by_name(curve)


def misfit(answer: Answer) -> InputError:
    """The error of inputs that do not fit; `place` is the partition's number among those that were asked."""
    problems = (InputProblem(str(path), str(reason)) for path, reason in answer["problems"])
    return InputError(*problems, place=int(answer.get("place", 0)))


def ask(
    call: Call,
    *,
    module: int,
    given: int | None = None,
    result: int | None = None,
    log: Callable[[str], None] = ignore,
    cancelled: Callable[[], bool] = never,
) -> Answer:
    """Have a cell do something. Raises SynthesisError for every way in which that can fail, Cancelled."""
    with open("/dev/null", "r+b") as nothing:  # noqa: PTH123 - a descriptor is all that is wanted
        files = [module, *(nothing.fileno() if each is None else each for each in (given, result))]
        with nursery().request(call.words(), files) as reply:
            return hear(lines_of(reply, call.limits, cancelled), log)


def hear(lines: Iterator[Answer], log: Callable[[str], None]) -> Answer:
    """What a cell answers, once its process has ended well. Raises SynthesisError."""
    answer = ended = None
    for line in lines:
        if "log" in line:
            log(str(line["log"]))
        elif "ended" in line:
            ended = int(line["ended"])
        else:
            answer = line
    if answer is None or ended != 0:
        raise fallen(ended)
    if "error" in answer:
        raise SynthesisError(SynthesisErrorKind(answer["error"]), str(answer["message"]))
    return dict(answer)


def lines_of(reply: socket.socket, limits: Limits, cancelled: Callable[[], bool]) -> Iterator[Answer]:
    """The lines that a cell tells, to its end. Raises Cancelled, and SynthesisError when its time is over."""
    deadline, rest, total = time.monotonic() + limits.seconds + GRACE_SECONDS, b"", 0
    reply.settimeout(POLL_SECONDS)
    while total <= ANSWER_BYTES:
        if cancelled():
            raise Cancelled
        if time.monotonic() > deadline:
            reason = f"the witness generator ran longer than {limits.seconds:g} s"
            raise SynthesisError(SynthesisErrorKind.TIME, reason)
        try:
            more = reply.recv(1 << 16)
        except TimeoutError:
            continue
        if not more:
            return
        total += len(more)
        *lines, rest = (rest + more).split(b"\n")
        yield from map(json.loads, lines)


def fallen(ended: int | None) -> SynthesisError:
    """Why a cell gave no answer, judged by how its process ended."""
    if ended == -signal.SIGXCPU:
        return SynthesisError(SynthesisErrorKind.TIME, "the witness generator used up its time")
    if ended in {-signal.SIGABRT, -signal.SIGKILL}:
        reason = "the witness generator's process ended for want of memory"
        return SynthesisError(SynthesisErrorKind.MEMORY, reason)
    how = "without a word" if ended is None or ended >= 0 else f"with {signal.Signals(-ended).name}"
    return SynthesisError(SynthesisErrorKind.TRAP, f"the witness generator's process ended {how}")


class Nursery:
    """This process's nursery of cells, started at first need and again when it has died."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.process: subprocess.Popen[bytes] | None = None
        self.control: socket.socket | None = None

    @contextmanager
    def request(self, words: Answer, files: list[int]) -> Iterator[socket.socket]:
        """Send a request; the socket on which its cell answers. Closing it ends the cell."""
        ours, theirs = socket.socketpair()
        with ours:
            with theirs:
                self._send(json.dumps(words).encode(), [theirs.fileno(), *files])
            yield ours

    def _send(self, message: bytes, files: list[int]) -> None:
        with self.lock:
            try:
                socket.send_fds(self._connected(), [message], files)
            except OSError:
                logger.warning("the nursery of witness generators is started again")
                self.close()
                socket.send_fds(self._connected(), [message], files)

    def _connected(self) -> socket.socket:
        if self.control is None:
            ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            with theirs:
                self.process = subprocess.Popen(
                    [sys.executable, "-m", "proving.synthesis.nursery", str(theirs.fileno())],
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    pass_fds=(theirs.fileno(),),
                    cwd="/",
                    env={"PYTHONPATH": str(Path(proving.__path__[0]).parent), "LANG": "C.UTF-8"},
                    start_new_session=True,
                )
            self.control = ours
        return self.control

    def close(self) -> None:
        """End it, and every cell of it."""
        if self.control is not None:
            self.control.close()
        if self.process is not None:
            self.process.kill()
            self.process.wait()
        self.control = self.process = None


def nursery() -> Nursery:
    """The nursery of this process; a forked child gets one of its own."""
    return nursery_of(os.getpid())


@lru_cache(maxsize=1)
def nursery_of(process: int) -> Nursery:  # noqa: ARG001 - the key of the cache
    """The nursery of a process by its number."""
    made = Nursery()
    atexit.register(made.close)
    return made


@contextmanager
def memory_file(content: bytes = b"") -> Iterator[int]:
    """A file in memory."""
    descriptor = os.memfd_create("cell", os.MFD_CLOEXEC)
    try:
        rest = memoryview(content)
        while rest:
            rest = rest[os.write(descriptor, rest) :]
        yield descriptor
    finally:
        os.close(descriptor)


def content_of(descriptor: int) -> bytes:
    """All of a file."""
    return os.pread(descriptor, os.fstat(descriptor).st_size, 0)


def read_words(descriptor: int) -> NDArray[np.uint64]:
    """A file of 256-bit numbers as (n, 4) words, mapped. Raises SynthesisError where it is none."""
    size = os.fstat(descriptor).st_size
    if not size or size % 32:
        raise SynthesisError(SynthesisErrorKind.MODULE, "the witness generator told no whole numbers")
    mapped = mmap.mmap(descriptor, size, access=mmap.ACCESS_READ)
    return np.frombuffer(mapped, dtype="<u8").reshape(-1, 4)
