"""`cuzkweb watch`: a job's partitions until it ends."""

import argparse

from cuzkweb.commands.service import add_json_argument, add_service_arguments, open_client, print_json


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's own arguments."""
    parser.add_argument("job", help="the job's id")
    add_json_argument(parser)
    add_service_arguments(parser)


def run(options: argparse.Namespace) -> int:
    """Follow the job to its end: 1 when it did not end well."""
    from cuzkweb.client import State
    from cuzkweb.commands.progress import follow, outcome

    with open_client(options) as client:
        job = client.wait(options.job) if options.json else follow(client, options.job)
    if options.json:
        print_json(job)
    else:
        print(outcome(job))
    return 0 if job.state == State.DONE else 1
