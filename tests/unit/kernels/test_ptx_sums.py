"""Multi-scalar multiplication on the device as NVRTC compiles it, executed from digits to sums of sets."""

import os
from dataclasses import dataclass
from random import Random

import numpy as np
import pytest

from kernels import modules, sum_launches
from kernels.curves import BN254, CURVES, Curve, Group
from kernels.launches import launch
from kernels.sum_launches import Adding, Recoding, Sorting
from tests.support import device_code
from tests.support.ptx import Fault
from tests.support.simulated import Simulated, without_line
from tests.unit.kernels.reference import Point, Reference, multiples, plain, words

EVERYTHING = "CUZKWEB_ALL_KERNELS" in os.environ
BITS = 254
THREADS = 128
GROUPS = [Reference(curve, group) for group in Group for curve in CURVES]


@pytest.fixture(
    params=GROUPS if EVERYTHING else GROUPS[:1],
    ids=lambda reference: f"{reference.curve.name}-{reference.group.name}",
)
def reference(request: pytest.FixtureRequest) -> Reference:
    """Every group in `make kernels-check`; the compiler takes long for all but the first."""
    return request.param


@dataclass(frozen=True)
class Sorted:
    """The entries that the device made, and where they are."""

    sorting: Sorting
    total: int
    entries: list[tuple[int, int, bool]]  # bucket, point, negative


def sort_digits(
    device: Simulated, recoding: Recoding, scalars: list[int], selection: list[int] | None = None
) -> Sorted:
    count = len(scalars if selection is None else selection)
    sorting = Sorting(
        recoding,
        device.upload(recoding.packed()),
        device.upload(bytes(Sorting.counts_bytes(recoding))),
        device.reserve(Sorting.totals_bytes(recoding)),
        device.reserve(Sorting.entries_bytes(recoding, count)),
    )
    chosen = 0 if selection is None else device.upload(np.array(selection, np.uint32))
    where = {"scalars": device.upload(words(scalars)), "count": count, "stride": count, "selection": chosen}
    device.run(sum_launches.sort_digits(sorting, **where))
    (total,) = device.download(sorting.total, np.zeros(1, np.uint32)).tolist()
    raw = device.download(sorting.entries, np.zeros((total, 2), np.uint32)).tolist()
    entries = [(bucket, point & 0x7FFFFFFF, bool(point >> 31)) for bucket, point in raw]
    return Sorted(sorting, total, entries)


def digits(scalar: int, recoding: Recoding) -> list[int]:
    """Signed digits of c bits, the lowest first: each in [-2^(c-1), 2^(c-1))."""
    half, found = 1 << (recoding.width - 1), []
    for _ in range(recoding.windows):
        digit = (scalar + half) % (2 * half) - half
        found.append(digit)
        scalar = (scalar - digit) // (2 * half)
    assert scalar == 0
    return found


def wanted_entries(recoding: Recoding, scalars: list[int]) -> list[tuple[int, int, bool]]:
    entries = []
    for index, scalar in enumerate(scalars):
        for window, digit in enumerate(digits(scalar, recoding)):
            if digit:
                bucket = window % recoding.sets * recoding.buckets + abs(digit) - 1
                entries.append((bucket, window // recoding.sets * len(scalars) + index, digit < 0))
    return sorted(entries)


def edge_scalars(curve: Curve, count: int) -> list[int]:
    random = Random(count)
    edges = [0, 1, 2, curve.r - 1, curve.r - 2, curve.r // 2, 1, 1, 1 << 128, (1 << 253) - 1]
    return [*edges, *(random.randrange(curve.r) for _ in range(count))][:count]


@pytest.mark.parametrize("seed", [None, 3])
@pytest.mark.parametrize(("width", "copies"), [(2, 1), (5, 4), (9, 29)])
def test_digits_are_sorted_by_bucket_with_nothing_lost(width: int, copies: int, seed: int | None) -> None:
    recoding, scalars = Recoding(BITS, width, copies), edge_scalars(BN254, 40) * 3
    device = Simulated(seed)
    found = sort_digits(device, recoding, scalars).entries
    assert [bucket for bucket, _, _ in found] == sorted(bucket for bucket, _, _ in found)
    assert sorted(found) == wanted_entries(recoding, scalars)
    assert device.report.race_count == 0


def test_a_selection_names_the_scalars() -> None:
    recoding, scalars, selection = Recoding(BITS, 6), edge_scalars(BN254, 60), [3, 59, 1, 1, 20]
    found = sort_digits(Simulated(), recoding, scalars, selection).entries
    assert sorted(found) == wanted_entries(recoding, [scalars[i] for i in selection])


def test_counts_larger_than_a_tile_are_summed() -> None:
    recoding = Recoding(BITS, 10, 1)
    assert recoding.sets * recoding.buckets > 2 * sum_launches.SCAN_TILE
    device, scalars = Simulated(), edge_scalars(BN254, 30)
    assert sorted(sort_digits(device, recoding, scalars).entries) == wanted_entries(recoding, scalars)
    assert device.report.race_count == 0


def some_points(reference: Reference, count: int) -> list[Point]:
    """Points of which some are equal, opposite and at infinity."""
    points, _ = multiples(reference.curve, reference.group, 12)
    edges = [points[0], points[0], reference.negate(points[0]), None, points[1], points[0]]
    return [*edges, *points, *points][:count]


def to_affine(reference: Reference, raw: np.ndarray) -> list[Point]:
    """Sums (x, y, zz, zzz) as points."""
    curve, degree = reference.curve, 1 if reference.group is Group.G1 else 2
    values = plain(raw.reshape(-1, curve.fq_words), curve.q)
    field = reference.lift(reference.generator)[0].__class__

    def element(at: int) -> object:
        return field(values[at] if degree == 1 else tuple(values[at : at + 2]))

    found = []
    for start in range(0, len(values), 4 * degree):
        x, y, zz, zzz = (element(start + i * degree) for i in range(4))
        is_infinity = not any(values[start + 2 * degree : start + 3 * degree])
        found.append(None if is_infinity else reference.lower((x / zz, y / zzz, field.one())))
    return found


def multiply(device: Simulated, reference: Reference, recoding: Recoding, scalars: list[int]) -> list[Point]:
    """The sums of the sets of buckets, for points as above."""
    module = modules.sums(reference.curve, reference.group)
    size = modules.sum_bytes(reference.curve, reference.group)
    made = sort_digits(device, recoding, scalars)
    partials = Adding.partial_count(THREADS)
    adding = Adding(
        module,
        recoding,
        size,
        THREADS,
        buckets=device.upload(bytes(Adding.buckets_bytes(recoding, size))),
        partials=device.reserve(partials * size),
        partial_buckets=device.reserve(4 * partials),
        pairs=device.reserve(Adding.pairs_bytes(recoding, size)),
        sums=device.reserve(Adding.sums_bytes(recoding, size)),
    )
    points = device.upload(reference.encode(some_points(reference, len(scalars))))
    where = {"points": points, "entries": made.sorting.entries, "total": made.sorting.total}
    device.run(sum_launches.add_entries(adding, **where, least_span=1))
    device.run(sum_launches.reduce_buckets(adding))
    raw = device.download(adding.sums, np.zeros(Adding.sums_bytes(recoding, size) // 8, np.uint64))
    return to_affine(reference, raw)


def product(reference: Reference, scalars: list[int]) -> Point:
    total = None
    for point, scalar in zip(some_points(reference, len(scalars)), scalars, strict=True):
        total = reference.add(total, reference.multiply(point, scalar))
    return total


def combine(reference: Reference, sets: list[Point], width: int) -> Point:
    total = None
    for point in reversed(sets):
        total = reference.add(reference.multiply(total, 1 << width), point)
    return total


def test_the_sums_make_the_product(reference: Reference) -> None:
    recoding, scalars = Recoding(BITS + (reference.curve is not BN254), 4), edge_scalars(reference.curve, 16)
    device = Simulated()
    sets = multiply(device, reference, recoding, scalars)
    assert combine(reference, sets, recoding.width) == product(reference, scalars)
    assert device.report.race_count == 0


def test_equal_scalars_of_equal_points_fill_one_bucket(reference: Reference) -> None:
    recoding, scalars = Recoding(8, 3), [1] * 18
    device = Simulated(seed=5)
    sets = multiply(device, reference, recoding, scalars)
    assert combine(reference, sets, recoding.width) == product(reference, scalars)
    assert device.report.race_count == 0


def test_sets_of_many_buckets_are_merged(reference: Reference) -> None:
    recoding, scalars = Recoding(13, 14), [0, 1, 31, 32, 33, 4095, 4096, 4097, 8191, 8190, 5000, 5000]
    assert len(sum_launches.pair_counts(recoding)) == 2
    device = Simulated()
    (total,) = multiply(device, reference, recoding, scalars)
    assert total == product(reference, scalars)
    assert device.report.race_count == 0


def test_multiples_are_doubled_points(reference: Reference) -> None:
    points = some_points(reference, 10)
    encoded, device = reference.encode(points), Simulated()
    out = device.reserve(encoded.nbytes)
    module = modules.sums(reference.curve, reference.group)
    device.run([launch(module, "double_points", 1, device.upload(encoded), len(points), 3, out)])
    assert reference.decode(device.download(out, encoded)) == [reference.multiply(p, 8) for p in points]
    assert device.report.race_count == 0


def is_barrier(line: str) -> bool:
    return line.startswith("bar.sync")


@pytest.mark.parametrize("number", [0, 1, 2])
def test_a_barrier_left_out_of_the_exclusive_sums_is_noticed(number: int) -> None:
    module = modules.digits()
    device = Simulated(changed={module.name: without_line(device_code.ptx_text(module), is_barrier, number)})
    try:
        sort_digits(device, Recoding(BITS, 10), edge_scalars(BN254, 20))
    except Fault as fault:
        assert "before it is written" in str(fault)  # noqa: PT017 - either of two outcomes is right
    else:
        assert device.report.race_count > 0
