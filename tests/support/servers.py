"""PostgreSQL and Redis as production runs them: Debian's own servers, started and stopped by the tests."""

import os
import pwd
import secrets
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psycopg
import pytest
import redis

from cuzkweb.supervisor.ports import free_port
from tests.support.namespaces import Host
from tests.support.processes import wait_for
from tests.support.valkey import die_with_parent

DATABASE, ROLE = "cuzkweb", "cuzkweb"
UNPRIVILEGED = "nobody"
READY_SECONDS = 30.0


def postgresql_programs() -> Path | None:
    """The folder of Debian's newest initdb and postgres, or None."""
    versions = Path("/usr/lib/postgresql").glob("*/bin/initdb")
    newest = max(versions, key=lambda path: float(path.parts[-3]), default=None)
    return newest.parent if newest else None


def need_postgresql() -> Path:
    """Debian's PostgreSQL; the test skips where it is not installed."""
    found = postgresql_programs()
    if found is None:
        pytest.skip("PostgreSQL is not here: apt-get install postgresql")
    return found


def need_redis() -> str:
    """Debian's Redis; the test skips where it is not installed."""
    found = shutil.which("redis-server")
    if found is None:
        pytest.skip("Redis is not here: apt-get install redis-server")
    return found


@dataclass
class Server:
    """A server that can be killed and started again on what it kept."""

    argv: list[str]
    folder: Path
    identity: dict[str, object]
    process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        with (self.folder / "log.txt").open("ab") as log:
            self.process = subprocess.Popen(
                self.argv,
                cwd=self.folder,
                stdout=log,
                stderr=subprocess.STDOUT,
                preexec_fn=die_with_parent,  # noqa: PLW1509 (what runs in the child is one call of the kernel)
                **self.identity,  # type: ignore[call-overload]
            )

    def kill(self) -> None:
        """End it as a power cut does."""
        assert self.process is not None
        self.process.kill()
        self.process.wait()

    def stop(self) -> None:
        if self.process is not None and self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(20)
            except subprocess.TimeoutExpired:
                self.kill()


class PostgreSQL(Server):
    """`url` is what goes into DATABASE_URL."""

    url: str = ""
    remote_url: str = ""

    def answers(self) -> bool:
        try:
            psycopg.connect(self.url, connect_timeout=2).close()
        except psycopg.OperationalError:
            return False
        return True

    def kill(self) -> None:
        """Immediate shutdown: no checkpoint; the next start recovers from the log. (Killed outright, its
        children outlive it for a moment and hold its memory.)"""
        assert self.process is not None
        self.process.send_signal(3)
        self.process.wait(20)

    def stop(self) -> None:
        """Smart shutdown waits for clients: this is the fast one."""
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(2)
            self.process.wait(20)


def identity() -> dict[str, object]:
    """Who runs a server that refuses root: this user, or nobody where this user is root."""
    if os.getuid() != 0:
        return {}
    entry = pwd.getpwnam(UNPRIVILEGED)
    return {"user": entry.pw_uid, "group": entry.pw_gid, "extra_groups": []}


@contextmanager
def running_postgresql(host: Host | None = None) -> Iterator[PostgreSQL]:
    """A fresh cluster on a unix socket, with one role that has a password and one empty database.

    On a `host` of its own it listens there too, and `remote_url` is what other hosts use.
    """
    programs = need_postgresql()
    who = identity()
    with tempfile.TemporaryDirectory(prefix="postgresql-") as name:
        folder = Path(name)
        password = secrets.token_urlsafe(12)
        (folder / "password").write_text(password)
        (folder / "log.txt").touch()
        if who:
            for path in (folder, folder / "password", folder / "log.txt"):
                shutil.chown(path, UNPRIVILEGED)
        cluster = folder / "data"
        options = ["--auth=scram-sha-256", f"--username={ROLE}", f"--pwfile={folder / 'password'}"]
        subprocess.run(
            [
                programs / "initdb",
                f"--pgdata={cluster}",
                "--no-sync",
                "--encoding=UTF8",
                "--no-locale",
                *options,
            ],
            cwd=folder,
            check=True,
            capture_output=True,
            **who,  # type: ignore[call-overload]
        )
        address = host.address if host else ""
        if host:
            with (cluster / "pg_hba.conf").open("a") as access:
                access.write("host all all 0.0.0.0/0 scram-sha-256\n")
        settings = {
            "listen_addresses": address,
            "unix_socket_directories": str(folder),
            "shared_buffers": "32MB",
        }
        argv = [str(programs / "postgres"), "-D", str(cluster)]
        if host:
            argv = host.inside(user=UNPRIVILEGED) + argv
        for key, value in settings.items():
            argv += ["-c", f"{key}={value}"]
        server = PostgreSQL(argv, folder, {} if host else who)
        server.url = f"postgresql://{ROLE}:{password}@/postgres?host={folder}"
        server.start()
        try:
            wait_for(server.answers, "PostgreSQL answers", READY_SECONDS)
            with psycopg.connect(server.url, autocommit=True) as connection:
                connection.execute(f"CREATE DATABASE {DATABASE}")
            server.url = server.url.replace("/postgres?", f"/{DATABASE}?")
            server.remote_url = f"postgresql://{ROLE}:{password}@{address}/{DATABASE}"
            yield server
        finally:
            server.stop()


class Redis(Server):
    """`url` is what goes into REDIS_URL; `administrator` may do everything."""

    url: str = ""
    administrator: str = ""

    def client(self) -> redis.Redis:
        """An administrator's."""
        return redis.Redis.from_url(self.administrator, socket_timeout=5)

    def answers(self) -> bool:
        try:
            with self.client() as client:
                return bool(client.ping())
        except redis.RedisError:
            return False


ACCESS = "~cuzk:* ~{cuzk:* &* +@all -@admin -@dangerous +info"
"""What the service's own user may do: its own keys, every channel (Celery's), nothing that manages it."""


@contextmanager
def running_redis(
    host: Host | None = None, *, append_only: bool = True, access: str = ACCESS
) -> Iterator[Redis]:
    """A server on a port of loopback with one user who has a password and may do what `access` says.

    On a `host` of its own it listens there instead.
    """
    program = need_redis()
    with tempfile.TemporaryDirectory(prefix="redis-") as name:
        folder = Path(name)
        password, master = secrets.token_urlsafe(12), secrets.token_urlsafe(12)
        address, port = (host.address, 6379) if host else ("127.0.0.1", free_port(0))
        lines = [
            f"port {port}",
            f"bind {address}",
            f"unixsocket {folder / 'redis.sock'}",
            f"dir {folder}",
            'save ""',
            f"appendonly {'yes' if append_only else 'no'}",
            "appendfsync everysec",
            "maxmemory-policy noeviction",
            f"user default on >{master} ~* &* +@all",
            f"user {ROLE} on >{password} {access}",
        ]
        (folder / "redis.conf").write_text("\n".join(lines) + "\n")
        argv = [program, str(folder / "redis.conf")]
        server = Redis(host.inside() + argv if host else argv, folder, {})
        server.administrator = f"unix://:{master}@{folder / 'redis.sock'}?db=0"
        server.url = f"redis://{ROLE}:{password}@{address}:{port}/0"
        server.start()
        try:
            wait_for(server.answers, "Redis answers", READY_SECONDS)
            yield server
        finally:
            server.stop()
