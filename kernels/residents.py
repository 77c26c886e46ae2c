"""Proving keys that a device keeps: loaded once, used by many, the least recently used leave first."""

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Generic, Protocol, TypeVar

from kernels.device import DeviceMemory, ResidentKey


class Loaded(Protocol):
    """A key in a device's own format."""

    @property
    def nbytes(self) -> int:
        """What it takes of the device's memory."""
        ...

    def close(self) -> None:
        """Give the memory back."""
        ...


Key = TypeVar("Key", bound=Loaded)


@dataclass(slots=True)
class Slot(Generic[Key]):
    """A key's place in the table; `loading` lets one thread load while others wait."""

    loading: threading.Lock = field(default_factory=threading.Lock)
    key: Key | None = None
    users: int = 0
    last_used: float = 0.0


class Residents(Generic[Key]):
    """The table of a device, within its budget. Keys in use never leave; threads may share it."""

    def __init__(self, budget_bytes: int) -> None:
        self.budget_bytes = budget_bytes
        self._lock = threading.Lock()
        self._slots: OrderedDict[str, Slot[Key]] = OrderedDict()
        self._work_bytes = 0

    @contextmanager
    def holding(self, key_id: str, load: Callable[[], Key]) -> Iterator[Key]:
        """The key called so, which does not leave meanwhile; `load` is called when it is not here."""
        with self._lock:
            slot = self._slots.setdefault(key_id, Slot())
            slot.users += 1
        try:
            with slot.loading:
                if slot.key is None:
                    slot.key = load()
            with self._lock:
                self._touch(key_id, slot)
            yield slot.key
        finally:
            with self._lock:
                slot.users -= 1
                self._touch(key_id, slot)
                self._evict(down_to=self.budget_bytes)

    @contextmanager
    def working(self, size: int) -> Iterator[None]:
        """Count `size` bytes of work buffers meanwhile."""
        with self._lock:
            self._work_bytes += size
        try:
            yield
        finally:
            with self._lock:
                self._work_bytes -= size

    def make_room(self, size: int) -> None:
        """Let idle keys leave until `size` bytes more fit the budget, or none is idle."""
        with self._lock:
            self._evict(down_to=self.budget_bytes - size)

    def clear(self) -> None:
        """Let every idle key leave."""
        with self._lock:
            self._evict(down_to=0)

    def memory(self) -> DeviceMemory:
        """The budget, and what keys and running work take of it."""
        with self._lock:
            used = self._resident_bytes() + self._work_bytes
        return DeviceMemory(self.budget_bytes, used, max(0, self.budget_bytes - used))

    def listed(self) -> list[ResidentKey]:
        """The keys, least recently used first."""
        with self._lock:
            return [
                ResidentKey(key_id, slot.key.nbytes, slot.last_used, slot.users > 0)
                for key_id, slot in self._slots.items()
                if slot.key is not None
            ]

    def _touch(self, key_id: str, slot: Slot[Key]) -> None:
        slot.last_used = time.monotonic()
        self._slots.move_to_end(key_id)
        if slot.key is None and slot.users == 0:
            del self._slots[key_id]

    def _resident_bytes(self) -> int:
        return sum(slot.key.nbytes for slot in self._slots.values() if slot.key is not None)

    def _evict(self, *, down_to: int) -> None:
        excess = self._resident_bytes() - down_to
        for key_id, slot in list(self._slots.items()):
            if excess <= 0:
                return
            if slot.users == 0 and slot.key is not None:
                excess -= slot.key.nbytes
                slot.key.close()
                del self._slots[key_id]
