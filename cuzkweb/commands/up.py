"""`cuzkweb up`: the whole service on this host, until Ctrl-C."""

import argparse
import os
import sys
from pathlib import Path

from cuzkweb.commands.refusals import Refused
from cuzkweb.commands.service import home_folder
from cuzkweb.supervisor.credentials import Credentials
from cuzkweb.supervisor.home import AlreadyUp
from cuzkweb.supervisor.plan import Plan
from cuzkweb.supervisor.screen import Screen
from cuzkweb.supervisor.service import Service, running
from cuzkweb.supervisor.supervisor import StartFailed, Stopped, Supervisor


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's own arguments."""
    parser.add_argument("--port", type=int, help="port of the web (default: 8000, or a free one)")
    parser.add_argument(
        "--device",
        action="append",
        metavar="NAME",
        help="a device to prove on, once for each (default: host)",
    )
    parser.add_argument(
        "--devices", metavar="NAMES", help="the same in one: cuda:0,cuda:1, or all (every GPU)"
    )
    parser.add_argument(
        "--synthesis", type=int, default=2, metavar="N", help="partitions synthesized at a time"
    )
    parser.add_argument(
        "--finalizers", type=int, default=1, metavar="N", help="partitions finalized at a time"
    )
    parser.add_argument("--no-flower", action="store_true", help="leave Celery's monitor out")
    parser.add_argument("--quiet", action="store_true", help="show the addresses and nothing else")


def run(options: argparse.Namespace) -> int:
    """Start everything, keep it running, stop everything."""
    home = claim_home(home_folder())
    plan = Plan(
        devices=devices_of(options),
        synthesis_slots=options.synthesis,
        finalize_slots=options.finalizers,
        flower=not options.no_flower,
    )
    supervisor = Supervisor(home, Screen(quiet=options.quiet))
    supervisor.listen_to_signals()
    try:
        with running(home, plan, supervisor, port=options.port) as service:
            print_addresses(service, own_credentials(home))
            supervisor.run()
    except Stopped:
        return 0
    except AlreadyUp as error:
        raise Refused(str(error)) from None
    except StartFailed as error:
        print(error, file=sys.stderr)
        return 1
    return 0


def devices_of(options: argparse.Namespace) -> tuple[str, ...]:
    """The devices that were asked for, each once but for the host. Raises Refused."""
    from kernels.device import visible_devices

    named = [*(options.device or ()), *filter(None, (options.devices or "").split(","))]
    found = [name for each in named for name in (visible_devices() if each == "all" else [each])]
    if named and not found:
        raise Refused("no NVIDIA GPU is visible here: leave --devices all out to prove on the CPU")
    repeated = {name for name in found if name != "host" and found.count(name) > 1}
    if repeated:
        raise Refused(f"one worker a device: {', '.join(sorted(repeated))} is named twice")
    return tuple(found) or ("host",)


def claim_home(home: Path) -> Path:
    """Make `home` what this process and every child of it uses."""
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    os.environ["CUZKWEB_HOME"] = str(home)
    return home


def own_credentials(home: Path) -> Credentials | None:
    """Credentials are only made up for a home that has its own database: others have administrators."""
    from cuzkweb.supervisor.credentials import ensure_credentials

    return None if os.environ.get("DATABASE_URL") else ensure_credentials(home)


def print_addresses(service: Service, credentials: Credentials | None) -> None:
    """Where everything is, and how to get in."""
    web, flower = service.addresses.web, service.addresses.flower
    login = f"  {credentials.user} / {credentials.password}" if credentials else ""
    lines = [
        f"panel     {web}/{login}",
        f"admin     {web}/admin/{login}",
        f"API docs  {web}/api/docs/",
    ]
    if credentials:
        lines.append(f"API key   {credentials.api_key}")
    if flower:
        lines.append(f"Flower    {flower}  {(service.addresses.flower_login or '').replace(':', ' / ')}")
    print("\n".join(["", *lines, ""]), file=sys.stdout, flush=True)
