"""`cuzkweb cancel`: ask for a job to end."""

import argparse

from cuzkweb.commands.service import add_service_arguments, open_client


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's own arguments."""
    parser.add_argument("job", help="the job's id")
    add_service_arguments(parser)


def run(options: argparse.Namespace) -> int:
    """Ask, and say where the job stands."""
    with open_client(options) as client:
        job = client.cancel(options.job)
    print(f"{job.id}: {job.state}")
    return 0
