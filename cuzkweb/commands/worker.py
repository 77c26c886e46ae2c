"""`cuzkweb worker`: one worker of the service, of one kind."""

import argparse
from pathlib import Path

from cuzkweb.ready import set_up_django


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's own arguments."""
    kind = parser.add_mutually_exclusive_group(required=True)
    kind.add_argument(
        "--device",
        metavar="NAME",
        help="prove on this device: host, cuda:0, or all: every GPU, one worker each",
    )
    kind.add_argument("--synthesis", action="store_true", help="compute witnesses and evaluate constraints")
    kind.add_argument("--finalize", action="store_true", help="assemble, verify and publish proofs")
    parser.add_argument("--ordinal", type=int, help="the device's number on this host (as in its name)")
    parser.add_argument(
        "--slots",
        type=int,
        help="partitions at a time (a GPU two: it loads one while it computes another; others one)",
    )
    parser.add_argument(
        "--threads", type=int, help="native threads, 0 for all cores (devices all, others one)"
    )
    parser.add_argument("--ready-file", type=Path, help=argparse.SUPPRESS)


def run(options: argparse.Namespace) -> int:
    """Work until a signal says stop."""
    if options.device == "all":
        return run_all()
    set_up_django()
    from cuzkweb import worker

    threads = 1 if options.threads is None else options.threads
    if options.device:
        ordinal = ordinal_of(options.device) if options.ordinal is None else options.ordinal
        slots = options.slots or slots_of(options.device)
        kind = worker.device_kind(options.device, ordinal, options.threads or 0, slots)
    elif options.synthesis:
        kind = worker.synthesis_kind(options.slots or 1, threads)
    else:
        kind = worker.finalize_kind(options.slots or 1, threads)
    return worker.work(kind, options.ready_file)


def ordinal_of(device: str) -> int:
    """The number in a device's name; 0 where it has none."""
    return int(device.partition(":")[2] or 0)


def slots_of(device: str) -> int:
    """How many partitions a device's worker takes at a time: what a CPU loads, it would have to compute."""
    return 2 if device.startswith("cuda") else 1


def run_all() -> int:
    """One worker process for each GPU of this host, started again when it dies, until a signal says stop."""
    from cuzkweb.addresses import private_folder
    from cuzkweb.commands.refusals import Refused
    from cuzkweb.commands.service import home_folder
    from cuzkweb.supervisor.plan import device_workers
    from cuzkweb.supervisor.screen import Screen
    from cuzkweb.supervisor.supervisor import StartFailed, Stopped, Supervisor
    from kernels.device import visible_devices

    devices = visible_devices()
    if not devices:
        raise Refused("no NVIDIA GPU is visible here: name a device, such as --device host")
    home = home_folder()
    private_folder(home / "run" / "ready")
    supervisor = Supervisor(home, Screen())
    supervisor.listen_to_signals()
    try:
        supervisor.start(device_workers(home, devices, {}))
        supervisor.run()
    except Stopped:
        return 0
    except StartFailed as error:
        raise Refused(str(error)) from None
    finally:
        supervisor.stop()
    return 0
