"""The supervisor: one service a home, dead processes start again, none is ever left behind."""

import os
import signal

import pytest

from tests.support.processes import processes_of, wait_for
from tests.support.stack import Stack

pytestmark = pytest.mark.acceptance


def test_a_second_service_in_one_home_is_refused(stack: Stack) -> None:
    second = stack.command("up")

    assert second.returncode == 1
    assert second.stderr.count("\n") == 1
    assert f"process id {stack.process.pid}" in second.stderr
    assert stack.client.status()["consistent"] is True, "the first one goes on"


def test_the_status_command_finds_the_service_and_its_key(stack: Stack) -> None:
    shown = stack.command("status")

    assert (shown.returncode, shown.stderr) == (0, "")
    assert "gpu0@" in shown.stdout
    assert "idle" in shown.stdout


def test_a_process_that_dies_is_started_again(stack: Stack) -> None:
    killed = stack.pid("finalize")
    before = set(processes_of(stack.home))

    os.kill(killed, signal.SIGKILL)

    wait_for(lambda: stack.pid("finalize") != killed, "another finalizer")
    ready = stack.home / "run" / "ready" / "finalize"
    wait_for(lambda: ready.read_text() == str(stack.pid("finalize")), "the other finalizer is ready", 60)
    wait_for(lambda: len(processes_of(stack.home)) == len(before), "the dead one's pool is gone")


def test_secrets_are_their_owners_alone(stack: Stack) -> None:
    for name in ("credentials.json", "secret_key", "run/up.json", "log/web.log", "run/valkey.sock"):
        assert (stack.home / name).stat().st_mode & 0o077 == 0, name
    for name in ("", "run", "log", "valkey"):
        assert (stack.home / name).stat().st_mode & 0o077 == 0, name
