"""The stages of one proof on the device, with a resident key or with points that come chunk by chunk."""

from dataclasses import dataclass
from functools import partial

from kernels import modules, polynomial_launches
from kernels.cuda.driver import Arena, Event, SecretArena
from kernels.cuda.key import GROUPS, DeviceKey, KeySizes, array_of, fill_tables, make_room_for_domain
from kernels.cuda.lanes import Lane
from kernels.cuda.msm import Adder, SetSums, Sorter, combined
from kernels.cuda.place import Workplace
from kernels.device import KeyPoints, ProverSums, Stage
from kernels.launches import ceil_div
from kernels.polynomial_launches import FR_BYTES, Domain, Matrices
from kernels.quotient import QuotientBasis
from kernels.run import Run

WITNESS_STAGES = (Stage.A, Stage.B1, Stage.B2, Stage.C)
SMALLEST_CHUNK, LARGEST_CHUNK = 64, 1 << 22
SHARE_FOR_CHUNKS = 0.5


@dataclass(frozen=True, slots=True)
class Arrived:
    """What came with the proof, on the device: the witness, and room for three times the domain, with the
    evaluations in its first two thirds unless `matrices` are still to make them."""

    witness: int
    values: int
    matrices: Matrices | None = None


def resident_sums(place: Workplace, key: DeviceKey, arrived: Arrived, run: Run) -> dict[Stage, SetSums]:
    """The sums of a proof whose key is here."""
    sizes = key.sizes
    scalars = run.stage(Stage.QUOTIENT, lambda: quotient(place, sizes, key.domain, arrived))
    found = {}
    with SecretArena(place.driver, place.stream) as arena:
        recoding = key.recoding(Stage.A)
        sorter = Sorter(place, arena, recoding, sizes.wires)
        sorter.sort(arrived.witness, sizes.wires, sizes.wires)
        for stage in WITNESS_STAGES:
            found[stage] = run.stage(stage, partial(add_up, place, key, stage, sorter))
    with SecretArena(place.driver, place.stream) as arena:
        recoding = key.recoding(Stage.H)
        sorter = Sorter(place, arena, recoding, sizes.h_count)
        sorter.sort(scalars, sizes.h_count, sizes.h_count)
        found[Stage.H] = run.stage(Stage.H, partial(add_up, place, key, Stage.H, sorter))
    return found


def quotient(place: Workplace, sizes: KeySizes, domain: Domain, arrived: Arrived) -> int:
    """Make the scalars of the H query, and wait for them; their address."""
    module = modules.polynomials(sizes.curve)
    if arrived.matrices is not None:
        place.run(
            polynomial_launches.evaluate(
                module, arrived.matrices, witness=arrived.witness, values=arrived.values
            )
        )
    monomial = sizes.h_basis is QuotientBasis.MONOMIAL
    make = polynomial_launches.quotient_coefficients if monomial else polynomial_launches.quotient_values
    place.run(make(module, domain, values=arrived.values))
    place.wait()
    return arrived.values + (FR_BYTES << sizes.log_domain if monomial else 0)


def add_up(place: Workplace, key: DeviceKey, stage: Stage, sorter: Sorter) -> SetSums:
    """One sum over resident points."""
    with SecretArena(place.driver, place.stream) as arena:
        adder = Adder(place, arena, key.sizes.curve, GROUPS[stage], sorter.recoding)
        if key.sizes.count(stage):
            adder.add(key.points[stage], sorter)
        return adder.sums()


def chunked_sums(
    place: Workplace, points: KeyPoints, lane: Lane, arrived: Arrived, run: Run
) -> dict[Stage, SetSums]:
    """The same where the key does not fit: points come chunk by chunk, the next one while one is added."""
    sizes = KeySizes.of(points)
    found = {}
    with Arena(place.driver, place.stream) as arena:
        domain = make_room_for_domain(sizes, arena)
        fill_tables(sizes, domain, place, arena)
        scalars = run.stage(Stage.QUOTIENT, lambda: quotient(place, sizes, domain, arrived))
    for stage in (*WITNESS_STAGES, Stage.H):
        first = sizes.public_count + 1 if stage is Stage.C else 0
        where = scalars if stage is Stage.H else arrived.witness + FR_BYTES * first
        found[stage] = run.stage(stage, partial(stream_points, place, points, stage, lane, where))
    return found


def stream_points(place: Workplace, points: KeyPoints, stage: Stage, lane: Lane, scalars: int) -> SetSums:
    """One sum over points that pass through the two halves of a buffer."""
    sizes, group, array = KeySizes.of(points), GROUPS[stage], array_of(points, stage)
    point = sizes.curve.point_bytes(group)
    chunk = chunk_size(place, sizes, point, len(array))
    recoding = sizes.recoding(chunk)
    with (
        SecretArena(place.driver, place.stream) as arena,
        Arena(place.driver, lane.stream, read_by=place.stream) as halves,
    ):
        sorter = Sorter(place, arena, recoding, chunk)
        adder = Adder(place, arena, sizes.curve, group, recoding)
        buffers = [halves.allocate(chunk * point) for _ in range(2)]
        added: list[Event | None] = [None, None]
        for number, start in enumerate(range(0, len(array), chunk)):
            half, piece = number % 2, array[start : start + chunk]
            if (earlier := added[half]) is not None:
                place.driver.wait(lane.stream, earlier)
            lane.upload(buffers[half].address, piece)
            place.driver.wait(place.stream, lane.arrived())
            sorter.sort(scalars + FR_BYTES * start, len(piece), len(piece))
            adder.add(buffers[half].address, sorter)
            added[half] = place.driver.record(place.stream)
        return adder.sums()


def chunk_size(place: Workplace, sizes: KeySizes, point_bytes: int, count: int) -> int:
    """How many points at a time: a power of two, or all of them where there is room."""
    free, _ = place.driver.memory_info()
    entries = ceil_div(sizes.bits, 8) * modules.ENTRY_BYTES
    most = int(free * SHARE_FOR_CHUNKS) // (2 * point_bytes + entries)
    fits = 1 << max(0, most.bit_length() - 1)
    return max(1, min(count, max(SMALLEST_CHUNK, min(LARGEST_CHUNK, fits))))


def finished(sums: dict[Stage, SetSums]) -> ProverSums:
    """The points of a proof, made on the CPU of what the device has left to do."""
    found = {stage: combined(sums[stage]) for stage in GROUPS}
    return ProverSums(found[Stage.A], found[Stage.B1], found[Stage.B2], found[Stage.C], found[Stage.H])
