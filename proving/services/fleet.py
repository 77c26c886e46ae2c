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
from proving.services.device_stage import device
from proving.services.station import here
from proving.tracker.outcomes import Forgotten, Refused, Registered
from proving.tracker.records import DeviceMemory, ResidentKey, WorkerKind, WorkerSpec

logger = logging.getLogger(__name__)

INCARNATION = uuid.uuid4().hex


def join() -> None:
    """Register this process's slot. What an earlier life of the same name still held is sent again."""
    answer = live.store().register_worker(_specification())
    if isinstance(answer, Registered):
        for lost in answer.lost:
            conclude.follow_up(lost)


def leave() -> None:
    """This slot takes no more work, for good."""
    answer = live.store().forget_worker(here().claimant)
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
    if place.kind == WorkerKind.DEVICE:
        memory, keys = _device_state(device())
        answer = live.store().worker_seen(place.claimant, memory, keys)
    else:
        answer = live.store().worker_seen(place.claimant)
    if isinstance(answer, Refused):
        join()


def _device_state(own: Device) -> tuple[DeviceMemory, list[ResidentKey]]:
    memory, now = own.memory(), time.monotonic()
    keys = [
        ResidentKey(key.key_id, key.bytes, now - key.last_used, key.in_use) for key in own.resident_keys()
    ]
    return DeviceMemory(memory.total_bytes, memory.used_bytes), keys


def _specification() -> WorkerSpec:
    place = here()
    is_device = place.kind == WorkerKind.DEVICE
    return WorkerSpec(
        name=place.claimant,
        kind=place.kind,
        host=place.host,
        device=place.device,
        ordinal=place.ordinal,
        model=device().model if is_device else "",
        pid=os.getpid(),
        version=version("cuzkweb"),
        incarnation=f"{INCARNATION}.{os.getpid()}",
        memory_bytes=device().memory().total_bytes if is_device else 0,
    )
