"""Ports, the lock of a home, its state file, and children that die."""

import os
import signal
import sys
from contextlib import closing
from io import StringIO
from pathlib import Path

import pytest

from cuzkweb.supervisor.child import Child, Program
from cuzkweb.supervisor.home import Addresses, AlreadyUp, forget_state, locked, read_state, write_state
from cuzkweb.supervisor.ports import free_port, listen
from cuzkweb.supervisor.screen import Screen
from cuzkweb.supervisor.supervisor import StartFailed, Supervisor
from tests.support.processes import wait_for


def script(name: str, text: str, **options: object) -> Program:
    return Program(name, (sys.executable, "-c", text), **{"ready": lambda pid: True, **options})


def test_a_port_that_is_taken_is_left_to_whoever_has_it() -> None:
    with closing(listen(0)) as taken:
        port = taken.getsockname()[1]

        with closing(listen(port)) as other:
            assert other.getsockname()[1] != port
        assert free_port(port) != port
        with pytest.raises(OSError, match="in use"):
            listen(port, insist=True)


def test_a_home_has_one_holder(tmp_path: Path) -> None:
    with locked(tmp_path), pytest.raises(AlreadyUp, match=f"process id {os.getpid()}"), locked(tmp_path):
        pass
    with locked(tmp_path):
        pass


def test_the_state_is_told_and_forgotten(tmp_path: Path) -> None:
    assert read_state(tmp_path) is None

    with locked(tmp_path):
        write_state(tmp_path, Addresses("http://web", "unix:///s"), {"web": 7})

        state = read_state(tmp_path)
        assert state is not None
        assert (state["web"], state["processes"]) == ("http://web", {"web": 7})
        forget_state(tmp_path)
        assert read_state(tmp_path) is None


def test_what_a_killed_supervisor_told_is_not_believed(tmp_path: Path) -> None:
    with locked(tmp_path):
        write_state(tmp_path, Addresses("http://web", "unix:///s"), {})
    assert (tmp_path / "run" / "up.json").exists()

    assert read_state(tmp_path) is None
    with locked(tmp_path):
        assert read_state(tmp_path) is None


def test_a_child_that_dies_waits_longer_each_time(tmp_path: Path) -> None:
    child = Child(script("brief", "print('here', flush=True); raise SystemExit(3)"), tmp_path)
    waits = []
    for _ in range(3):
        child.start()
        before = child.restart_at
        status = wait_for(child.died, "the child has ended")
        assert status == 3
        waits.append(child.restart_at - before)

    assert child.deaths == 3
    assert child.last_lines() == ["here"] * 3
    assert not child.running()


def test_a_program_that_never_gets_up_fails_the_start(tmp_path: Path) -> None:
    supervisor = Supervisor(tmp_path, Screen(quiet=True))
    program = script("hopeless", "print('no luck'); raise SystemExit(1)", ready=lambda pid: False)

    with pytest.raises(StartFailed, match="no luck") as failure:
        supervisor.start([program])

    assert "hopeless ends at once" in str(failure.value)
    supervisor.stop()


def test_a_program_that_ignores_the_signal_is_killed(tmp_path: Path) -> None:
    supervisor = Supervisor(tmp_path, Screen(quiet=True))
    deaf = (
        "import signal, time\n"
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "print('up', flush=True)\n"
        "time.sleep(60)\n"
    )
    log = tmp_path / "log" / "deaf.log"
    supervisor.start([script("deaf", deaf, grace=0.3, ready=lambda pid: "up" in log.read_text())])
    pid = supervisor.pids()["deaf"]

    supervisor.stop()

    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_children_stop_rank_by_rank(tmp_path: Path) -> None:
    supervisor = Supervisor(tmp_path, Screen(quiet=True))
    order = tmp_path / "order"
    text = (
        "import pathlib, signal, sys\n"
        "def leave(*_):\n"
        f"    open({str(order)!r}, 'a').write(sys.argv[1])\n"
        "    sys.exit()\n"
        "signal.signal(signal.SIGTERM, leave)\n"
        "print('up', flush=True)\n"
        "signal.pause()\n"
    )
    programs = [
        Program(
            name,
            (sys.executable, "-c", text, name),
            ready=lambda pid, name=name: "up" in (tmp_path / "log" / f"{name}.log").read_text(),
            stop_rank=rank,
        )
        for name, rank in (("b", 1), ("a", 0), ("c", 2))
    ]
    supervisor.start(programs)

    supervisor.stop()

    assert order.read_text() == "abc"


def test_a_child_does_not_outlive_the_process_that_started_it(tmp_path: Path) -> None:
    text = (
        "import os, pathlib, sys\n"
        "from cuzkweb.supervisor.child import Child, Program\n"
        f"folder = pathlib.Path({str(tmp_path)!r})\n"
        "child = Child(Program('sleeper', ('sleep', '60'), ready=lambda pid: True), folder)\n"
        "child.start()\n"
        "(folder / 'pid').write_text(str(child.pid))\n"
        "os.kill(os.getpid(), 9)\n"
    )
    parent = Child(script("parent", text), tmp_path)
    parent.start()
    assert wait_for(parent.died, "the parent is killed") == -signal.SIGKILL

    sleeper = int((tmp_path / "pid").read_text())
    wait_for(lambda: not Path(f"/proc/{sleeper}/exe").exists(), "the sleeper has gone", 5)


def test_the_screen_shows_whole_new_lines_with_names(tmp_path: Path) -> None:
    shown = StringIO()
    screen = Screen(stream=shown)
    log = tmp_path / "web.log"
    log.write_text("from an earlier life\n")
    screen.follow([("web", log)])

    with log.open("a") as file:
        file.write("one\ntwo\nthr")
    screen.follow([("web", log)])

    assert shown.getvalue() == "web        | one\nweb        | two\n"
