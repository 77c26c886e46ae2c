"""The CPU as a prover device."""

import os
import platform
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from kernels.constraints import evaluate
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
from kernels.msm import Bases, msm_all
from kernels.quotient import quotient_scalars
from kernels.residents import Residents
from kernels.run import BusyClock, Run, require_shapes

SCALAR_BYTES = 32
QUOTIENT_BUFFERS = 3  # copies of a and b, and h
BY_WITNESS = (Stage.A, Stage.B1, Stage.B2)


class LoadedKey:
    """The bases of one proving key in the engine's own format."""

    def __init__(self, points: KeyPoints, threads: int) -> None:
        self.curve = points.curve
        self.log_domain = points.log_domain
        self.public_count = points.public_count
        self.wires = len(points.a)
        self.h_basis = points.h_basis
        self.coefficients = points.coefficients
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


class HostDevice:
    """Proves on the CPU; keys stay resident, least recently used ones leave when the budget is full."""

    name = "host"
    evaluates = False
    bounded = True
    usable = True

    def __init__(self, *, budget_bytes: int | None = None, threads: int = 0) -> None:
        self.model = processor_model()
        self._threads = threads
        self._clock = BusyClock()
        self._residents: Residents[LoadedKey] = Residents(
            half_of_memory() if budget_bytes is None else budget_bytes
        )

    @property
    def busy_seconds(self) -> float:
        """See `kernels.device.Device.busy_seconds`."""
        return self._clock.seconds()

    def prove(
        self,
        key_id: str,
        load: Callable[[], KeyPoints],
        witness: NDArray[np.uint64],
        a: NDArray[np.uint64] | None = None,
        b: NDArray[np.uint64] | None = None,
        *,
        cancelled: Callable[[], bool] = never,
        report: Callable[[Stage, float], None] = silent,
    ) -> ProverSums:
        """See `kernels.device.Device.prove`."""
        if cancelled():
            raise Cancelled
        with self._residents.holding(key_id, lambda: self._load(load())) as key:
            require_shapes(key, witness, a, b)
            if a is None or b is None:
                a, b = self._evaluated(key, witness)
            with self._residents.working(QUOTIENT_BUFFERS * SCALAR_BYTES << key.log_domain), self._clock:
                return self._stages(key, witness, a, b, Run(cancelled, report))

    def _evaluated(
        self, key: LoadedKey, witness: NDArray[np.uint64]
    ) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
        if key.coefficients is None:
            raise ValueError("the key has no coefficients to evaluate: a and b are wanted")
        return evaluate(key.curve, key.coefficients, witness, 1 << key.log_domain, self._threads)

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
        sums = run.stages(BY_WITNESS, lambda: msm_all([key.stages[s] for s in BY_WITNESS], witness, threads))
        for stage, scalars in ((Stage.C, witness[key.public_count + 1 :]), (Stage.H, h)):
            sums[stage] = run.stage(stage, partial(key.stages[stage].msm, scalars, threads))
        return ProverSums(sums[Stage.A], sums[Stage.B1], sums[Stage.B2], sums[Stage.C], sums[Stage.H])

    def memory(self) -> DeviceMemory:
        """See `kernels.device.Device.memory`."""
        return self._residents.memory()

    def resident_keys(self) -> list[ResidentKey]:
        """See `kernels.device.Device.resident_keys`."""
        return self._residents.listed()

    def take_faults(self) -> list[str]:
        """See `kernels.device.Device.take_faults`: the CPU is what other devices are held against."""
        return []

    def close(self) -> None:
        """Release every key that no proof is using."""
        self._residents.clear()

    def _load(self, points: KeyPoints) -> LoadedKey:
        self._residents.make_room(points.nbytes)
        return LoadedKey(points, self._threads)


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
