"""The CPU as a prover device."""

import os
import platform
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from kernels.curves import Group
from kernels.device import (
    Cancelled,
    DeviceMemory,
    KeyPoints,
    ProverSums,
    ResidentKey,
    Stage,
    never,
    silent,
)
from kernels.msm import Bases
from kernels.quotient import quotient_scalars

SCALAR_BYTES = 32
QUOTIENT_BUFFERS = 3  # copies of a and b, and h


class LoadedKey:
    """The bases of one proving key in the engine's own format."""

    def __init__(self, points: KeyPoints, threads: int) -> None:
        self.curve = points.curve
        self.log_domain = points.log_domain
        self.public_count = points.public_count
        self.wires = len(points.a)
        self.h_basis = points.h_basis
        self.stages: dict[Stage, Bases] = {}
        sources = (
            (Stage.A, Group.G1, points.a),
            (Stage.B1, Group.G1, points.b1),
            (Stage.B2, Group.G2, points.b2),
            (Stage.C, Group.G1, points.c),
            (Stage.H, Group.G1, points.h),
        )
        try:
            for stage, group, array in sources:
                self.stages[stage] = Bases(points.curve, group, array, threads)
        except BaseException:
            self.close()
            raise
        self.nbytes = sum(bases.nbytes for bases in self.stages.values())

    def close(self) -> None:
        """Release every base."""
        for bases in self.stages.values():
            bases.close()
        self.stages.clear()


@dataclass(frozen=True, slots=True)
class Run:
    """What the caller of one proof hears and says between its stages."""

    cancelled: Callable[[], bool]
    report: Callable[[Stage, float], None]

    def stage(self, stage: Stage, work: Callable[[], NDArray[np.uint64]]) -> NDArray[np.uint64]:
        """Do the work of one stage and report its time; raises Cancelled instead when the caller says so."""
        if self.cancelled():
            raise Cancelled
        started = time.monotonic()
        result = work()
        self.report(stage, time.monotonic() - started)
        return result


@dataclass(slots=True)
class Slot:
    """A key's place in the table of residents; `loading` lets one thread load while others wait."""

    loading: threading.Lock = field(default_factory=threading.Lock)
    key: LoadedKey | None = None
    users: int = 0
    last_used: float = 0.0


class HostDevice:
    """Proves on the CPU; keys stay resident, least recently used ones leave when the budget is full."""

    name = "host"

    def __init__(self, *, budget_bytes: int | None = None, threads: int = 0) -> None:
        self.model = processor_model()
        self._budget = half_of_memory() if budget_bytes is None else budget_bytes
        self._threads = threads
        self._lock = threading.Lock()
        self._slots: OrderedDict[str, Slot] = OrderedDict()
        self._work_bytes = 0

    def prove(
        self,
        key_id: str,
        load: Callable[[], KeyPoints],
        witness: NDArray[np.uint64],
        a: NDArray[np.uint64],
        b: NDArray[np.uint64],
        *,
        cancelled: Callable[[], bool] = never,
        report: Callable[[Stage, float], None] = silent,
    ) -> ProverSums:
        """See `kernels.device.Device.prove`."""
        if cancelled():
            raise Cancelled
        with self._resident(key_id, load) as key:
            require_shapes(key, witness, a, b)
            with self._work(QUOTIENT_BUFFERS * SCALAR_BYTES << key.log_domain):
                return self._stages(key, witness, a, b, Run(cancelled, report))

    def _stages(
        self,
        key: LoadedKey,
        witness: NDArray[np.uint64],
        a: NDArray[np.uint64],
        b: NDArray[np.uint64],
        run: Run,
    ) -> ProverSums:
        threads = self._threads
        a, b = (np.array(evaluations, order="C") for evaluations in (a, b))  # the quotient destroys them
        basis, log_domain = key.h_basis, key.log_domain
        h = run.stage(
            Stage.QUOTIENT, lambda: quotient_scalars(basis, key.curve, a, b, log_domain, threads=threads)
        )
        scalars = {
            Stage.A: witness,
            Stage.B1: witness,
            Stage.B2: witness,
            Stage.C: witness[key.public_count + 1 :],
            Stage.H: h,
        }
        sums = {
            stage: run.stage(stage, partial(key.stages[stage].msm, values, threads))
            for stage, values in scalars.items()
        }
        return ProverSums(sums[Stage.A], sums[Stage.B1], sums[Stage.B2], sums[Stage.C], sums[Stage.H])

    def memory(self) -> DeviceMemory:
        """See `kernels.device.Device.memory`."""
        with self._lock:
            used = self._resident_bytes() + self._work_bytes
        return DeviceMemory(self._budget, used, max(0, self._budget - used))

    def resident_keys(self) -> list[ResidentKey]:
        """See `kernels.device.Device.resident_keys`."""
        with self._lock:
            return [
                ResidentKey(key_id, slot.key.nbytes, slot.last_used, slot.users > 0)
                for key_id, slot in self._slots.items()
                if slot.key is not None
            ]

    def close(self) -> None:
        """Release every key that no proof is using."""
        with self._lock:
            self._evict(down_to=0)

    @contextmanager
    def _resident(self, key_id: str, load: Callable[[], KeyPoints]) -> Iterator[LoadedKey]:
        with self._lock:
            slot = self._slots.setdefault(key_id, Slot())
            slot.users += 1
        try:
            with slot.loading:
                if slot.key is None:
                    slot.key = self._load(load())
            with self._lock:
                self._touch(key_id, slot)
            yield slot.key
        finally:
            with self._lock:
                slot.users -= 1
                self._touch(key_id, slot)
                self._evict(down_to=self._budget)

    def _load(self, points: KeyPoints) -> LoadedKey:
        arriving = sum(array.nbytes for array in (points.a, points.b1, points.b2, points.c, points.h))
        with self._lock:
            self._evict(down_to=self._budget - arriving)
        return LoadedKey(points, self._threads)

    @contextmanager
    def _work(self, size: int) -> Iterator[None]:
        with self._lock:
            self._work_bytes += size
        try:
            yield
        finally:
            with self._lock:
                self._work_bytes -= size

    def _touch(self, key_id: str, slot: Slot) -> None:
        slot.last_used = time.monotonic()
        self._slots.move_to_end(key_id)
        if slot.key is None and slot.users == 0:
            del self._slots[key_id]

    def _resident_bytes(self) -> int:
        return sum(slot.key.nbytes for slot in self._slots.values() if slot.key is not None)

    def _evict(self, *, down_to: int) -> None:
        """Drop idle keys, least recently used first, until the resident ones fit `down_to` bytes."""
        excess = self._resident_bytes() - down_to
        for key_id, slot in list(self._slots.items()):
            if excess <= 0:
                return
            if slot.users == 0 and slot.key is not None:
                excess -= slot.key.nbytes
                slot.key.close()
                del self._slots[key_id]


def require_shapes(
    key: LoadedKey, witness: NDArray[np.uint64], a: NDArray[np.uint64], b: NDArray[np.uint64]
) -> None:
    """Refuse arrays that do not belong to the key; raises ValueError with both sizes."""
    if witness.shape != (key.wires, 4):
        raise ValueError(f"witness has {len(witness)} values, key wants {key.wires}")
    for name, evaluations in (("a", a), ("b", b)):
        if evaluations.shape != (1 << key.log_domain, 4):
            raise ValueError(f"{name} has {len(evaluations)} evaluations, key wants {1 << key.log_domain}")


def half_of_memory() -> int:
    """Half of the machine's physical memory, in bytes."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2


def processor_model() -> str:
    """What the CPU calls itself, or its architecture where the system does not say."""
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    except OSError:
        text = ""
    for line in text.splitlines():
        label, _, value = line.partition(":")
        if label.strip() == "model name":
            return value.strip()
    return platform.machine()
