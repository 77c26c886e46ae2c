"""A Celery worker of one kind: its name, its pool and queues, what it does at birth and at death."""

import logging
import os
import signal
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from billiard.process import current_process
from celery import signals
from celery.exceptions import SecurityWarning
from django.db import DatabaseError
from redis.exceptions import RedisError

from cuzkweb import celery
from cuzkweb.supervisor.child import die_with_parent
from proving.services import device_stage, fleet, pulse, station, tracing
from proving.services.station import Station
from proving.tracker.records import WorkerKind

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Kind:
    """How the workers of one kind run: `pool` with `slots`, consuming `queues` in this order."""

    station: Station
    pool: str
    slots: int
    queues: tuple[str, ...]

    def arguments(self) -> list[str]:
        """The arguments of Celery's own worker command."""
        return [
            "--quiet",
            "--skip-checks",  # they are the web's, and load all of it
            "worker",
            f"--hostname={self.station.name}",
            f"--pool={self.pool}",
            f"--concurrency={self.slots}",
            f"--queues={','.join(self.queues)}",
            "--loglevel=INFO",
            "--without-mingle",
            "--without-gossip",
        ]


def device_kind(device: str, ordinal: int, threads: int = 0, slots: int = 1) -> Kind:
    """One process a device, threads that prove beside the one that listens; never `solo`, never a fork.

    With two `slots` one thread loads what it proves next while the other one's kernels run.
    """
    host = celery.host_name()
    own = celery.device_queue(host, ordinal)
    celery.declare(own)
    name = f"gpu{ordinal}@{host}"
    place = Station(WorkerKind.DEVICE, name, host, device, ordinal, threads, slots=slots)
    return Kind(place, "threads", slots, (own, celery.GPU))


def synthesis_kind(slots: int, threads: int = 1) -> Kind:
    """Pool children that synthesize, one partition each at a time."""
    host = celery.host_name()
    return Kind(
        Station(WorkerKind.SYNTHESIS, f"synthesis@{host}", host, threads=threads),
        "prefork",
        slots,
        (celery.SYNTHESIS,),
    )


def finalize_kind(slots: int, threads: int = 1) -> Kind:
    """Pool children that blind, assemble, verify and publish."""
    host = celery.host_name()
    place = Station(WorkerKind.FINALIZE, f"finalize@{host}", host, threads=threads)
    return Kind(place, "prefork", slots, (celery.FINALIZE, celery.CONTROL))


def work(kind: Kind, ready_file: Path | None) -> int:
    """Run the worker until it is told to stop, and return its exit status. Raises DeviceUnavailable."""
    station.occupy(kind.station)
    if kind.station.device:
        device_stage.device()
    parent = os.getpid()

    def on_pool_child(**_: Any) -> None:
        die_with_parent(signal.SIGKILL, parent)
        child: Any = current_process()
        station.take_slot(child.index + 1)
        _join()

    def on_ready(**_: Any) -> None:
        if kind.pool != "prefork":
            _join()
        if ready_file:
            ready_file.write_text(str(os.getpid()))

    # Celery warns root of pickled messages: this app accepts JSON only
    warnings.filterwarnings("ignore", category=SecurityWarning)
    signals.worker_process_init.connect(on_pool_child, weak=False)
    signals.worker_process_shutdown.connect(_leave, weak=False)
    signals.worker_ready.connect(on_ready, weak=False)
    if kind.pool != "prefork":
        signals.worker_shutting_down.connect(_hand_back, weak=False)
        signals.worker_shutdown.connect(_leave, weak=False)
    start: Any = celery.app.start
    return int(start(kind.arguments()) or 0)


def _join() -> None:
    try:
        fleet.join()
    except (RedisError, DatabaseError):
        logger.warning("cannot join: a server is away; tried again with the next sign of life")
    fleet.show_signs_of_life()


def _hand_back(**_: Any) -> None:
    pulse.hand_back()


def _leave(**_: Any) -> None:
    fleet.leave()
    tracing.flush()
