"""The kernels on plain memory, for one proof of one process: importing numpy takes longer than a small proof.

Memory is anonymous and of whole words. Points are affine Montgomery words, scalars four plain words, as in
the modules for arrays; nothing here checks sizes beyond what the native library does.
"""

import ctypes
import mmap

from kernels.curves import Curve, Group
from kernels.library import call, thread_count

WORD_BYTES = 8
SCALAR_BYTES = 32
FROM_MONTGOMERY = 5  # operation of cuzk_field_apply


class Memory:
    """Zeroed memory that is handed to the system again by `close`."""

    def __init__(self, size: int) -> None:
        self.size = size
        self._pages = mmap.mmap(-1, max(size, 1))
        if size >= 1 << 21 and hasattr(mmap, "MADV_HUGEPAGE"):
            self._pages.madvise(mmap.MADV_HUGEPAGE)
        self._view = ctypes.c_char.from_buffer(self._pages)
        self.address = ctypes.addressof(self._view)

    def fill(self, content: bytes | memoryview, at: int = 0) -> "Memory":
        """Copy `content` to offset `at`."""
        self._pages[at : at + len(content)] = content
        return self

    def read(self, start: int, size: int) -> bytes:
        """A copy of a part."""
        return self._pages[start : start + size]

    def close(self) -> None:
        """Give the memory back; the address is not valid afterwards."""
        del self._view
        self._pages.close()


def memory_of(*parts: bytes) -> Memory:
    """Memory with the parts one after the other."""
    content = b"".join(parts)
    return Memory(len(content)).fill(content)


def first_not_canonical(curve: Curve, scalars: int, count: int) -> int:
    """The index of the first scalar that is not below r, or `count`."""
    bad = ctypes.c_size_t()
    call("cuzk_field_check", curve.index, 1, scalars, count, ctypes.byref(bad))
    return bad.value


def evaluate(
    curve: Curve, *, records: int, count: int, witness: int, wires: int, log_domain: int, threads: int
) -> tuple[Memory, Memory]:
    """The values of A and B on the domain; see `kernels.constraints.evaluate`. Raises ValueError."""
    domain = 1 << log_domain
    a, b = Memory(SCALAR_BYTES * domain), Memory(SCALAR_BYTES * domain)
    bad = ctypes.c_size_t()
    sources = (records, count, witness, wires, domain)
    results = (a.address, b.address, thread_count(threads), ctypes.byref(bad))
    call("cuzk_constraints_evaluate", curve.index, *sources, *results)
    if bad.value != count:
        raise ValueError(f"coefficient {bad.value} points outside")
    return a, b


def quotient(curve: Curve, a: Memory, b: Memory, log_domain: int, threads: int) -> Memory:
    """The scalars of the H query; a and b are given back. See `kernels.ntt.quotient`."""
    h = Memory(SCALAR_BYTES << log_domain)
    operands = (a.address, b.address, log_domain, h.address)
    call("cuzk_quotient", curve.index, *operands, thread_count(threads))
    a.close()
    b.close()
    return h


def add_up(
    curve: Curve, sources: list[tuple[Group, int]], scalars: int, count: int, threads: int = 1
) -> list[bytes]:
    """For each (group, address of points): the sum of scalars[i] points[i], one affine point."""
    outs = [Memory(curve.point_bytes(group)) for group, _ in sources]
    size = len(sources)
    groups = (ctypes.c_int * size)(*(int(group) for group, _ in sources))
    points = (ctypes.c_void_p * size)(*(points for _, points in sources))
    results = (ctypes.c_void_p * size)(*(out.address for out in outs))
    arrays = (groups, points, results, size)
    call("cuzk_add_up", curve.index, *arrays, scalars, count, thread_count(threads))
    return [out.read(0, out.size) for out in outs]


def combine(curve: Curve, group: Group, terms: list[tuple[bytes, int]]) -> bytes:
    """The sum of scalar * point over a few terms."""
    points = memory_of(*(point for point, _ in terms))
    scalars = memory_of(*(scalar.to_bytes(SCALAR_BYTES, "little") for _, scalar in terms))
    return add_up(curve, [(group, points.address)], scalars.address, len(terms))[0]


def negate(curve: Curve, group: Group, point: bytes) -> bytes:
    """The negative of a point."""
    source, out = memory_of(point), Memory(len(point))
    call("cuzk_points_negate", curve.index, int(group), source.address, 1, out.address)
    return out.read(0, out.size)


def coordinates(curve: Curve, point: bytes) -> list[int]:
    """The coordinates of a point as plain integers: two, or four in G2; all zero at infinity."""
    width = WORD_BYTES * curve.fq_words
    count = len(point) // width
    source, out = memory_of(point), Memory(len(point))
    operands = (source.address, None, count, out.address)
    call("cuzk_field_apply", curve.index, 0, FROM_MONTGOMERY, *operands)
    return [int.from_bytes(out.read(i * width, width), "little") for i in range(count)]


def pairing_product_is_one(curve: Curve, g1: list[bytes], g2: list[bytes]) -> bool:
    """Whether the product of the pairings is one; also False where a point is not in its group."""
    left, right = memory_of(*g1), memory_of(*g2)
    out = Memory(12 * WORD_BYTES * curve.fq_words)
    is_one, bad = ctypes.c_int(), ctypes.c_size_t()
    results = (out.address, ctypes.byref(is_one), ctypes.byref(bad))
    call("cuzk_pairing_product", curve.index, left.address, right.address, len(g1), *results)
    return bad.value == len(g1) and bool(is_one.value)
