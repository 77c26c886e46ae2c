"""Generators behind walls: the same witnesses, and whatever they do is theirs alone."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
import wasmtime

from kernels.device import Cancelled
from proving.synthesis import confined
from proving.synthesis.confined import ConfinedGenerator, examine_confined
from proving.synthesis.errors import InputError, SynthesisError, SynthesisErrorKind
from proving.synthesis.sandbox import Limits
from proving.synthesis.wasm import WitnessGenerator
from tests.support.processes import children_of, wait_for
from tests.unit.synthesis.test_sandbox import module


@pytest.fixture
def compiled(fixtures: Path) -> Path:
    return fixtures / "compiled"


def failure(path: Path, cache: Path, limits: Limits | None = None) -> SynthesisError:
    with pytest.raises(SynthesisError) as caught:
        ConfinedGenerator(path, cache_dir=cache, limits=limits).generate({})
    return caught.value


def test_witnesses_are_those_of_a_generator_without_walls(compiled: Path, module_cache: Path) -> None:
    path, inputs = compiled / "silent.wasm", {"a": [3], "b": [11], "product": [33]}
    found = ConfinedGenerator(path, cache_dir=module_cache)

    np.testing.assert_array_equal(
        found.generate(inputs), WitnessGenerator(path, cache_dir=module_cache).generate(inputs)
    )
    assert examine_confined(path) == found.curve


def test_inputs_that_do_not_fit_are_told_with_their_place(compiled: Path, module_cache: Path) -> None:
    generator = ConfinedGenerator(compiled / "silent.wasm", cache_dir=module_cache)
    good = {"a": [3], "b": [11], "product": [33]}
    generator.check_all([good, good])

    with pytest.raises(InputError) as caught:
        generator.check_all([good, {**good, "a": [1, 2]}, {}])

    assert (caught.value.place, caught.value.path) == (1, "a")


def test_endless_circuits_are_stopped(compiled: Path, module_cache: Path, tmp_path: Path) -> None:
    path = compiled / "endless.wasm"
    generator = ConfinedGenerator(path, cache_dir=module_cache, limits=Limits(seconds=0.3))
    with pytest.raises(SynthesisError, match=r"ran longer than 0\.3 s") as caught:
        generator.generate({"value": [1]})
    assert caught.value.kind == SynthesisErrorKind.TIME


def test_who_does_not_wait_any_more_ends_the_cell(compiled: Path, module_cache: Path) -> None:
    generator = ConfinedGenerator(compiled / "endless.wasm", cache_dir=module_cache)
    nursery = confined.nursery().process
    assert nursery is not None
    asked = threading.Event()

    def cancelled() -> bool:
        asked.set()
        return bool(children_of(nursery.pid))

    started = time.monotonic()
    with pytest.raises(Cancelled):
        generator.generate({"value": [1]}, cancelled=cancelled)

    assert time.monotonic() - started < 20
    wait_for(lambda: not children_of(nursery.pid), "its process is gone", 10)


def test_a_crash_is_an_error_of_the_call(tmp_path: Path, module_cache: Path, compiled: Path) -> None:
    error = failure(module(tmp_path, getWitness="(param i32) unreachable"), module_cache)
    assert (error.kind, error.message) == (
        SynthesisErrorKind.TRAP,
        "the witness generator crashed: unreachable",
    )


@pytest.mark.parametrize(
    ("number", "kind"),
    [
        (signal.SIGSEGV, SynthesisErrorKind.TRAP),
        (signal.SIGABRT, SynthesisErrorKind.MEMORY),
        (signal.SIGKILL, SynthesisErrorKind.MEMORY),
        (signal.SIGXCPU, SynthesisErrorKind.TIME),
    ],
)
def test_a_cell_that_dies_is_an_error_of_the_call(
    number: signal.Signals, kind: SynthesisErrorKind, compiled: Path, module_cache: Path
) -> None:
    generator = ConfinedGenerator(compiled / "endless.wasm", cache_dir=module_cache)
    nursery = confined.nursery().process
    assert nursery is not None

    def strike() -> bool:
        for pid in children_of(nursery.pid):
            os.kill(pid, number)
        return False

    with pytest.raises(SynthesisError) as caught:
        generator.generate({"value": [1]}, cancelled=strike)

    assert caught.value.kind == kind
    assert len(generator.generate({"value": [0]})) == 2, "the next call has a cell of its own"


def test_memory_over_the_limit_is_refused(tmp_path: Path, module_cache: Path) -> None:
    error = failure(module(tmp_path, memory="4096"), module_cache, Limits(memory_bytes=64 << 20))
    assert error.kind == SynthesisErrorKind.MEMORY


def test_a_nursery_that_died_is_started_again(compiled: Path, module_cache: Path) -> None:
    generator = ConfinedGenerator(compiled / "endless.wasm", cache_dir=module_cache)
    nursery = confined.nursery().process
    assert nursery is not None
    nursery.kill()
    nursery.wait()

    assert len(generator.generate({"value": [0]})) == 2


def test_compiled_code_is_kept_and_a_damaged_one_is_made_again(compiled: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    ConfinedGenerator(compiled / "endless.wasm", cache_dir=cache)
    (kept,) = cache.iterdir()
    assert kept.stat().st_mode & 0o077 == 0
    kept.write_bytes(b"of another engine")

    assert len(ConfinedGenerator(compiled / "endless.wasm", cache_dir=cache).generate({"value": [0]})) == 2


def test_cells_and_nursery_end_with_whoever_started_them(compiled: Path, tmp_path: Path) -> None:
    script = (
        "import sys, os; from proving.synthesis.confined import ConfinedGenerator, nursery\n"
        f"g = ConfinedGenerator({str(compiled / 'endless.wasm')!r}, cache_dir={str(tmp_path)!r})\n"
        "print(nursery().process.pid, flush=True)\n"
        "g.generate({'value': [1]})"
    )
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        nursery = int(process.stdout.readline())
        (cell,) = wait_for(lambda: children_of(nursery), "its cell works", 20)
        process.kill()

    wait_for(lambda: not Path(f"/proc/{nursery}").exists(), "the nursery is gone", 10)
    wait_for(lambda: not Path(f"/proc/{cell}").exists(), "the cell is gone", 10)


PROBE = """
import os, socket, sys
from proving.synthesis import confine
os.memfd_create("warm")
pid = os.fork()
if not pid:
    confine.die_with(os.getppid())
    confine.leave_the_network()
    confine.become_nobody()
    confine.limit(64 << 20, 1 << 20, 5)
    if not confine.confine_calls():
        os._exit(99)
    refused = 0
    attempts = [
        lambda: os.open("/etc/passwd", os.O_RDONLY),
        lambda: socket.socket(),
        lambda: os.fork(),
        lambda: os.execv("/bin/true", ["true"]),
        lambda: os.kill(os.getppid(), 0),
        lambda: os.unlink("/tmp/nothing"),
        lambda: os.listdir("/"),
        lambda: os.pidfd_open(os.getppid()),
    ]
    for attempt in attempts:
        try:
            attempt()
        except PermissionError:
            refused += 1
    try:
        bytearray(256 << 20)
    except MemoryError:
        refused += 1
    os._exit(0 if refused == len(attempts) + 1 else 1)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
"""


def test_behind_the_walls_there_is_no_file_no_network_no_process_and_no_more_memory() -> None:
    ran = subprocess.run(
        [sys.executable, "-c", PROBE], check=False, capture_output=True, text=True, timeout=60
    )
    if ran.returncode == 99:
        pytest.skip("this kernel or machine has no filter of system calls")
    assert ran.returncode == 0, ran.stderr


def test_a_nursery_has_no_secret_of_the_service(
    compiled: Path, module_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CUZKWEB_SECRET_KEY", "the key of the service")
    confined.nursery().close()
    ConfinedGenerator(compiled / "endless.wasm", cache_dir=module_cache)
    process = confined.nursery().process
    assert process is not None

    environment = Path(f"/proc/{process.pid}/environ").read_bytes()
    open_files = list(Path(f"/proc/{process.pid}/fd").iterdir())

    assert b"CUZKWEB" not in environment
    assert len(open_files) <= 8, "its socket, its selector, its standard streams"


def test_hostile_bytes_are_refused_in_a_cell(tmp_path: Path) -> None:
    path = tmp_path / "made.wasm"
    for content in (b"", b"\0asm", b"\0asm\1\0\0\0", bytes(wasmtime.wat2wasm("(module)"))):
        path.write_bytes(content)
        with pytest.raises(SynthesisError) as caught:
            examine_confined(path)
        assert caught.value.kind == SynthesisErrorKind.MODULE
