"""An NVIDIA GPU as a prover device. Not run on a GPU.

A proof goes one of three ways, the next one where the one before found no memory: with its key resident, with
the key's points streamed through what memory there is, on the CPU. A result that is not on its curve, or a
fault of the driver, sends it to the CPU at once and is remembered.
"""

import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

import numpy as np

from kernels import nvrtc
from kernels.constraints import evaluate
from kernels.cuda.cupy_driver import open_driver
from kernels.cuda.driver import Driver, DriverFault, OutOfDeviceMemory, SecretArena
from kernels.cuda.images import compiled_images
from kernels.cuda.key import DeviceKey, KeySizes, load_key
from kernels.cuda.lanes import HALF_BYTES, Lane, Lanes
from kernels.cuda.place import Workplace
from kernels.cuda.proof import Arrived, chunked_sums, finished, resident_sums
from kernels.curves import Curve, Group
from kernels.device import (
    Cancelled,
    DeviceMemory,
    DeviceUnavailable,
    KeyPoints,
    ProverSums,
    ResidentKey,
    Stage,
    never,
    silent,
)
from kernels.host import HostDevice
from kernels.native import Words
from kernels.points import first_bad_point
from kernels.polynomial_launches import FR_BYTES
from kernels.residents import Residents
from kernels.run import BusyClock, Run, require_shapes

logger = logging.getLogger(__name__)

SHARE_OF_FREE_MEMORY = 0.9
SHARE_FOR_MULTIPLES = 8
"""A key may take so much of the budget's fraction for multiples of its points."""


class BadSums(Exception):  # noqa: N818 - what was found
    """The device's sums are not points of their curves."""


@dataclass(frozen=True, slots=True)
class Request:
    """One proof as it was asked for."""

    key_id: str
    load: Callable[[], KeyPoints]
    witness: Words
    a: Words | None
    b: Words | None
    run: Run


class CudaDevice:
    """Proves on one GPU. Two threads may prove at once: one brings its data in while the other computes."""

    evaluates = True
    bounded = False

    def __init__(
        self,
        name: str,
        driver: Driver,
        *,
        budget_bytes: int | None = None,
        threads: int = 0,
        half_bytes: int = HALF_BYTES,
    ) -> None:
        self.name = name
        self.model = driver.model
        self._driver = driver
        driver.attach()
        free, _ = driver.memory_info()
        budget = int(free * SHARE_OF_FREE_MEMORY) if budget_bytes is None else budget_bytes
        self._residents: Residents[DeviceKey] = Residents(budget)
        self._lanes = Lanes(driver, half_bytes)
        self._place = Workplace(driver, driver.new_stream())
        self._turn = threading.Lock()
        self._clock = BusyClock()
        self._threads = threads
        self._noting = threading.Lock()
        self._faults: list[str] = []
        self._broken = False

    @property
    def usable(self) -> bool:
        """See `kernels.device.Device.usable`."""
        return not self._broken

    @property
    def busy_seconds(self) -> float:
        """See `kernels.device.Device.busy_seconds`."""
        return self._clock.seconds()

    def prove(
        self,
        key_id: str,
        load: Callable[[], KeyPoints],
        witness: Words,
        a: Words | None = None,
        b: Words | None = None,
        *,
        cancelled: Callable[[], bool] = never,
        report: Callable[[Stage, float], None] = silent,
    ) -> ProverSums:
        """See `kernels.device.Device.prove`."""
        if cancelled():
            raise Cancelled
        request = Request(key_id, load, witness, a, b, Run(cancelled, report))
        if not self._broken:
            self._driver.attach()
            sums = self._on_the_gpu(request)
            if sums is not None:
                return sums
        return self._on_the_cpu(request)

    def memory(self) -> DeviceMemory:
        """See `kernels.device.Device.memory`."""
        return self._residents.memory()

    def resident_keys(self) -> list[ResidentKey]:
        """See `kernels.device.Device.resident_keys`."""
        return self._residents.listed()

    def take_faults(self) -> list[str]:
        """See `kernels.device.Device.take_faults`."""
        with self._noting:
            taken, self._faults = self._faults, []
        return taken

    def close(self) -> None:
        """See `kernels.device.Device.close`."""
        if self._broken:
            return
        self._driver.attach()
        self._residents.clear()
        self._driver.close()

    def _on_the_gpu(self, request: Request) -> ProverSums | None:
        """The sums, or None where the GPU has none to give."""
        for way in (self._with_resident_key, self._in_chunks):
            try:
                return on_the_curve(*way(request))
            except OutOfDeviceMemory as shortage:
                logger.warning("%s: %s", self.name, shortage)
                self._drop_what_is_idle()
            except BadSums as fault:
                self._note(str(fault))
                return None
            except DriverFault as fault:
                self._broken = True
                self._note(f"the driver reports: {fault}")
                return None
        return None

    def _with_resident_key(self, request: Request) -> tuple[Curve, ProverSums]:
        with (
            self._lanes.lane() as lane,
            self._residents.holding(request.key_id, lambda: self._loaded(request.load(), lane)) as key,
        ):
            require_shapes(key, request.witness, request.a, request.b)
            if request.a is None and key.matrices is None:
                raise ValueError("the key has no coefficients to evaluate: a and b are wanted")
            with self._brought_in(request, key.sizes, lane) as arrived:
                here = arrived if request.a is not None else replace(arrived, matrices=key.matrices)
                there = lane.arrived()
                with self._computing():
                    self._driver.wait(self._place.stream, there)
                    sums = resident_sums(self._place, key, here, request.run)
        return key.sizes.curve, finished(sums)

    def _in_chunks(self, request: Request) -> tuple[Curve, ProverSums]:
        """Points come through the bus for this proof alone; evaluations are made on the CPU."""
        points = request.load()
        sizes = KeySizes.of(points)
        require_shapes(sizes, request.witness, request.a, request.b)
        if request.a is None or request.b is None:
            request = self._evaluated(request, points)
        with self._computing(), self._lanes.lane() as lane, self._brought_in(request, sizes, lane) as arrived:
            self._driver.wait(self._place.stream, lane.arrived())
            sums = chunked_sums(self._place, points, lane, arrived, request.run)
        return sizes.curve, finished(sums)

    def _on_the_cpu(self, request: Request) -> ProverSums:
        host = HostDevice(budget_bytes=0, threads=self._threads)
        run = request.run
        try:
            return host.prove(
                *(request.key_id, request.load, request.witness, request.a, request.b),
                cancelled=run.cancelled,
                report=run.report,
            )
        finally:
            host.close()

    @contextmanager
    def _brought_in(self, request: Request, sizes: KeySizes, lane: Lane) -> Iterator[Arrived]:
        """The witness on its way to the device, and evaluations where there are any."""
        with SecretArena(self._driver, lane.stream, read_by=self._place.stream) as arena:
            witness = arena.allocate(FR_BYTES * sizes.wires)
            values = arena.allocate(3 * FR_BYTES * sizes.domain)
            lane.upload(witness.address, request.witness)
            for place, evaluations in enumerate((request.a, request.b)):
                if evaluations is not None:
                    lane.upload(values.at(place * FR_BYTES * sizes.domain), evaluations)
            with self._residents.working(arena.nbytes):
                yield Arrived(witness.address, values.address)

    @contextmanager
    def _computing(self) -> Iterator[None]:
        """This thread's turn on the device; nothing of its work is left there when it ends."""
        with self._turn, self._clock:
            try:
                yield
            finally:
                self._place.wait()

    def _loaded(self, points: KeyPoints, lane: Lane) -> DeviceKey:
        budget = self._residents.budget_bytes
        sizes = KeySizes.of(points)
        room, size = budget // SHARE_FOR_MULTIPLES, sizes.point_bytes()
        if size > budget:
            raise OutOfDeviceMemory(f"the key's points take {size} bytes of a budget of {budget}")
        if not sizes.sortable:
            raise OutOfDeviceMemory("the key has more digits than one sort has room for")
        self._residents.make_room(size * sizes.multiples_within(room))

        def run(work: Callable[[], None]) -> None:
            there = lane.arrived()
            with self._turn:
                self._driver.wait_here(there)
                work()

        return load_key(points, lane, self._driver, room, run)

    def _evaluated(self, request: Request, points: KeyPoints) -> Request:
        if points.coefficients is None:
            raise ValueError("the key has no coefficients to evaluate: a and b are wanted")
        domain = 1 << points.log_domain
        a, b = evaluate(points.curve, points.coefficients, request.witness, domain, self._threads)
        return replace(request, a=a, b=b)

    def _drop_what_is_idle(self) -> None:
        """Give back all memory that no proof is using."""
        self._residents.clear()
        self._driver.trim()

    def _note(self, fault: str) -> None:
        logger.error("%s: %s", self.name, fault)
        with self._noting:
            self._faults.append(fault)


def on_the_curve(curve: Curve, sums: ProverSums) -> ProverSums:
    """The sums, if they are points of their curves. Raises BadSums."""
    g1 = np.stack([sums.a, sums.b1, sums.c, sums.h])
    for group, found, names in ((Group.G1, g1, ("a", "b1", "c", "h")), (Group.G2, sums.b2[None], ("b2",))):
        bad = first_bad_point(curve, group, np.ascontiguousarray(found), subgroup=False, threads=1)
        if bad is not None:
            raise BadSums(f"the sum {names[bad]} is not on its curve")
    return sums


def open_cuda_device(ordinal: int, budget_bytes: int | None = None, threads: int = 0) -> CudaDevice:
    """The GPU of that number. Raises DeviceUnavailable."""
    driver = open_driver(ordinal, compiled_images())
    try:
        nvrtc.version()
    except nvrtc.NvrtcUnavailable as error:
        raise DeviceUnavailable(f"kernels cannot be compiled ({error}): install cuzkweb[cuda13]") from None
    return CudaDevice(f"cuda:{ordinal}", driver, budget_bytes=budget_bytes, threads=threads)
