"""A worker's place in the tracker: it joins when it starts, shows that it lives, leaves when it stops."""

import logging
import os
import threading
import time
import uuid
from importlib.metadata import version

from django.conf import settings
from django.db import DatabaseError, close_old_connections
from redis.exceptions import RedisError

from kernels.device import Device
from proving.services import conclude, live
from proving.services.circuits import circuit_of_resident
from proving.services.device_stage import device
from proving.services.station import here
from proving.tracker.outcomes import Forgotten, Refused, Registered
from proving.tracker.records import DeviceMemory, ResidentKey, WorkerKind, WorkerSpec

logger = logging.getLogger(__name__)

INCARNATION = uuid.uuid4().hex


def join() -> None:
    """Register this process's slots. What an earlier life of the same name still held is sent again."""
    for name in here().claimants:
        answer = live.store().register_worker(_specification(name))
        if isinstance(answer, Registered):
            for lost in answer.lost:
                conclude.follow_up(lost)


def leave() -> None:
    """This process's slots take no more work, for good."""
    for name in here().claimants:
        answer = live.store().forget_worker(name)
        if isinstance(answer, Forgotten):
            for lost in answer.lost:
                conclude.follow_up(lost)


def show_signs_of_life() -> None:
    """Tell the tracker from a side thread, several times a lease, that this slot lives and what it holds."""
    threading.Thread(target=_keep_showing, name="signs of life", daemon=True).start()


def _keep_showing() -> None:
    while True:
        time.sleep(settings.CUZKWEB_LEASE_SECONDS / 3)
        close_old_connections()
        try:
            _show_once()
        except RedisError:
            logger.warning("no sign of life: the server is away")
        except DatabaseError:
            logger.warning("what an earlier life held is not written down: the database is away")


def _show_once() -> None:
    place = here()
    store = live.store()
    if place.kind == WorkerKind.DEVICE:
        memory, keys = _device_state(device())
        share = _utilisation()
        answers = [store.worker_seen(name, memory, keys, share) for name in place.claimants]
    else:
        answers = [store.worker_seen(name) for name in place.claimants]
    if any(isinstance(answer, Refused) for answer in answers):
        join()


class _Seen:
    """When the device was asked last, and how long it had computed by then."""

    at = time.monotonic()
    busy = 0.0


def _utilisation() -> float:
    """The share of the time since the last call in which the device computed."""
    now, busy = time.monotonic(), device().busy_seconds
    share = (busy - _Seen.busy) / max(now - _Seen.at, 1e-3)
    _Seen.at, _Seen.busy = now, busy
    return min(1.0, max(0.0, share))


def _device_state(own: Device) -> tuple[DeviceMemory, list[ResidentKey]]:
    memory, now = own.memory(), time.monotonic()
    keys = [
        ResidentKey(circuit_of_resident(key.key_id), key.bytes, now - key.last_used, key.in_use)
        for key in own.resident_keys()
    ]
    return DeviceMemory(memory.total_bytes, memory.used_bytes), keys


def _specification(name: str) -> WorkerSpec:
    place = here()
    is_device = place.kind == WorkerKind.DEVICE
    return WorkerSpec(
        name=name,
        kind=place.kind,
        host=place.host,
        device=place.device,
        ordinal=place.ordinal,
        model=device().model if is_device else "",
        pid=os.getpid(),
        version=version("cuzkweb"),
        incarnation=f"{INCARNATION}.{os.getpid()}",
        memory_bytes=device().memory().total_bytes if is_device and device().bounded else 0,
    )
