"""`cuzkweb demo`: everything running, four real proofs made and verified, and addresses to look at."""

import argparse
import os
import sys
import threading
import time
from pathlib import Path

from rich.console import Console

from cuzkweb.commands.refusals import Refused
from cuzkweb.commands.service import home_folder
from cuzkweb.commands.up import claim_home, print_addresses
from cuzkweb.supervisor.home import AlreadyUp
from cuzkweb.supervisor.plan import Plan
from cuzkweb.supervisor.screen import Screen
from cuzkweb.supervisor.service import Service, running
from cuzkweb.supervisor.supervisor import StartFailed, Stopped, Supervisor

PARTITIONS = 4


class Tour:
    """The demo's own work beside the supervisor: a thread, since the main one looks after the processes."""

    def __init__(self, home: Path, service: Service, api_key: str, console: Console) -> None:
        self._arguments = (home, service.addresses.web, api_key, console)
        self._thread = threading.Thread(target=self._walk, name="demo", daemon=True)
        self.error: Exception | None = None

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def over(self) -> bool:
        """Whether it has ended; `error` says whether badly."""
        return not self._thread.is_alive()

    def _walk(self) -> None:
        from cuzkweb.demo.tour import walk

        try:
            walk(*self._arguments, partitions=PARTITIONS)
        except Exception as error:  # noqa: BLE001 - told and turned into the exit code by the main thread
            self.error = error


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's own arguments."""
    parser.add_argument("--once", action="store_true", help="leave after the verified proofs")
    parser.add_argument("--port", type=int, help="port of the web (default: 8000, or a free one)")


def run(options: argparse.Namespace) -> int:
    """Start everything, prove, verify; stay until Ctrl-C unless --once."""
    started = time.monotonic()
    home = claim_home(home_folder() if os.environ.get("CUZKWEB_HOME") else Path("var/demo").resolve())
    console = Console()
    supervisor = Supervisor(home, Screen(quiet=True))
    supervisor.listen_to_signals()
    console.print("starting server, web, workers and Flower ...")
    try:
        with running(home, Plan(), supervisor, port=options.port) as service:
            console.print(f"all up after {time.monotonic() - started:.1f} s")
            return _show(home, service, console, once=options.once)
    except Stopped:
        return 0
    except AlreadyUp as error:
        raise Refused(str(error)) from None
    except StartFailed as error:
        print(error, file=sys.stderr)
        return 1


def _show(home: Path, service: Service, console: Console, *, once: bool) -> int:
    from cuzkweb.supervisor.credentials import ensure_credentials

    credentials = ensure_credentials(home)
    tour = Tour(home, service, credentials.api_key, console)
    tour.start()
    service.supervisor.run(finished=tour.over)
    if tour.error:
        raise tour.error
    print_addresses(service, credentials)
    if not once and not service.supervisor.stopping:
        console.print("everything stays up: Ctrl-C stops it")
        service.supervisor.run()
    return 0
