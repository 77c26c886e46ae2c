"""The whole service of one home, brought up and taken down."""

import os
import secrets
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from cuzkweb.addresses import embedded_redis_url, embedded_socket
from cuzkweb.ready import set_up_django
from cuzkweb.supervisor import home as house
from cuzkweb.supervisor import plan as plans
from cuzkweb.supervisor import valkey
from cuzkweb.supervisor.home import Addresses
from cuzkweb.supervisor.plan import Plan
from cuzkweb.supervisor.ports import LOOPBACK, free_port, listen
from cuzkweb.supervisor.supervisor import Supervisor

WEB_PORT = 8000
FLOWER_PORT = 5555
OLD_SERVER_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class Service:
    """A service that is up: its supervisor, and where it answers."""

    supervisor: Supervisor
    addresses: Addresses


@contextmanager
def running(home: Path, plan: Plan, supervisor: Supervisor, *, port: int | None = None) -> Iterator[Service]:
    """Bring the service of `home` up, hand it over when every process is ready, stop them all at the end.

    `port` is where the web must listen; None takes 8000, or a free port where that is taken. The settings of
    this process must be those of `home`. Raises AlreadyUp, StartFailed, Stopped, OSError for a taken port.
    """
    with house.locked(home), listen(WEB_PORT if port is None else port, insist=port is not None) as listener:
        listener.set_inheritable(True)
        try:
            yield _start(home, plan, supervisor, listener)
        finally:
            supervisor.stop()
            house.forget_state(home)


def _start(home: Path, plan: Plan, supervisor: Supervisor, listener: socket.socket) -> Service:
    own_redis = os.environ.get("REDIS_URL")
    if not own_redis:
        _wait_for_old_server(home)
        supervisor.start([valkey.program(embedded_socket(home), home / "valkey")])
    migrate()
    common = {
        **plan.environment,
        "CUZKWEB_HOME": str(home),
        "REDIS_URL": own_redis or embedded_redis_url(home),
        "CUZKWEB_SYNTHESIS_SLOTS": str(plan.synthesis_slots),
    }
    web_port: int = listener.getsockname()[1]
    addresses = Addresses(f"http://{LOOPBACK}:{web_port}", common["REDIS_URL"])
    programs = []
    if plan.flower:
        port, login = free_port(FLOWER_PORT), f"cuzkweb:{secrets.token_urlsafe(12)}"
        addresses = replace(addresses, flower=f"http://{LOOPBACK}:{port}/flower/", flower_login=login)
        common["CUZKWEB_FLOWER_URL"] = f"{addresses.flower}"
        programs.append(plans.flower(port, login, common))
    programs += [
        plans.web(web_port, listener.fileno(), common),
        *plans.workers(home, plan, common),
        plans.periodic(home, common),
    ]
    supervisor.start(programs)
    supervisor.changed = lambda: house.write_state(home, addresses, supervisor.pids())
    supervisor.changed()
    return Service(supervisor, addresses)


def migrate() -> None:
    """Bring the database to this version's shape."""
    set_up_django()
    from django.core.management import call_command  # noqa: PLC0415 - wants the settings

    call_command("migrate", verbosity=0, interactive=False)


def _wait_for_old_server(home: Path) -> None:
    """A server whose supervisor was killed is on its way out: two may not share one append-only file."""
    url = embedded_redis_url(home)
    deadline = time.monotonic() + OLD_SERVER_SECONDS
    while valkey.answers(url):
        if time.monotonic() > deadline:
            raise house.AlreadyUp(f"a server answers at {url} that no service of {home} owns")
        time.sleep(0.1)
