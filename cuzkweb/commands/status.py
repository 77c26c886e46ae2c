"""`cuzkweb status`: what the service is doing now."""

import argparse
import json
import time
from typing import TYPE_CHECKING, Any

from cuzkweb.commands.service import add_service_arguments, open_client

if TYPE_CHECKING:
    from cuzkweb.client import Client


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's own arguments."""
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--json", action="store_true", help="the whole status document")
    how.add_argument("--watch", action="store_true", help="show it live, until Ctrl-C")
    add_service_arguments(parser)


def run(options: argparse.Namespace) -> int:
    """Read the status once and print it, or show it until Ctrl-C."""
    with open_client(options) as client:
        if options.watch:
            return watch(client)
        document = client.status()
    print(json.dumps(document, indent=1) if options.json else "\n".join(lines_of(document)))
    return 0


def watch(client: "Client") -> int:
    """Show the status once a second, in place. A service that is away for a while is waited for."""
    import httpx
    from rich.console import Console
    from rich.live import Live
    from rich.text import Text

    from cuzkweb.client import ApiError

    console = Console()
    with Live(console=console, auto_refresh=False, vertical_overflow="crop") as live:
        shown = ["reading the status"]
        while True:
            try:
                shown = lines_of(client.status())
                note = time.strftime("as of %H:%M:%S")
            except (httpx.TransportError, ApiError) as error:
                if isinstance(error, ApiError) and error.status < 500:
                    raise
                note = f"no answer at {time.strftime('%H:%M:%S')}; above is what was known: {error}"
            live.update(Text("\n".join([*shown, note])), refresh=True)
            time.sleep(1)


def lines_of(document: dict[str, Any]) -> list[str]:
    """The devices, the jobs and the counters, a line each."""
    counters = document["counters"]
    return [
        *(describe_worker(worker) for worker in document["gpu_workers"]),
        *(describe_pipeline(pipeline) for pipeline in document["pipelines"]),
        (
            f"completed {counters['total_completed']}, failed {counters['total_failed']},"
            f" waiting {counters['queue_depth']}"
        ),
    ]


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
