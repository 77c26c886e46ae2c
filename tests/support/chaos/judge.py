"""Holds every reading of the live state against the invariants; notes when partitions began and ended."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from redis.exceptions import RedisError

from proving.tracker.store import Store
from tests.support.chaos.site import Site
from tests.support.soak import ENDS, _counted_wrong
from tests.support.stack import DEPLOYMENT
from tests.support.watcher import faults

Place = tuple[str, int]


@dataclass
class Judge:
    """`began` and `ended` are readings of time.monotonic(), by partition."""

    pause: float = 0.15
    readings: int = 0
    wrong: list[str] = field(default_factory=list)
    began: dict[Place, float] = field(default_factory=dict)
    ended: dict[Place, float] = field(default_factory=dict)
    _known: dict[Place, tuple[str, int]] = field(default_factory=dict)
    _rev: int = 0
    _losses: int = 0
    _losing: int = 0
    _seen_losses: int = 0

    @contextmanager
    def losing(self) -> Iterator[None]:
        """Inside, the live state may come to tell less than before."""
        self._losing += 1
        try:
            yield
        finally:
            self._losses += 1
            self._losing -= 1

    def read(self, read: Callable[[], dict[str, Any]]) -> None:
        """Take a reading and judge it; one that was taken while something was lost stands alone."""
        before = self._losses
        reading = read()
        alone = self._losing > 0 or self._losses != before
        if alone or before != self._seen_losses:
            self._forget()
        self.judge(reading, time.monotonic())
        self._seen_losses = before
        if alone:
            self._forget()

    def _forget(self) -> None:
        self._known.clear()
        self._rev = 0

    def judge(self, reading: dict[str, Any], now: float) -> None:
        """One reading: true in itself, and it takes nothing back."""
        self.readings += 1
        self.wrong += faults(reading)
        if reading["rev"] < self._rev:
            self.wrong.append(f"rev {reading['rev']} after {self._rev}")
        self._rev = reading["rev"]
        for pipeline in reading["pipelines"]:
            self.wrong += _counted_wrong(pipeline)
            for partition in pipeline["partitions"]:
                self._judge_partition((pipeline["job_id"], partition["index"]), partition, now)

    def _judge_partition(self, place: Place, partition: dict[str, Any], now: float) -> None:
        state, attempt = partition["state"], partition["attempt"]
        before = self._known.get(place, (state, attempt))
        if before[0] in ENDS and (state, attempt) != before:
            self.wrong.append(f"{place} was {before} and then {(state, attempt)}")
        if attempt < before[1]:
            self.wrong.append(f"{place} went back from attempt {before[1]} to {attempt}")
        self._known[place] = state, attempt
        if state != "pending":
            self.began.setdefault(place, now)
        if state == "done":
            self.ended.setdefault(place, now)

    def recovery(self, since: float) -> float | None:
        """Seconds until the first partition was done that nobody had begun at `since`."""
        spans = [
            self.ended[place] - since
            for place, began in self.began.items()
            if began >= since and place in self.ended
        ]
        return min(spans, default=None)


@contextmanager
def judging(site: Site, judge: Judge) -> Iterator[Judge]:
    """Read and judge from entering to leaving; a server that is away has nothing to say."""
    over = threading.Event()
    failures: list[Exception] = []

    def look() -> None:
        with site.client() as client:
            store = Store(client, DEPLOYMENT)
            while not over.wait(judge.pause):
                try:
                    judge.read(lambda: store.snapshot().document())
                except RedisError:
                    continue
                except Exception as error:  # noqa: BLE001 - told by whoever entered
                    failures.append(error)
                    return

    thread = threading.Thread(target=look, daemon=True)
    thread.start()
    try:
        yield judge
    finally:
        over.set()
        thread.join()
    if failures:
        raise failures[0]
