"""Which processes make up the service on one host, and how each is started and known to be ready."""

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from http import HTTPStatus
from http.client import HTTPConnection, HTTPException
from itertools import count
from pathlib import Path

from cuzkweb.supervisor.child import Program
from cuzkweb.supervisor.ports import LOOPBACK


@dataclass(frozen=True, slots=True)
class Plan:
    """What `cuzkweb up` is to run: one device worker for each of `devices` ("host", "cuda:0", ...)."""

    devices: tuple[str, ...] = ("host",)
    synthesis_slots: int = 2
    finalize_slots: int = 1
    flower: bool = True
    environment: Mapping[str, str] = field(default_factory=dict)
    """What every process gets besides what this one has."""


def ready_file(home: Path, name: str) -> Path:
    """Where a process says that it is ready, by its process id."""
    return home / "run" / "ready" / name


def says_ready(path: Path) -> Callable[[int], bool]:
    """Ready when the file holds the process's own id: one left by an earlier process does not count."""

    def ready(pid: int) -> bool:
        try:
            return path.read_text() == str(pid)
        except FileNotFoundError:
            return False

    return ready


def responds(port: int, path: str) -> Callable[[int], bool]:
    """Ready when `path` on a port of loopback answers with success."""

    def ready(_pid: int) -> bool:
        connection = HTTPConnection(LOOPBACK, port, timeout=2)
        try:
            connection.request("GET", path)
            return connection.getresponse().status == HTTPStatus.OK
        except (OSError, HTTPException):
            return False
        finally:
            connection.close()

    return ready


def command(*arguments: str) -> tuple[str, ...]:
    """This installation's own command line, run by this interpreter."""
    return (sys.executable, "-m", "cuzkweb", *arguments)


def web(port: int, descriptor: int, common: Mapping[str, str]) -> Program:
    """The web server, on a listening socket that the supervisor keeps."""
    return Program(
        name="web",
        argv=command("web", "--fd", str(descriptor)),
        ready=responds(port, "/healthz"),
        environment=common,
        pass_fds=(descriptor,),
    )


def worker(home: Path, name: str, arguments: tuple[str, ...], environment: Mapping[str, str]) -> Program:
    """A Celery worker of one kind. It finishes what it has in hand before it stops."""
    path = ready_file(home, name)
    return Program(
        name=name,
        argv=command("worker", *arguments, "--ready-file", str(path)),
        ready=says_ready(path),
        environment=environment,
        grace=15.0,
    )


def workers(home: Path, plan: Plan, common: Mapping[str, str]) -> list[Program]:
    """Synthesis, finalizers, and a worker for each device."""
    found = [
        worker(home, "synthesis", ("--synthesis", "--slots", str(plan.synthesis_slots)), common),
        worker(home, "finalize", ("--finalize", "--slots", str(plan.finalize_slots)), common),
    ]
    return found + device_workers(home, plan.devices, common)


def device_workers(home: Path, devices: Sequence[str], common: Mapping[str, str]) -> list[Program]:
    """One worker a device: GPUs keep their own numbers, others take those that are left."""
    found, taken = [], {numbered for device in devices if (numbered := own_ordinal(device)) is not None}
    left = (number for number in count() if number not in taken)
    for device in devices:
        own = own_ordinal(device)
        ordinal = next(left) if own is None else own
        arguments = ("--device", device, "--ordinal", str(ordinal))
        found.append(worker(home, f"gpu{ordinal}", arguments, common))
    return found


def own_ordinal(device: str) -> int | None:
    """The number that a GPU's name says."""
    kind, _, number = device.partition(":")
    return int(number) if kind == "cuda" and number.isdecimal() else None


def periodic(home: Path, common: Mapping[str, str]) -> Program:
    """The process that reaps, sweeps and resends."""
    path = ready_file(home, "periodic")
    return Program(
        name="periodic",
        argv=command("periodic", "--ready-file", str(path)),
        ready=says_ready(path),
        environment=common,
    )


def flower(port: int, login: str, common: Mapping[str, str]) -> Program:
    """Celery's monitor: loopback, behind a password that the command line does not show, read-only."""
    settings = {
        "FLOWER_ADDRESS": LOOPBACK,
        "FLOWER_PORT": str(port),
        "FLOWER_BASIC_AUTH": login,
        "FLOWER_READ_ONLY": "True",
        "FLOWER_URL_PREFIX": "flower",
        "FLOWER_MAX_TASKS": "10000",
        "FLOWER_PURGE_OFFLINE_WORKERS": "600",
        "FLOWER_TASK_RUNTIME_METRIC_BUCKETS": "0.1,0.3,1,3,10,30,100,300,900",
    }
    return Program(
        name="flower",
        argv=(sys.executable, "-m", "celery", "--skip-checks", "-A", "cuzkweb.celery", "flower"),
        ready=responds(port, "/flower/healthcheck"),
        environment={**common, **settings},
        grace=5.0,
    )
