"""`cuzkweb worker`: one worker of the service, of one kind."""

import argparse
from pathlib import Path

from cuzkweb.ready import set_up_django


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's own arguments."""
    kind = parser.add_mutually_exclusive_group(required=True)
    kind.add_argument("--device", metavar="NAME", help="prove on this device: host, or cuda:0")
    kind.add_argument("--synthesis", action="store_true", help="compute witnesses and evaluate constraints")
    kind.add_argument("--finalize", action="store_true", help="assemble, verify and publish proofs")
    parser.add_argument("--ordinal", type=int, help="the device's number on this host (as in its name)")
    parser.add_argument("--slots", type=int, default=1, help="partitions at a time, devices always take one")
    parser.add_argument(
        "--threads", type=int, help="native threads, 0 for all cores (devices all, others one)"
    )
    parser.add_argument("--ready-file", type=Path, help=argparse.SUPPRESS)


def run(options: argparse.Namespace) -> int:
    """Work until a signal says stop."""
    set_up_django()
    from cuzkweb import worker

    threads = 1 if options.threads is None else options.threads
    if options.device:
        ordinal = options.ordinal
        if ordinal is None:
            ordinal = int(options.device.partition(":")[2] or 0)
        kind = worker.device_kind(options.device, ordinal, options.threads or 0)
    elif options.synthesis:
        kind = worker.synthesis_kind(options.slots, threads)
    else:
        kind = worker.finalize_kind(options.slots, threads)
    return worker.work(kind, options.ready_file)
