"""`cuzkweb submit`: a job from input or witness files."""

import argparse
import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from cuzkweb.commands.service import add_json_argument, add_service_arguments, open_client, print_json

if TYPE_CHECKING:
    from cuzkweb.client import Job


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's own arguments."""
    parser.add_argument("circuit", help="the circuit's id or name")
    given = parser.add_mutually_exclusive_group(required=True)
    given.add_argument("--input", type=Path, nargs="+", help="JSON files, one a partition or a list in one")
    given.add_argument("--witness", type=Path, nargs="+", help=".wtns files, one a partition")
    parser.add_argument("--request-id", help="becomes the job's id")
    parser.add_argument("--priority", choices=("low", "normal", "high", "critical"))
    parser.add_argument("--label")
    parser.add_argument(
        "--on-failure", choices=("cancel", "continue"), help="the other partitions, when one fails"
    )
    parser.add_argument("--wait", action="store_true", help="show a bar a partition until the job ends")
    parser.add_argument("--proofs", type=Path, help="with --wait: write all proofs to this file")
    add_json_argument(parser)
    add_service_arguments(parser)


def run(options: argparse.Namespace) -> int:
    """Submit, and with --wait follow to the end: 1 when the job did not end well."""
    from cuzkweb.client import State
    from cuzkweb.commands.progress import follow, outcome

    with open_client(options) as client:
        if options.witness:
            job = client.submit_witnesses(options.circuit, options.witness)
        else:
            job = client.submit(
                options.circuit,
                [document for path in options.input for document in read_inputs(path)],
                request_id=options.request_id,
                priority=options.priority,
                label=options.label,
                on_failure=options.on_failure,
            )
        if not options.wait:
            tell(job, job.id, options)
            return 0
        job = client.wait(job.id) if options.json else follow(client, job.id)
        tell(job, outcome(job), options)
        if options.proofs and job.state == State.DONE:
            rows = [asdict(row) for row in client.proofs(job.id)]
            options.proofs.write_text(json.dumps(rows, indent=1))
    return 0 if job.state == State.DONE else 1


def tell(job: "Job", line: str, options: argparse.Namespace) -> None:
    """A line about a job, or all of it for a program."""
    if options.json:
        print_json(job)
    else:
        print(line)


def read_inputs(path: Path) -> list[dict[str, object]]:
    """The inputs in a file: one object, or a list of them. Integers stay exact."""
    document = json.loads(path.read_text())
    return document if isinstance(document, list) else [document]
