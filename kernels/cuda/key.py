"""A proving key on the device: points and their multiples, tables of the domain, constraint matrices."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from kernels import modules, polynomial_launches, sum_launches
from kernels.cuda.driver import Arena, Buffer, Driver
from kernels.cuda.lanes import Lane
from kernels.cuda.place import Workplace
from kernels.cuda.rows import LONGEST_ROW, Rows, compressed_rows
from kernels.curves import Curve, Group
from kernels.device import KeyPoints, Stage
from kernels.launches import NO_ADDRESS, ceil_div
from kernels.polynomial_launches import FR_BYTES, Domain, Matrices
from kernels.quotient import QuotientBasis
from kernels.sum_launches import Recoding

GROUPS = {Stage.A: Group.G1, Stage.B1: Group.G1, Stage.B2: Group.G2, Stage.C: Group.G1, Stage.H: Group.G1}
MOST_MULTIPLES = 32
NARROWEST = 8
"""Bits of a digit, at least: below it a device only has more sets to finish."""
MOST_POINTS = 2**31
"""What a point's index in an entry has room for, multiples counted."""
MOST_DIGITS = 2**32 - 1


@dataclass(frozen=True, slots=True)
class KeySizes:
    """What a proof with a key has to know of it beforehand."""

    curve: Curve
    log_domain: int
    public_count: int
    wires: int
    h_count: int
    h_basis: QuotientBasis

    @classmethod
    def of(cls, points: KeyPoints) -> Self:
        """The sizes of a key in host memory."""
        return cls(
            points.curve,
            points.log_domain,
            points.public_count,
            len(points.a),
            len(points.h),
            points.h_basis,
        )

    @property
    def domain(self) -> int:
        """Rows of the domain."""
        return 1 << self.log_domain

    @property
    def bits(self) -> int:
        """Bits of a scalar."""
        return self.curve.r.bit_length()

    def count(self, stage: Stage) -> int:
        """Scalars of a stage's sum: C's points begin with infinity for the public wires."""
        return self.h_count if stage is Stage.H else self.wires

    def recoding(self, count: int, multiples: int = 1) -> Recoding:
        """How `count` scalars are cut into digits."""
        width = sum_launches.choose_width(max(count, 1), self.bits, multiples)
        return Recoding(self.bits, max(width, NARROWEST), multiples)

    @property
    def sortable(self) -> bool:
        """Whether the digits of a sum fit one sort, and its points an index."""
        most = max(self.wires, self.h_count)
        return most < MOST_POINTS and most * self.recoding(most).windows < MOST_DIGITS

    def stage_bytes(self, stage: Stage) -> int:
        """What a stage's points take on the device."""
        return self.count(stage) * self.curve.point_bytes(GROUPS[stage])

    def point_bytes(self) -> int:
        """What all five arrays of points take."""
        return sum(self.stage_bytes(stage) for stage in GROUPS)

    def multiples_within(self, room: int) -> int:
        """How many multiples of every point to keep in `room` bytes; at least one, and none in vain."""
        most = max(self.wires, self.h_count, 1)

        def suits(many: int) -> bool:
            needed = many <= self.recoding(most, many).windows
            return needed and many * self.point_bytes() <= room and many * most < MOST_POINTS

        many = next(many for many in range(MOST_MULTIPLES, 0, -1) if many == 1 or suits(many))
        recoding = self.recoding(most, many)
        return ceil_div(recoding.windows, recoding.sets)


@dataclass(frozen=True, slots=True, eq=False)
class DeviceKey:
    """What stays on the device of one proving key. `points` are addresses by stage."""

    sizes: KeySizes
    multiples: int
    points: dict[Stage, int]
    domain: Domain
    matrices: Matrices | None
    arena: Arena

    @property
    def wires(self) -> int:
        """Scalars of a witness."""
        return self.sizes.wires

    @property
    def log_domain(self) -> int:
        """The domain has 2^log_domain rows."""
        return self.sizes.log_domain

    @property
    def nbytes(self) -> int:
        """What it takes of the device's memory."""
        return self.arena.nbytes

    def recoding(self, stage: Stage) -> Recoding:
        """How the scalars of a stage are cut."""
        return self.sizes.recoding(self.sizes.count(stage), self.multiples)

    def close(self) -> None:
        """Give the memory back."""
        self.arena.close()


def load_key(points: KeyPoints, lane: Lane, driver: Driver, room: int, run: Callable[..., None]) -> DeviceKey:
    """Bring a key to the device. `room` is for its points; `run` is called with work that launches kernels.

    Raises OutOfDeviceMemory, with nothing left behind.
    """
    sizes = KeySizes.of(points)
    multiples = sizes.multiples_within(room)
    place = Workplace(driver, lane.stream)
    arena = Arena(driver, lane.stream)
    try:
        addresses = {}
        for stage in GROUPS:
            buffer = arena.allocate(multiples * sizes.stage_bytes(stage))
            bring_points(array_of(points, stage), buffer, sizes.stage_bytes(stage), lane, driver)
            addresses[stage] = buffer.address
        matrices = None
        if points.coefficients is not None:
            rows = compressed_rows(points.coefficients, sizes.domain, sizes.wires)
            matrices = bring_rows(rows, lane, arena)
        domain = make_room_for_domain(sizes, arena)
        key = DeviceKey(sizes, multiples, addresses, domain, matrices, arena)
        run(lambda: prepare(key, place))
    except BaseException:
        arena.close()
        raise
    return key


def bring_points(array: NDArray[np.uint64], buffer: Buffer, size: int, lane: Lane, driver: Driver) -> None:
    """A stage's points into the first `size` bytes of its buffer: those of C after some at infinity."""
    missing = size - array.nbytes
    if missing:
        driver.clear(buffer.address, missing, lane.stream)
    lane.upload(buffer.at(missing), array)


def array_of(points: KeyPoints, stage: Stage) -> NDArray[np.uint64]:
    """The points that a stage multiplies."""
    arrays = {
        Stage.A: points.a,
        Stage.B1: points.b1,
        Stage.B2: points.b2,
        Stage.C: points.c,
        Stage.H: points.h,
    }
    return arrays[stage]


def bring_rows(rows: Rows, lane: Lane, arena: Arena) -> Matrices:
    """The constraint matrices on the device."""
    addresses = []
    for array in (rows.starts, rows.terms, rows.values, rows.long):
        buffer = arena.allocate(array.nbytes)
        lane.upload(buffer.address, array)
        addresses.append(buffer.address)
    starts, terms, values, long_rows = addresses
    return Matrices(
        rows=len(rows.starts) - 1,
        row_starts=starts,
        terms=terms,
        coefficients=values,
        longest=LONGEST_ROW,
        long_rows=long_rows,
        long_row_count=len(rows.long),
    )


def make_room_for_domain(sizes: KeySizes, arena: Arena) -> Domain:
    """The tables of the domain, still empty."""
    size = FR_BYTES << sizes.log_domain
    monomial = sizes.h_basis is QuotientBasis.MONOMIAL
    return Domain(
        sizes.log_domain,
        table=arena.allocate(size).address,
        coset_scales=arena.allocate(size).address,
        coefficient_scales=arena.allocate(size).address if monomial else NO_ADDRESS,
    )


def prepare(key: DeviceKey, place: Workplace) -> None:
    """Fill what the device makes itself: tables of the domain, multiples of the points. Waits for them."""
    with Arena(place.driver, place.stream) as arena:
        fill_tables(key.sizes, key.domain, place, arena)
        for stage, group in GROUPS.items():
            multiply_points(key, stage, group, place)
        place.wait()


def fill_tables(sizes: KeySizes, domain: Domain, place: Workplace, arena: Arena) -> None:
    """Queue the filling of a domain's tables."""
    module = modules.polynomials(sizes.curve)
    log_n = domain.log_n

    def brought(values: NDArray[np.uint64]) -> int:
        buffer = arena.allocate(values.nbytes)
        place.put(buffer.address, values)
        return buffer.address

    roots = brought(polynomial_launches.roots(sizes.curve, log_n))
    place.run([polynomial_launches.make_twiddles(module, roots, log_n, domain.table)])
    powers = brought(polynomial_launches.coset_powers(sizes.curve, log_n))
    place.run([polynomial_launches.make_scales(module, powers, log_n, domain.coset_scales)])
    if domain.coefficient_scales:
        powers = brought(polynomial_launches.coefficient_powers(sizes.curve, log_n))
        place.run([polynomial_launches.make_scales(module, powers, log_n, domain.coefficient_scales)])


def multiply_points(key: DeviceKey, stage: Stage, group: Group, place: Workplace) -> None:
    """Queue the doublings that make the multiples of a stage's points."""
    count, size = key.sizes.count(stage), key.sizes.stage_bytes(stage)
    module = modules.sums(key.sizes.curve, group)
    recoding = key.recoding(stage)
    for number in range(1, key.multiples if count else 1):
        source = key.points[stage] + (number - 1) * size
        doubled = sum_launches.double_points(
            module, points=source, count=count, recoding=recoding, out=source + size
        )
        place.run([doubled])
