"""The frame of the command line: listing, exit codes, quiet ends, and a fast start."""

import json
import os
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from types import ModuleType

import pytest

from cuzkweb import __main__ as command_line
from cuzkweb.__main__ import main
from cuzkweb.commands.refusals import Refused
from cuzkweb.commands.table import COMMANDS, available
from kernels.device import DeviceUnavailable
from proving.formats.errors import FormatError


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch):
    """Makes `cuzkweb check FILE` do whatever a test wants."""

    def install(action) -> None:
        module = ModuleType("stand_in")
        module.add_arguments = lambda parser: parser.add_argument("file")
        module.run = lambda options: action()
        monkeypatch.setattr(command_line.importlib, "import_module", lambda name: module)

    return install


def raising(error: BaseException):
    def action() -> int:
        raise error

    return action


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        main(["--version"])
    assert left.value.code == 0
    assert capsys.readouterr().out == f"cuzkweb {version('cuzkweb')}\n"


def test_help_lists_every_command_that_is_here(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 0
    text = capsys.readouterr().out
    for name in available():
        assert f"  {name} " in text or f"  {name}\n" in text


def test_every_listed_command_has_arguments_and_a_run() -> None:
    folder = Path(command_line.__file__).parent / "commands"
    assert available().keys() <= COMMANDS.keys()
    for name in ("prove", "verify", "witness", "check", "setup", "bench"):
        assert name in available()
        assert (folder / f"{name}.py").is_file()


@pytest.mark.parametrize(
    "words",
    [
        ["no-such-command"],
        ["--no-such-flag"],
        ["prove"],
        ["verify", "--vkey"],
        ["check"],
        ["prove", "--zk", "x"],
        ["setup", "--r1cs", "r", "--zkey", "k", "--threads", "-1"],
        ["bench", "--runs", "0"],
    ],
)
def test_wrong_usage_exits_2(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        main(words)
    assert left.value.code == 2
    assert "usage:" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (Refused("no, because"), "cuzkweb: no, because"),
        (FormatError("k.zkey", "section 4", "is\nbroken"), "cuzkweb: k.zkey: section 4: is broken"),
        (DeviceUnavailable("none here"), "cuzkweb: none here"),
        (
            FileNotFoundError(2, "No such file or directory", "k.zkey"),
            "cuzkweb: k.zkey: No such file or directory",
        ),
        (MemoryError(), "cuzkweb: not enough memory"),
    ],
)
def test_a_refusal_is_one_line_and_exit_code_1(error, line: str, command, capsys) -> None:
    command(raising(error))
    assert main(["check", "f"]) == 1
    captured = capsys.readouterr()
    assert captured.err == f"{line}\n"
    assert captured.out == ""


def test_a_fault_of_our_own_is_one_line_and_a_hint(command, capsys) -> None:
    command(raising(KeyError("x")))
    assert main(["check", "f"]) == 1
    line = capsys.readouterr().err
    assert line.startswith("cuzkweb: unexpected KeyError: 'x'")
    assert "--traceback" in line
    assert line.count("\n") == 1


def test_traceback_on_request(command) -> None:
    command(raising(KeyError("x")))
    with pytest.raises(KeyError):
        main(["--traceback", "check", "f"])


def test_ctrl_c_is_quiet(command, capsys) -> None:
    command(raising(KeyboardInterrupt()))
    assert main(["check", "f"]) == 130
    assert capsys.readouterr() == ("", "")


def test_the_exit_code_is_the_commands(command) -> None:
    command(lambda: 1)
    assert main(["check", "f"]) == 1
    command(lambda: 0)
    assert main(["check", "f"]) == 0


def test_a_closed_pipe_is_quiet() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    program = (
        "import sys; from cuzkweb.__main__ import main; import cuzkweb.commands.check as check\n"
        "check.run = lambda options: print('text') or 0\n"
        "sys.exit(main(['check', 'f']))"
    )
    with os.fdopen(writer, "w") as closed:
        done = subprocess.run(
            [sys.executable, "-c", program],
            stdout=closed,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
            timeout=60,
        )
    assert done.returncode == 1
    assert done.stderr == ""


def imported_by(*words: str) -> set[str]:
    """The modules that a call of the command line leaves loaded."""
    program = (
        "import sys, json\n"
        "from cuzkweb.__main__ import main\n"
        "try:\n    main(sys.argv[1:])\n"
        "except SystemExit:\n    pass\n"
        "print(json.dumps(list(sys.modules)), file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, *words], capture_output=True, text=True, check=True, timeout=60
    )
    return set(json.loads(done.stderr.splitlines()[-1]))


SERVICE = {"django", "celery", "kombu", "redis", "rest_framework"}


@pytest.mark.parametrize("words", [["--version"], ["--help"], ["prove", "--help"], ["bench", "--help"]])
def test_telling_about_itself_loads_nothing_heavy(words: list[str]) -> None:
    assert not imported_by(*words) & {*SERVICE, "numpy", "wasmtime"}


def test_commands_without_the_service_load_no_service(tmp_path: Path) -> None:
    missing = str(tmp_path / "missing")
    prove = ["prove", "--zkey", missing, "--wtns", missing, "--proof", missing, "--public", missing]
    for words in (prove, ["verify", "--vkey", missing, "--proof", missing, "--public", missing]):
        assert not imported_by(*words) & {*SERVICE, "wasmtime", "rich"}
