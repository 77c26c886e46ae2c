"""Reads the status over and over, and holds every reading against the invariant of workers and partitions."""

import threading
import time
from types import TracebackType
from typing import Any, Self

import httpx

from cuzkweb.client import ApiError, Client
from tests.support.stack import Stack

PAUSE_SECONDS = 0.01


class Watcher:
    """Keeps every reading that was taken from entering to leaving."""

    def __init__(self, stack: Stack) -> None:
        self._stack = stack
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self.readings: list[dict[str, Any]] = []
        self.error: Exception | None = None

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._over.set()
        self._thread.join()
        if self.error and error is None:
            raise self.error

    def _watch(self) -> None:
        with Client(self._stack.state()["web"], self._stack.credentials()["api_key"]) as client:
            while not self._over.is_set():
                try:
                    self.readings.append(client.status())
                except (httpx.HTTPError, ApiError) as error:
                    self.error = error
                    return
                time.sleep(PAUSE_SECONDS)


def faults(reading: dict[str, Any]) -> list[str]:
    """What is untrue in a reading: a worker is proving if and only if exactly one partition names it so."""
    workers = {
        worker["name"]: (worker["current_job"], worker["current_partition"])
        for worker in reading["gpu_workers"]
        if worker["state"] == "proving"
    }
    partitions = [
        (partition["worker"], (pipeline["job_id"], partition["index"]))
        for pipeline in reading["pipelines"]
        for partition in pipeline["partitions"]
        if partition["state"] == "gpu"
    ]
    found = [] if reading["consistent"] else ["the reading itself says that it is not consistent"]
    if len(partitions) != len(workers):
        found.append(f"{len(workers)} workers prove {len(partitions)} partitions")
    found += [f"{worker} is not on {place}" for worker, place in partitions if workers.get(worker) != place]
    found += [
        f"{worker['name']} is {worker['state']} with {worker['current_job']} since {worker['busy_secs']}"
        for worker in reading["gpu_workers"]
        if len(
            {worker["state"] == "proving", worker["current_job"] is not None, worker["busy_secs"] is not None}
        )
        != 1
    ]
    return found


def proving_now(reading: dict[str, Any], job: str) -> int | None:
    """The index of the partition of a job that a device works on, if any."""
    for worker in reading["gpu_workers"]:
        if worker["current_job"] == job:
            found: int = worker["current_partition"]
            return found
    return None
