"""`cuzkweb priority`: let a job go sooner or later."""

import argparse

from cuzkweb.commands.service import add_json_argument, add_service_arguments, open_client, print_json


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's own arguments."""
    parser.add_argument("job", help="the job's id")
    parser.add_argument("priority", choices=("low", "normal", "high", "critical"))
    add_json_argument(parser)
    add_service_arguments(parser)


def run(options: argparse.Namespace) -> int:
    """Change it, and say where the job stands."""
    with open_client(options) as client:
        job = client.change_priority(options.job, options.priority)
    if options.json:
        print_json(job)
    else:
        print(f"{job.id}: {job.state}, priority {job.priority}")
    return 0
