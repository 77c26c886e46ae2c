"""A bar for each partition of a job, filled by how far along it is."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console
from rich.progress import (
    BarColumn,
    DownloadColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
    TransferSpeedColumn,
)

from cuzkweb.client import Client, Job, State
from cuzkweb.uploading import Sent

STEPS = {
    State.PENDING: (0, "queued"),
    State.SYNTHESIZING: (1, "synthesizing"),
    State.SYNTH_DONE: (2, "waiting for a device"),
    State.GPU: (3, "proving"),
    State.FINALIZING: (4, "finalizing"),
    State.DONE: (5, "[green]verified"),
    State.FAILED: (5, "[red]failed"),
    State.CANCELLED: (5, "[yellow]cancelled"),
}
MOST_BARS = 32
POLL_SECONDS = 0.25


class Bars:
    """The bars of one job; jobs of many partitions share one bar."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._bars: dict[int, TaskID] = {}
        self._shared: TaskID | None = None

    def show(self, job: Job) -> None:
        """Bring the bars to what is known of the job now."""
        if len(job.partitions) > MOST_BARS:
            self._show_shared(job)
            return
        for partition in job.partitions:
            step, text = STEPS[partition.state]
            again = f" (attempt {partition.attempt})" if partition.attempt > 1 else ""
            if partition.index not in self._bars:
                name = f"partition {partition.index}"
                self._bars[partition.index] = self._progress.add_task(name, total=5, state="")
            bar = self._bars[partition.index]
            self._progress.update(bar, completed=step, state=text + again)

    def _show_shared(self, job: Job) -> None:
        if self._shared is None:
            self._shared = self._progress.add_task(job.id, total=len(job.partitions), state="")
        done = sum(partition.state == State.DONE for partition in job.partitions)
        self._progress.update(self._shared, completed=done, state=f"{done} verified, {job.state}")


@contextmanager
def bars(console: Console | None = None) -> Iterator[Bars]:
    """Bars that stay on the screen when the job has ended."""
    columns = (
        TextColumn("{task.description:>14}"),
        BarColumn(bar_width=30),
        TextColumn("{task.fields[state]}"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=console) as progress:
        yield Bars(progress)


def follow(client: Client, job_id: str, console: Console | None = None) -> Job:
    """Show a job's bars until it ends."""
    with bars(console) as shown:
        return client.wait(job_id, poll=POLL_SECONDS, heard=shown.show)


@contextmanager
def sending() -> Iterator[Sent]:
    """Bars on standard error, one a file that is sent; nothing where nobody looks at it."""
    console = Console(stderr=True)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(bar_width=30),
        DownloadColumn(binary_units=True),
        TransferSpeedColumn(),
        TimeRemainingColumn(),
    )
    shown: dict[Path, TaskID] = {}
    with Progress(*columns, console=console, disable=not console.is_terminal) as progress:

        def sent(path: Path, there: int, size: int) -> None:
            if path not in shown:
                shown[path] = progress.add_task(path.name, total=size)
            progress.update(shown[path], completed=there)

        yield sent


def outcome(job: Job) -> str:
    """One line on how a job ended, or that it has not."""
    if job.state == State.DONE:
        return f"{job.id}: done, {len(job.partitions)} proofs verified"
    return f"{job.id}: {job.state}" + (f", {job.error}" if job.error else "")
