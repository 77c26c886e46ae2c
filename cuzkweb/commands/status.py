"""`cuzkweb status`: what the service is doing now."""

import argparse
import json
from typing import Any

from cuzkweb.commands.service import add_service_arguments, open_client


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's own arguments."""
    parser.add_argument("--json", action="store_true", help="the whole status document")
    add_service_arguments(parser)


def run(options: argparse.Namespace) -> int:
    """Read the status once and print it."""
    with open_client(options) as client:
        document = client.status()
    if options.json:
        print(json.dumps(document, indent=1))
        return 0
    for worker in document["gpu_workers"]:
        print(describe_worker(worker))
    for pipeline in document["pipelines"]:
        print(describe_pipeline(pipeline))
    counters = document["counters"]
    print(
        f"completed {counters['total_completed']}, failed {counters['total_failed']},"
        f" waiting {counters['queue_depth']}"
    )
    return 0


def describe_worker(worker: dict[str, Any]) -> str:
    """One line about a device worker."""
    doing = worker["state"]
    if worker["current_job"] is not None:
        doing += f" {worker['current_job']}[{worker['current_partition']}] for {worker['busy_secs']:.1f} s"
    return f"{worker['name']} ({worker['device']}): {doing}"


def describe_pipeline(pipeline: dict[str, Any]) -> str:
    """One line about a job."""
    counts = ", ".join(f"{count} {state}" for state, count in pipeline["counts"].items())
    return (
        f"{pipeline['job_id']}: {pipeline['partitions_done']}/{pipeline['total_partitions']} done ({counts})"
    )
