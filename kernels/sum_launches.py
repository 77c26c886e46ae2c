"""What the device launches for a multi-scalar multiplication; see kernels/csrc/cuda/README.md."""

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from kernels import modules
from kernels.launches import NO_ADDRESS, Launch, ceil_div, launch
from kernels.modules import Module


@dataclass(frozen=True, slots=True)
class Recoding:
    """Signed digits of c bits for scalars below 2^bits; `multiples` of every point spare that many sets."""

    bits: int
    width: int
    multiples: int = 1

    @property
    def windows(self) -> int:
        """Digits of a scalar."""
        return self.bits // self.width + 1

    @property
    def sets(self) -> int:
        """Sets of buckets: windows that no multiple takes over."""
        return ceil_div(self.windows, self.multiples)

    @property
    def buckets(self) -> int:
        """Buckets of one set."""
        return 1 << (self.width - 1)

    @property
    def doublings(self) -> int:
        """What `double_points` takes from one multiple of the points to the next."""
        return self.width * self.sets

    def packed(self) -> bytes:
        """The structure that the digit kernels read, 48 bytes."""
        offset = sum(1 << (self.width * k + self.width - 1) for k in range(self.windows))
        return struct.pack("<ii", self.width, self.windows) + offset.to_bytes(40, "little")


def choose_width(count: int, bits: int, multiples: int = 1, widest: int = 20) -> int:
    """The digit width with the fewest multiplications: ten in a mixed addition, fourteen in a full one.

    A bucket costs two full additions, and as much again in what the reduction leaves idle.
    """

    def cost(width: int) -> int:
        recoding = Recoding(bits, width, multiples)
        return 10 * recoding.windows * count + 4 * 14 * recoding.sets * recoding.buckets

    return min(range(2, widest + 1), key=cost)


SCAN_TILE = 2048
SCAN_SHARED = 4 * 256  # a word for each thread of a block


@dataclass(frozen=True, slots=True)
class Sorting:
    """Room for sorting the digits of up to `count` scalars: addresses of arrays of the sizes below.

    `counts` must be zero before each sort.
    """

    recoding: Recoding
    recoding_at: int
    counts: int
    totals: int
    entries: int

    @staticmethod
    def counts_bytes(recoding: Recoding) -> int:
        """Bytes of `counts`."""
        return 4 * (recoding.sets * recoding.buckets + 1)

    @staticmethod
    def totals_bytes(recoding: Recoding) -> int:
        """Bytes of `totals`."""
        return 4 * ceil_div(recoding.sets * recoding.buckets + 1, SCAN_TILE)

    @staticmethod
    def entries_bytes(recoding: Recoding, count: int) -> int:
        """Bytes of `entries`."""
        return modules.ENTRY_BYTES * recoding.windows * count

    @property
    def total(self) -> int:
        """Where the number of entries is, after the sort."""
        return self.counts + 4 * self.recoding.sets * self.recoding.buckets


def sort_digits(
    sorting: Sorting, *, scalars: int, count: int, stride: int, selection: int = NO_ADDRESS
) -> Iterator[Launch]:
    """Entries sorted by bucket; `stride` is the number of points between one multiple and the next."""
    module, recoding = modules.digits(), sorting.recoding
    size = recoding.sets * recoding.buckets + 1
    tiles = ceil_div(size, SCAN_TILE)
    blocks = (ceil_div(count, 256), recoding.windows)
    of = (scalars, selection, count, sorting.recoding_at, recoding.sets)
    yield launch(module, "count_digits", blocks, *of, sorting.counts)
    yield launch(module, "scan_tiles", tiles, sorting.counts, size, sorting.totals, shared_bytes=SCAN_SHARED)
    yield launch(module, "scan_totals", 1, sorting.totals, tiles, shared_bytes=SCAN_SHARED)
    yield launch(module, "add_totals", tiles, sorting.counts, size, sorting.totals)
    yield launch(module, "scatter_digits", blocks, *of, stride, sorting.counts, sorting.entries)


PARTIAL_SPAN = 8


@dataclass(frozen=True, slots=True)
class Adding:
    """Room for the sums of one group: addresses of arrays of the sizes below, and how many threads add up.

    `buckets` must be zero before the first chunk of points. `threads` is a multiple of 128.
    """

    module: Module
    recoding: Recoding
    sum_bytes: int
    threads: int
    buckets: int
    partials: int  # threads, then ceil(threads / PARTIAL_SPAN) sums
    partial_buckets: int  # u32, as many
    pairs: int
    sums: int

    @staticmethod
    def buckets_bytes(recoding: Recoding, sum_bytes: int) -> int:
        """Bytes of `buckets`."""
        return recoding.sets * recoding.buckets * sum_bytes

    @staticmethod
    def partial_count(threads: int) -> int:
        """Sums in `partials` and words in `partial_buckets`."""
        return threads + ceil_div(threads, PARTIAL_SPAN)

    @staticmethod
    def pairs_bytes(recoding: Recoding, sum_bytes: int) -> int:
        """Bytes of `pairs`."""
        counts = pair_counts(recoding)
        return 2 * sum_bytes * recoding.sets * (counts[0] + (counts[1] if len(counts) > 1 else 0))

    @staticmethod
    def sums_bytes(recoding: Recoding, sum_bytes: int) -> int:
        """Bytes of `sums`: one for each set, the lowest first."""
        return recoding.sets * sum_bytes


FINISH_BITS = 7
FIRST_SPAN_BITS = 5
MERGE_SPAN_BITS = 3


def pair_counts(recoding: Recoding) -> list[int]:
    """Pairs of one set after the reduction and after each merge."""
    bits = recoding.width - 1
    left = bits - min(FIRST_SPAN_BITS, bits)
    counts = [1 << left]
    while left > FINISH_BITS:
        left -= min(MERGE_SPAN_BITS, left - FINISH_BITS)
        counts.append(1 << left)
    return counts


def add_entries(
    adding: Adding, *, points: int, entries: int, total: int, least_span: int = 16
) -> Iterator[Launch]:
    """Add the points of sorted entries into the buckets. `total` is the address of the number of entries."""
    module, count = adding.module, adding.threads
    near = (adding.partials, adding.partial_buckets)
    far = (adding.partials + count * adding.sum_bytes, adding.partial_buckets + 4 * count)
    where = (points, entries, total, least_span, adding.buckets)
    yield launch(module, "accumulate_entries", ceil_div(count, 128), *where, *near)
    while count > 1:
        threads = ceil_div(count, PARTIAL_SPAN)
        arguments = (*near, count, PARTIAL_SPAN, adding.buckets, *far)
        yield launch(module, "accumulate_partials", ceil_div(threads, 128), *arguments)
        near, far, count = far, near, threads


def reduce_buckets(adding: Adding) -> Iterator[Launch]:
    """The sum of each set, sum of i bucket_i, into `sums`."""
    module, recoding = adding.module, adding.recoding
    counts = pair_counts(recoding)
    near, far = adding.pairs, adding.pairs + 2 * adding.sum_bytes * recoding.sets * counts[0]
    log_size = (recoding.buckets // counts[0]).bit_length() - 1
    outputs = recoding.sets * counts[0]
    yield launch(module, "reduce_buckets", ceil_div(outputs, 128), adding.buckets, outputs, log_size, near)
    for before, after in pairwise(counts):
        log_span, outputs = (before // after).bit_length() - 1, recoding.sets * after
        merge = (near, outputs, log_span, log_size, far)
        yield launch(module, "merge_pairs", ceil_div(outputs, 128), *merge)
        near, far, log_size = far, near, log_size + log_span
    arguments = (near, counts[-1], log_size, adding.sums)
    yield launch(module, "finish_sets", recoding.sets, *arguments, shared_bytes=128 * adding.sum_bytes)


def double_points(module: Module, *, points: int, count: int, recoding: Recoding, out: int) -> Launch:
    """The next multiple of every point, affine."""
    return launch(module, "double_points", ceil_div(count, 512), points, count, recoding.doublings, out)
