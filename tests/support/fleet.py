"""The service on several hosts: a control host with all servers, and hosts with a device each."""

import os
import secrets
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import httpx

from cuzkweb.client import Client
from cuzkweb.supervisor.ports import listen
from tests.support.namespaces import Host, Network, wired
from tests.support.processes import command_line, processes_of, wait_for
from tests.support.servers import PostgreSQL, Redis, running_postgresql, running_redis
from tests.support.stack import DEPLOYMENT, LEASE_SECONDS, Stack, make_credentials
from tests.support.valkey import die_with_parent

READY_SECONDS = 120.0
BUCKET = "cuzkweb"
WORKERS = {"gpu0": ("--device", "host", "--ordinal", "0"), "synthesis": ("--synthesis",)}
STORAGE_PORT = 5000


class Fleet(Stack):
    """What the tests of one host ask of a stack, on several: `home` is the control host's."""

    def __init__(self, folder: Path, network: Network, database: PostgreSQL, live: Redis) -> None:
        self.folder, self.home = folder, folder / "control"
        self.network, self.database, self.live = network, database, live
        self.running: dict[str, subprocess.Popen[bytes]] = {}

    def home_of(self, host: Host) -> Path:
        return self.folder / host.name

    def log(self, name: str) -> str:
        return (self.folder / f"{name}.log").read_text()

    def objects(self, prefix: str) -> list[str]:
        """The names in the shared storage below a prefix."""
        address = f"{storage_address(self.network)}/{BUCKET}?list-type=2&prefix={prefix}"
        script = (
            "import re, urllib.request as r; "
            f"t = r.urlopen('{address}').read().decode(); "
            "print('\\n'.join(re.findall('<Key>(.*?)</Key>', t)))"
        )
        command = [*self.network.control.inside(), sys.executable, "-I", "-c", script]
        return subprocess.run(command, check=True, capture_output=True, text=True, timeout=30).stdout.split()


def storage_address(network: Network) -> str:
    return f"http://{network.control.address}:{STORAGE_PORT}"


@contextmanager
def running_fleet(folder: Path, **environment: str) -> Iterator[Fleet]:
    """The service on a control host and the device hosts `a` and `b`; no process of it may stay."""
    with ExitStack() as stack:
        network = stack.enter_context(wired("a", "b"))
        database = stack.enter_context(running_postgresql(network.control))
        live = stack.enter_context(running_redis(network.control))
        fleet = Fleet(folder, network, database, live)
        fleet.home.mkdir()
        stack.enter_context(_ended(fleet))
        common = {
            "CUZKWEB_DEPLOYMENT": DEPLOYMENT,
            "CUZKWEB_LEASE_SECONDS": str(LEASE_SECONDS),
            "CUZKWEB_SECRET_KEY": secrets.token_urlsafe(48),
            "CUZKWEB_STORAGE_URL": f"s3://{BUCKET}/proving?endpoint_url={storage_address(network)}",
            "AWS_ACCESS_KEY_ID": "control",
            "AWS_SECRET_ACCESS_KEY": secrets.token_urlsafe(12),
            "AWS_DEFAULT_REGION": "us-east-1",
            "AWS_EC2_METADATA_DISABLED": "true",
            "REDIS_URL": live.url,
            **environment,
        }
        with listen(0, insist=False) as listener:
            listener.set_inheritable(True)
            _start_all(fleet, common, listener.fileno())
            address = f"http://127.0.0.1:{listener.getsockname()[1]}"
            _wait_until_ready(fleet, address)
            with Client(address, fleet.credentials()["api_key"]) as client:
                fleet.client = client
                yield fleet


def _start_all(fleet: Fleet, common: dict[str, str], descriptor: int) -> None:
    control, home = fleet.network.control, str(fleet.home)
    _start_storage(fleet)
    here = {**os.environ, **common, "CUZKWEB_HOME": home}
    make_credentials(fleet.home, {**here, "DATABASE_URL": fleet.database.url})
    common = {**common, "DATABASE_URL": fleet.database.remote_url}
    cuzkweb = [sys.executable, "-m", "cuzkweb"]
    for host in fleet.network.others.values():
        fleet.home_of(host).mkdir()
        for name, arguments in WORKERS.items():
            ready = ("--ready-file", str(fleet.home_of(host) / f"{name}.ready"))
            _start(fleet, host, f"{name}@{host.name}", [*cuzkweb, "worker", *arguments, *ready], common)
    ready = fleet.home / "finalize.ready"
    _start(fleet, control, "finalize", [*cuzkweb, "worker", "--finalize", "--ready-file", str(ready)], common)
    ready = fleet.home / "periodic.ready"
    _start(fleet, control, "periodic", [*cuzkweb, "periodic", "--ready-file", str(ready)], common)
    _start(fleet, control, "web", [*cuzkweb, "web", "--fd", str(descriptor)], common, descriptor)


def _start(
    fleet: Fleet,
    host: Host,
    name: str,
    argv: list[str],
    environment: dict[str, str],
    *descriptors: int,
) -> None:
    own = {"CUZKWEB_HOME": str(fleet.home_of(host)), "CUZKWEB_HOST": host.name}
    with (fleet.folder / f"{name}.log").open("wb") as log:
        fleet.running[name] = subprocess.Popen(
            [*host.inside(), *argv],
            env={**os.environ, **environment, **own},
            stdout=log,
            stderr=subprocess.STDOUT,
            pass_fds=descriptors,
            preexec_fn=die_with_parent,  # noqa: PLW1509
        )


def _start_storage(fleet: Fleet) -> None:
    """moto's server of the S3 interface, and a bucket in it."""
    control = fleet.network.control
    argv = [sys.executable, "-m", "moto.server", "-H", control.address, "-p", str(STORAGE_PORT)]
    _start(fleet, control, "storage", argv, {})
    script = (
        "import time, urllib.request as r\n"
        "for _ in range(300):\n"
        "    try:\n"
        f"        r.urlopen(r.Request('{storage_address(fleet.network)}/{BUCKET}', method='PUT')); break\n"
        "    except OSError: time.sleep(0.1)\n"
        "else: raise SystemExit('the storage does not answer')\n"
    )
    command = [*control.inside(), sys.executable, "-I", "-c", script]
    subprocess.run(command, check=True, timeout=60)


def _wait_until_ready(fleet: Fleet, address: str) -> None:
    files = {
        name: (fleet.home if "@" not in name else fleet.folder / name.partition("@")[2])
        / f"{name.partition('@')[0]}.ready"
        for name in fleet.running
        if name not in {"web", "storage"}
    }

    def ready() -> bool:
        for name, process in fleet.running.items():
            assert process.poll() is None, f"{name} has ended: {fleet.log(name)}"
        return all(path.exists() for path in files.values()) and answers(f"{address}/readyz")

    wait_for(ready, f"ready: {[name for name, path in files.items() if not path.exists()]}", READY_SECONDS)


def answers(address: str) -> bool:
    try:
        return httpx.get(address, timeout=5).status_code == 200
    except httpx.HTTPError:
        return False


@contextmanager
def _ended(fleet: Fleet) -> Iterator[None]:
    """Everything stops as it is told to, and no process stays."""
    try:
        yield
    finally:
        for process in fleet.running.values():
            process.send_signal(signal.SIGTERM)
        for process in fleet.running.values():
            try:
                process.wait(30)
            except subprocess.TimeoutExpired:
                process.kill()
        homes = [fleet.home_of(host) for host in (fleet.network.control, *fleet.network.others.values())]
        left = [pid for home in homes for pid in processes_of(home)]
        wait_for(
            lambda: not [pid for home in homes for pid in processes_of(home)],
            f"gone: {[command_line(pid) for pid in left]}",
            15,
        )
