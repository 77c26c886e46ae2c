"""Hearing at once that a job was told to stop, instead of at the next heartbeat.

The channel names jobs, and whoever works on one of them asks the tracker what is true. What is missed here,
as while the server was away, costs the pause until the next heartbeat and nothing more.
"""

import logging
import os
import threading
import time
from typing import Any

from redis.exceptions import RedisError

from proving.services import live

logger = logging.getLogger(__name__)

PATIENCE_SECONDS = 5.0
PAUSE_SECONDS = 1.0

_lock = threading.Lock()
_waiting: dict[threading.Event, str] = {}
_listener: list[int] = []
"""The process whose thread listens: a child of a fork starts its own."""


def listen(job_id: str, called: threading.Event) -> None:
    """Have `called` set whenever this job is named."""
    with _lock:
        _waiting[called] = job_id
        if os.getpid() not in _listener:
            _listener[:] = [os.getpid()]
            threading.Thread(target=_listen, name="ear", daemon=True).start()


def stop_listening(called: threading.Event) -> None:
    """Leave `called` alone from now on."""
    with _lock:
        _waiting.pop(called, None)


def call_all() -> None:
    """Set the events of everybody who listens in this process. Also right in a signal handler."""
    for called in list(_waiting):
        called.set()


def _listen() -> None:
    while True:
        try:
            _hear()
        except RedisError:
            time.sleep(PAUSE_SECONDS)


def _hear() -> None:
    client: Any = live.connect()
    with client, client.pubsub(ignore_subscribe_messages=True) as channel:
        channel.subscribe(live.store().ledger.keys.stops)
        while True:
            message = channel.get_message(timeout=PATIENCE_SECONDS)
            if message is not None:
                _call(message["data"].decode())


def _call(job_id: str) -> None:
    with _lock:
        named = [called for called, job in _waiting.items() if job == job_id]
    for called in named:
        called.set()
