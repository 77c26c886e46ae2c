"""The device's transforms, quotient and constraints, their own text run on the CPU."""

import mmap
from dataclasses import dataclass
from random import Random

import numpy as np
import pytest

from kernels import constraints, modules, polynomial_launches
from kernels.curves import BLS12_381, Curve
from kernels.launches import Launch, launch
from kernels.polynomial_launches import Domain, Matrices, PassFlag
from kernels.quotient import QuotientBasis, quotient_scalars
from tests.support import shim
from tests.unit.kernels.reference import Words, integers, montgomery, plain, transform, words

ORDERS = [0, 1, 5]  # of the threads
MAP_NORESERVE = 0x4000  # of Linux; the mmap module names it from Python 3.13 on


def address(array: np.ndarray) -> int:
    assert array.ctypes.data % 16 == 0
    return int(array.ctypes.data)


def empty(count: int) -> Words:
    return np.full((count, 4), 0xA5A5A5A5A5A5A5A5, dtype=np.uint64)


@dataclass(frozen=True)
class Tables:
    """A domain's tables in host memory, made by the kernels themselves."""

    domain: Domain
    kept: tuple[Words, ...]


def tables(curve: Curve, log_n: int) -> Tables:
    module = modules.polynomials(curve)
    roots = polynomial_launches.roots(curve, log_n)
    powers = [
        f(curve, log_n) for f in (polynomial_launches.coset_powers, polynomial_launches.coefficient_powers)
    ]
    table, *scales = (empty(1 << log_n) for _ in range(3))
    steps = [polynomial_launches.make_twiddles(module, address(roots), log_n, address(table))]
    for source, out in zip(powers, scales, strict=True):
        steps.append(polynomial_launches.make_scales(module, address(source), log_n, address(out)))
    shim.run_launches(steps)
    return Tables(Domain(log_n, address(table), *map(address, scales)), (table, *scales))


def random_values(curve: Curve, count: int, seed: int) -> list[int]:
    random = Random(seed)
    values = [random.randrange(curve.r) for _ in range(count)]
    values[: min(3, count)] = [0, curve.r - 1, 1][: min(3, count)]
    return values


def test_tables_hold_the_powers_of_the_roots(curve: Curve) -> None:
    log_n = 6
    made = tables(curve, log_n)
    table, coset, _ = made.kept
    powers = plain(table, curve.r)
    for stage in range(log_n):
        m, root = 1 << stage, curve.root_of_unity(stage + 1)
        assert powers[m : 2 * m] == [pow(root, j, curve.r) for j in range(m)]
    over_n, shift = pow(64, -1, curve.r), curve.coset_shift(log_n)
    order = [int(f"{p:06b}"[::-1], 2) for p in range(64)]
    assert plain(coset, curve.r) == [over_n * pow(shift, i, curve.r) % curve.r for i in order]


@pytest.mark.parametrize("log_n", [0, 1, 2, 3, 5, 8, 10, 11])
def test_forward_transform_evaluates_the_polynomial(curve: Curve, log_n: int) -> None:
    values = random_values(curve, 1 << log_n, seed=log_n)
    made = tables(curve, log_n)
    source, target = montgomery(values, curve.r), empty(1 << log_n)
    where = {"source": address(source), "target": address(target), "table": made.domain.table}
    shim.run_launches(polynomial_launches.forward(modules.polynomials(curve), log_n, **where))
    assert plain(target, curve.r) == transform(values, curve.root_of_unity(log_n), curve.r)


@pytest.mark.parametrize("log_n", [0, 1, 4, 7, 11])
def test_inverse_transform_is_the_way_back(curve: Curve, log_n: int) -> None:
    module, n = modules.polynomials(curve), 1 << log_n
    values = random_values(curve, n, seed=log_n)
    made = tables(curve, log_n)
    over_n = polynomial_launches.scale_powers(curve, log_n, 1, pow(n, -1, curve.r))
    scales, target = empty(n), empty(n)
    source = montgomery(transform(values, curve.root_of_unity(log_n), curve.r), curve.r)
    where = {"source": address(source), "target": address(target), "table": made.domain.table}
    shim.run_launches([polynomial_launches.make_scales(module, address(over_n), log_n, address(scales))])
    shim.run_launches(polynomial_launches.inverse(module, log_n, scales=address(scales), **where))
    assert plain(target, curve.r) == values


def small_tiles(monkeypatch: pytest.MonkeyPatch, tile_bits: int) -> None:
    """Passes as a large domain has them, at a size that Python can check."""
    whole = polynomial_launches.passes
    monkeypatch.setattr(polynomial_launches, "passes", lambda log_n: whole(log_n, tile_bits))


@pytest.mark.parametrize("tile_bits", [2, 3, 4, 5])
@pytest.mark.parametrize("order", ORDERS)
def test_many_passes_give_what_one_gives(
    curve: Curve, tile_bits: int, order: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    small_tiles(monkeypatch, tile_bits)
    log_n = 7
    values = random_values(curve, 1 << log_n, seed=tile_bits)
    made = tables(curve, log_n)
    source, target = montgomery(values, curve.r), empty(1 << log_n)
    where = {"source": address(source), "target": address(target), "table": made.domain.table}
    steps = polynomial_launches.forward(modules.polynomials(curve), log_n, **where)
    shim.run_launches(steps, order)
    assert plain(target, curve.r) == transform(values, curve.root_of_unity(log_n), curve.r)


def evaluations(curve: Curve, log_n: int) -> tuple[Words, Words]:
    return tuple(montgomery(random_values(curve, 1 << log_n, seed), curve.r) for seed in (21, 22))


@pytest.mark.parametrize("basis", list(QuotientBasis))
@pytest.mark.parametrize(("log_n", "tile_bits"), [(0, 10), (1, 10), (4, 10), (6, 3), (11, 10)])
def test_quotient_is_that_of_the_host(
    curve: Curve, basis: QuotientBasis, log_n: int, tile_bits: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    small_tiles(monkeypatch, tile_bits)
    n = 1 << log_n
    a, b = evaluations(curve, log_n)
    made = tables(curve, log_n)
    values = np.concatenate([a, b, empty(n)])
    module, where = modules.polynomials(curve), {"values": address(values)}
    if basis is QuotientBasis.ODD_COSET:
        shim.run_launches(polynomial_launches.quotient_values(module, made.domain, **where))
        got = values[:n]
    else:
        shim.run_launches(polynomial_launches.quotient_coefficients(module, made.domain, **where))
        got = values[n : 2 * n - 1]
        assert not values[2 * n - 1].any()
    assert np.array_equal(got, quotient_scalars(basis, curve, a.copy(), b.copy(), log_n))


def test_the_widest_domain_has_its_own_shift(curve: Curve) -> None:
    log_n = curve.two_adicity
    powers = plain(polynomial_launches.scale_powers(curve, log_n, curve.coset_shift(log_n), 7), curve.r)
    assert powers[:2] == [curve.fr_generator**2, curve.fr_generator**4]
    assert powers[log_n] == 7
    assert pow(powers[log_n - 1], 2, curve.r) != 1


@pytest.mark.parametrize("log_n", range(33))
def test_passes_cover_every_index_bit_once(log_n: int) -> None:
    parts = polynomial_launches.passes(log_n)
    assert [bit for part in parts for bit in range(part.low, part.low + part.bits)] == list(range(log_n))
    for part in parts:
        assert part.bits + part.column_bits <= min(10, log_n)
    assert len(parts) == max(1, -(-log_n // 10))


def test_positions_of_the_largest_domain_keep_all_their_bits() -> None:
    parts = polynomial_launches.passes(32)
    steps: list[Launch] = list(
        polynomial_launches.move_to_coset(
            modules.polynomials(BLS12_381), 32, values=0, batch=3, table=0, scales=0
        )
    )
    assert len(steps) == 2 * len(parts) - 1
    for step in steps:
        assert step.grid[0] * (step.shared_bytes // 32) == 1 << 32
        assert step.grid[0] < 1 << 31


def sparse(elements: int) -> Words:
    """Zeros that take memory only where they are written."""
    private = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | MAP_NORESERVE
    pages = mmap.mmap(-1, 32 * elements, flags=private)
    pages.madvise(mmap.MADV_NOHUGEPAGE)
    return np.frombuffer(pages, dtype=np.uint64).reshape(-1, 4)


def test_the_highest_pass_of_the_largest_domain_reaches_its_last_element() -> None:
    """Rows of the first column, 2^24 elements apart: for them the pass is a transform of 2^8 elements."""
    curve, log_n, stride = BLS12_381, 32, 1 << 24
    part = polynomial_launches.passes(log_n)[-1]
    assert (part.low, part.bits, part.column_bits) == (24, 8, 2)
    values, table = sparse(1 << log_n), sparse(1 << log_n)
    rows = random_values(curve, 1 << 8, seed=8)
    order = [int(f"{row:08b}"[::-1], 2) for row in range(1 << 8)]
    values[::stride] = montgomery([rows[i] for i in order], curve.r)
    for stage in range(8):
        m, root = stride << stage, curve.root_of_unity(stage + 1)
        powers = [pow(root, j, curve.r) for j in range(1 << stage)]
        table[m : 2 * m : stride] = montgomery(powers, curve.r)
    step = polynomial_launches.transform_pass(
        modules.polynomials(curve),
        log_n,
        part,
        PassFlag.ASCEND,
        source=address(values),
        target=address(values),
        table=address(table),
    )
    shim.unit(step.module).launch(step.kernel, (1, 1, 1), step.shared_bytes, step.arguments)
    assert plain(values[::stride], curve.r) == transform(rows, curve.root_of_unity(8), curve.r)


@dataclass(frozen=True)
class System:
    """A constraint system as section 4 of a zkey has it, and as compressed rows."""

    section: bytes
    row_starts: np.ndarray
    terms: np.ndarray
    coefficients: Words


def system(curve: Curve, rows: list[list[tuple[int, int]]]) -> System:
    """`rows` are A's and then B's, each a list of (wire, coefficient)."""
    domain = len(rows) // 2
    distinct = sorted({coefficient for row in rows for _, coefficient in row})
    squared = {c: c * pow(1 << 256, 2, curve.r) % curve.r for c in distinct}
    records = [
        np.array([index // domain, index % domain, wire], dtype="<u4").tobytes()
        + squared[coefficient].to_bytes(32, "little")
        for index, row in enumerate(rows)
        for wire, coefficient in row
    ]
    starts = np.cumsum([0] + [len(row) for row in rows]).astype(np.uint64)
    terms = [(wire, distinct.index(c)) for row in rows for wire, c in row]
    return System(
        len(records).to_bytes(4, "little") + b"".join(records),
        starts,
        np.array(terms, dtype=np.uint32).reshape(-1, 2),
        words([squared[c] for c in distinct]),
    )


def test_rows_short_and_long_are_those_of_the_host(curve: Curve) -> None:
    random, domain, wires = Random(3), 64, 300
    lengths = [0, 1, 2, 5, 32, 33, 128, 129, 299] + [random.randrange(4) for _ in range(2 * domain - 9)]
    random.shuffle(lengths)
    choices = [1, curve.r - 1, 2, random.randrange(curve.r)]
    rows = [[(random.randrange(wires), random.choice(choices)) for _ in range(length)] for length in lengths]
    made = system(curve, rows)
    witness = words(random_values(curve, wires, seed=4))
    long_rows = np.array([i for i, length in enumerate(lengths) if length > 32], dtype=np.uint32)
    matrices = Matrices(
        2 * domain,
        address(made.row_starts),
        address(made.terms),
        address(made.coefficients),
        32,
        address(long_rows),
        len(long_rows),
    )
    for order in ORDERS:
        values = empty(2 * domain)
        steps = polynomial_launches.evaluate(
            modules.polynomials(curve), matrices, witness=address(witness), values=address(values)
        )
        shim.run_launches(steps, order)
        a, b = constraints.evaluate(curve, made.section, witness, domain)
        assert np.array_equal(values, np.concatenate([a, b]))


def test_products_are_pointwise(curve: Curve) -> None:
    xs, ys = random_values(curve, 300, 1), random_values(curve, 300, 2)
    a, b, out = montgomery(xs, curve.r), montgomery(ys, curve.r), empty(300)
    step = launch(
        modules.polynomials(curve), "multiply_pointwise", 2, address(a), address(b), 300, address(out)
    )
    shim.run_launches([step])
    assert plain(out, curve.r) == [x * y % curve.r for x, y in zip(xs, ys, strict=True)]
    assert integers(out)[0] == 0
