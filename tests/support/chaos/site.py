"""A whole service on servers, disk, clock and network that the test can break."""

import os
import subprocess
from collections.abc import Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import redis

from tests.support.chaos.clock import Clock, make_clock
from tests.support.chaos.proxy import Wire, wire_to
from tests.support.servers import (
    PostgreSQL,
    Redis,
    Server,
    postgresql_programs,
    running_postgresql,
    running_redis,
)
from tests.support.stack import LEASE_SECONDS, Stack, running_stack

SPOOL_BYTES = 48 * 2**20
PROGRAMS = ("web", "synthesis", "gpu0", "gpu1", "finalize", "periodic")
SETTINGS = {
    "CUZKWEB_MAX_ATTEMPTS": "12",
    "CUZKWEB_SUBMITS_PER_MINUTE": "1000000",
    "CUZKWEB_READS_PER_MINUTE": "1000000",
    "CUZKWEB_MIN_FREE_BYTES": "1048576",
}


@dataclass
class Spare:
    """A second circuit, whose key is spoiled now and then, and the jobs that were sent meanwhile."""

    circuit: str
    key_file: Path
    jobs: list[str] = field(default_factory=list)


@dataclass
class Site:
    """A running service and what it stands on. What is None cannot be broken here."""

    stack: Stack
    live: Redis
    wire: Wire
    database: PostgreSQL | None
    clock: Clock | None
    disk: Path | None
    lease: float
    keeper: Executor
    spare: "Spare | None" = None

    def pid(self, name: str) -> int:
        """The process of a program. ProcessLookupError while it is being started again: its number may be
        somebody else's by now."""
        found = self.stack.pid(name)
        if not self.owns(found):
            raise ProcessLookupError(f"{name} is not running")
        return found

    def owns(self, pid: int) -> bool:
        """Whether a process is of this service."""
        try:
            variables = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
        except (FileNotFoundError, ProcessLookupError, PermissionError):
            return False
        return f"CUZKWEB_HOME={self.stack.home}".encode() in variables

    def start(self, server: Server) -> None:
        """Start a server again, from a thread that lives as long as the site: servers die with theirs."""
        self.keeper.submit(server.start).result()

    def client(self) -> redis.Redis:
        """An administrator's, past the wire."""
        return self.live.client()


def with_port(url: str, port: int) -> str:
    parts = urlsplit(url)
    login, _, _ = parts.netloc.rpartition("@")
    return urlunsplit(parts._replace(netloc=f"{login}@127.0.0.1:{port}"))


@contextmanager
def small_disk(folder: Path) -> Iterator[Path | None]:
    """A file system of its own with little room, where this user may mount one."""
    folder.mkdir(mode=0o700, parents=True)
    options = f"size={SPOOL_BYTES},mode=0700"
    mounted = (
        os.getuid() == 0
        and not subprocess.run(
            ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)], check=False, capture_output=True
        ).returncode
    )
    try:
        yield folder if mounted else None
    finally:
        if mounted:
            subprocess.run(["umount", "--lazy", str(folder)], check=True, capture_output=True)


@contextmanager
def running_site(home: Path, **environment: str) -> Iterator[Site]:
    """A service with two devices on Debian's Redis and, where it is installed, PostgreSQL, with a spool and a
    clock of its own where this machine permits it."""
    with ExitStack() as stack:
        keeper = stack.enter_context(ThreadPoolExecutor(1))
        live = stack.enter_context(running_redis())
        wire = stack.enter_context(wire_to(urlsplit(live.url).port or 0))
        settings = {**SETTINGS, "REDIS_URL": with_port(live.url, wire.port), **environment}
        database = stack.enter_context(running_postgresql()) if postgresql_programs() else None
        if database:
            settings["DATABASE_URL"] = database.url
        disk = stack.enter_context(small_disk(home / "spool"))
        clock = make_clock(home)
        settings |= clock.environment if clock else {}
        options = ("--no-flower", "--quiet", "--device", "host", "--device", "host")
        running = stack.enter_context(running_stack(home, *options, **settings))
        lease = float(settings.get("CUZKWEB_LEASE_SECONDS", LEASE_SECONDS))
        yield Site(running, live, wire, database, clock, disk, lease, keeper)
