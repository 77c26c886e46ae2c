"""The device's multi-scalar multiplication, its text run on the CPU, against py_ecc and the host library."""

from dataclasses import dataclass, replace
from itertools import pairwise
from random import Random

import numpy as np
import pytest

from kernels import modules, sum_launches
from kernels.curves import Curve, Group
from kernels.launches import launch
from kernels.msm import msm
from kernels.sum_launches import Adding, Recoding, Sorting
from kernels.windows import combine
from tests.support import shim
from tests.unit.kernels.reference import Reference, Words, integers, multiples, words

ORDERS = [0, 1, 5]  # of the threads


def bytes_of(count: int) -> np.ndarray:
    """Garbage, aligned as device memory is."""
    return np.full(-(-count // 16) * 2, 0xA5A5A5A5A5A5A5A5, dtype=np.uint64)


def zeros(count: int) -> np.ndarray:
    return np.zeros(-(-count // 16) * 2, dtype=np.uint64)


def address(array: np.ndarray) -> int:
    assert array.ctypes.data % 16 == 0
    return int(array.ctypes.data)


def known_points(curve: Curve, group: Group, count: int) -> Words:
    """1 G, 2 G, .. count G."""
    return multiples(curve, group, 70)[1][:count].copy()


@dataclass
class Room:
    """All arrays of one multiplication, in host memory."""

    sorting: Sorting
    adding: Adding
    kept: dict[str, np.ndarray]

    def zero(self, name: str) -> None:
        self.kept[name][:] = 0


def room(curve: Curve, group: Group, recoding: Recoding, count: int, threads: int = 256) -> Room:
    size = modules.sum_bytes(curve, group)
    kept = {
        "recoding": np.frombuffer(recoding.packed(), dtype=np.uint64).copy(),
        "counts": zeros(Sorting.counts_bytes(recoding)),
        "totals": bytes_of(Sorting.totals_bytes(recoding)),
        "entries": bytes_of(Sorting.entries_bytes(recoding, count)),
        "buckets": zeros(Adding.buckets_bytes(recoding, size)),
        "partials": bytes_of(size * Adding.partial_count(threads)),
        "partial_buckets": bytes_of(4 * Adding.partial_count(threads)),
        "pairs": bytes_of(Adding.pairs_bytes(recoding, size)),
        "sums": bytes_of(Adding.sums_bytes(recoding, size)),
    }
    at = {name: address(array) for name, array in kept.items()}
    sorting = Sorting(recoding, at["recoding"], at["counts"], at["totals"], at["entries"])
    inner = (at["buckets"], at["partials"], at["partial_buckets"], at["pairs"], at["sums"])
    adding = Adding(modules.sums(curve, group), recoding, size, threads, *inner)
    return Room(sorting, adding, kept)


def device_msm(
    curve: Curve,
    group: Group,
    points: Words,
    scalars: Words,
    recoding: Recoding,
    *,
    order: int = 0,
    least_span: int = 2,
    chunks: int = 1,
    threads: int = 256,
) -> Words:
    """Sort, add, reduce and combine, with the kernels that a device runs."""
    count = len(scalars)
    here = room(curve, group, recoding, count, threads)
    table = [points]
    for _ in range(recoding.multiples - 1):
        out = np.empty_like(points)
        where = {"points": address(table[-1]), "out": address(out)}
        step = sum_launches.double_points(here.adding.module, count=len(points), recoding=recoding, **where)
        shim.run_launches([step], order)
        table.append(out)
    whole = np.concatenate(table)
    for begin, end in pairwise(np.linspace(0, count, chunks + 1, dtype=int).tolist()):
        here.zero("counts")
        part = scalars[begin:end].copy()
        where = {"scalars": address(part), "count": end - begin, "stride": len(points)}
        shim.run_launches(sum_launches.sort_digits(here.sorting, **where), order)
        where = {"points": address(whole) + begin * points.strides[0], "least_span": least_span}
        total = {"entries": here.sorting.entries, "total": here.sorting.total}
        shim.run_launches(sum_launches.add_entries(here.adding, **where, **total), order)
    shim.run_launches(sum_launches.reduce_buckets(here.adding), order)
    size = Adding.sums_bytes(recoding, here.adding.sum_bytes) // 8
    sums = here.kept["sums"][:size].reshape(recoding.sets, -1)
    return combine(curve, group, sums, recoding.width)


SPECIAL = ["zeros", "ones", "mostly bits", "all equal", "below the order", "small", "random"]


def special_scalars(kind: str, r: int, count: int) -> list[int]:
    random = Random(kind)
    return {
        "zeros": [0] * count,
        "ones": [1] * count,
        "mostly bits": [random.choice([0, 0, 1, 1, 1, r - 2]) for _ in range(count)],
        "all equal": [random.randrange(r)] * count,
        "below the order": [r - 1 - i % 3 for i in range(count)],
        "small": [random.randrange(1000) for _ in range(count)],
        "random": [random.randrange(r) for _ in range(count)],
    }[kind]


@pytest.mark.parametrize("kind", SPECIAL)
def test_sums_of_every_kind_of_scalars(curve: Curve, group: Group, kind: str) -> None:
    count = 70
    points = known_points(curve, group, count)
    values = special_scalars(kind, curve.r, count)
    got = device_msm(curve, group, points, words(values), Recoding(curve.r.bit_length(), 5))
    reference = Reference(curve, group)
    total = sum(k * value for k, value in enumerate(values, 1)) % curve.r
    wanted = reference.multiply(reference.generator, total) if total else None
    assert reference.decode(got) == [wanted]


@pytest.mark.parametrize("order", ORDERS)
def test_equal_opposite_and_missing_points_meet_in_one_bucket(curve: Curve, group: Group, order: int) -> None:
    reference = Reference(curve, group)
    g, g2 = multiples(curve, group, 70)[0][:2]
    minus = reference.negate(g)
    points = [g, g, None, minus, g, g2, g2, minus, None, reference.negate(g2), g, g]
    for values, wanted in (
        ([3] * 12, reference.multiply(g, 3 * (1 + 1 - 1 + 1 + 2 + 2 - 1 - 2 + 1 + 1))),
        ([7, 7, 7, 7] + [0] * 8, reference.multiply(g, 7)),
        ([1, 0, 0, 1] + [0] * 8, None),
        ([0, 0, 5] + [0] * 9, None),
        ([curve.r - 1, 1] + [0] * 10, None),
    ):
        encoded = reference.encode(points)
        got = device_msm(curve, group, encoded, words(values), Recoding(255, 4), order=order, least_span=3)
        assert reference.decode(got) == [wanted], values


@pytest.mark.parametrize(("multiples_kept", "chunks"), [(1, 3), (2, 1), (64, 1), (5, 2)])
def test_multiples_and_chunks_change_nothing(
    curve: Curve, group: Group, multiples_kept: int, chunks: int
) -> None:
    count = 21
    points = known_points(curve, group, count)
    points[4] = 0
    scalars = words(special_scalars("random", curve.r, count))
    recoding = Recoding(curve.r.bit_length(), 6, multiples_kept)
    got = device_msm(curve, group, points, scalars, recoding, chunks=chunks)
    assert np.array_equal(got, msm(curve, group, points, scalars))


@pytest.mark.parametrize(("width", "kept"), [(2, 2), (3, 4), (8, 9), (13, 64), (16, 64)])
def test_every_width_gives_the_same_sum(curve: Curve, width: int, kept: int) -> None:
    count = 9
    points = known_points(curve, Group.G1, count)
    scalars = words(special_scalars("random", curve.r, count))
    recoding = Recoding(curve.r.bit_length(), width, kept)
    got = device_msm(curve, Group.G1, points, scalars, recoding, threads=128)
    assert np.array_equal(got, msm(curve, Group.G1, points, scalars))


@pytest.mark.parametrize("order", ORDERS)
def test_one_long_bucket_is_shared_by_all_threads(curve: Curve, order: int) -> None:
    """A thousand equal scalars: one bucket a window, over many threads and every level of partial sums."""
    count = 1000
    points = known_points(curve, Group.G1, 50)
    points = np.tile(points, (count // 50, 1))
    scalars = words([0x1234567] * count)
    recoding = Recoding(28, 14)
    got = device_msm(curve, Group.G1, points, scalars, recoding, order=order, least_span=1, threads=1024)
    assert np.array_equal(got, msm(curve, Group.G1, points, scalars))


def sorted_entries(curve: Curve, recoding: Recoding, scalars: Words, **options: int) -> np.ndarray:
    here = room(curve, Group.G1, recoding, options.get("count", len(scalars)))
    order = options.pop("order", 0)
    where = {"scalars": address(scalars), "count": len(scalars), "stride": len(scalars)} | options
    shim.run_launches(sum_launches.sort_digits(here.sorting, **where), order)
    total = int(here.kept["counts"].view(np.uint32)[recoding.sets * recoding.buckets])
    return here.kept["entries"].view(np.uint32).reshape(-1, 2)[:total]


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("multiples_kept", [1, 4])
def test_entries_are_sorted_and_make_up_the_scalars(curve: Curve, order: int, multiples_kept: int) -> None:
    count, width = 300, 7
    values = special_scalars("random", curve.r, count)
    values[:40] = [0, 1, curve.r - 1, 5] * 10
    recoding = Recoding(curve.r.bit_length(), width, multiples_kept)
    entries = sorted_entries(curve, recoding, words(values), order=order)
    assert (np.diff(entries[:, 0].astype(np.int64)) >= 0).all()
    sums = [0] * count
    for bucket, point in entries.tolist():
        window_set, digit = divmod(bucket, recoding.buckets)
        multiple, index = divmod(point & 0x7FFFFFFF, count)
        sign = -1 if point >> 31 else 1
        sums[index] += sign * (digit + 1) << (width * (window_set + multiple * recoding.sets))
    assert sums == values


def test_a_selection_names_the_scalars(curve: Curve) -> None:
    values = special_scalars("random", curve.r, 50)
    chosen = np.array([3, 1, 49, 7], dtype=np.uint32)
    recoding = Recoding(curve.r.bit_length(), 9)
    entries = sorted_entries(curve, recoding, words(values), selection=address(chosen), count=4)
    wanted = sorted_entries(curve, recoding, words([values[i] for i in chosen]))
    assert sorted(map(tuple, entries.tolist())) == sorted(map(tuple, wanted.tolist()))


@pytest.mark.parametrize("count", [1, 2047, 2048, 2049, 70_000])
def test_scans_are_exclusive_sums(count: int) -> None:
    values = np.random.default_rng(count).integers(0, 5, count, dtype=np.uint32)
    wanted = np.cumsum(values) - values
    tiles = -(-count // 2048)
    totals, module = bytes_of(4 * tiles), modules.digits()
    here = np.concatenate([values, np.zeros(-count % 4, dtype=np.uint32)])
    shim.run_launches(
        [
            launch(module, "scan_tiles", tiles, address(here), count, address(totals), shared_bytes=1024),
            launch(module, "scan_totals", 1, address(totals), tiles, shared_bytes=1024),
            launch(module, "add_totals", tiles, address(here), count, address(totals)),
        ],
        order=3,
    )
    assert np.array_equal(here[:count], wanted)


def test_doubling_points_keeps_infinity_and_gives_affine_points(curve: Curve, group: Group) -> None:
    reference = Reference(curve, group)
    plain_points, points = multiples(curve, group, 70)[0][:7], known_points(curve, group, 7)
    points[2] = 0
    out = np.empty_like(points)
    recoding = Recoding(30, 3, 5)
    step = sum_launches.double_points(
        modules.sums(curve, group), points=address(points), count=7, recoding=recoding, out=address(out)
    )
    shim.run_launches([step])
    factor = 1 << recoding.doublings
    wanted = [None if i == 2 else reference.multiply(p, factor) for i, p in enumerate(plain_points)]
    assert reference.decode(out) == wanted


@pytest.mark.parametrize("bits", [254, 255])
def test_the_recoding_is_that_of_the_host(bits: int) -> None:
    for width in range(1, 25):
        recoding = Recoding(bits, width)
        assert len(recoding.packed()) == modules.RECODING_BYTES
        largest = (1 << bits) - 1
        carried = largest + sum(1 << (width * k + width - 1) for k in range(recoding.windows))
        assert carried < 1 << 320
        top = carried >> (width * (recoding.windows - 1))
        assert abs(top - (1 << (width - 1))) <= recoding.buckets
    assert replace(recoding, multiples=3).sets == -(-recoding.windows // 3)


def test_windows_are_weighted_by_their_place(curve: Curve, group: Group) -> None:
    reference = Reference(curve, group)
    g, points = reference.generator, known_points(curve, group, 3)
    width = curve.point_words(group)
    one = Reference(curve, Group.G1).encode([(1, 0)])[0][: curve.fq_words]
    unit = np.zeros(width // 2, dtype=np.uint64)
    unit[: curve.fq_words] = one
    sums = np.zeros((3, 2 * width), dtype=np.uint64)
    for k in (0, 2):
        sums[k] = np.concatenate([points[k], unit, unit])
    got = combine(curve, group, sums, 5)
    assert reference.decode(got) == [reference.multiply(g, 1 + 3 * (1 << 10))]
    assert integers(combine(curve, group, sums[:0], 5).reshape(1, -1)) == [0]
