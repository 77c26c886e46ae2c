"""The device's transforms and constraints as NVRTC compiles them, executed; a removed barrier is noticed."""

from random import Random

import numpy as np
import pytest

from kernels import modules, polynomial_launches
from kernels.curves import BN254, Curve
from kernels.launches import NO_ADDRESS, Launch
from kernels.polynomial_launches import Domain, Matrices
from kernels.quotient import QuotientBasis, quotient_scalars
from tests.support import device_code
from tests.support.ptx import Fault
from tests.support.simulated import Simulated, without_line
from tests.unit.kernels.reference import Words, montgomery, plain, transform, words

ELEMENT = 32


def random_values(curve: Curve, count: int, seed: int) -> list[int]:
    random = Random(seed)
    return [random.choice([0, 1, curve.r - 1, random.randrange(curve.r)]) for _ in range(count)]


def domain(device: Simulated, curve: Curve, log_n: int) -> Domain:
    """The tables of a domain, made on the device."""
    module = modules.polynomials(curve)
    powers = [
        make(curve, log_n)
        for make in (polynomial_launches.coset_powers, polynomial_launches.coefficient_powers)
    ]
    table, *scales = (device.reserve(ELEMENT << log_n) for _ in range(3))
    roots = device.upload(polynomial_launches.roots(curve, log_n))
    device.run([polynomial_launches.make_twiddles(module, roots, log_n, table)])
    for base, out in zip(powers, scales, strict=True):
        device.run([polynomial_launches.make_scales(module, device.upload(base), log_n, out)])
    return Domain(log_n, table, *scales)


def small_tiles(monkeypatch: pytest.MonkeyPatch, tile_bits: int) -> None:
    """Passes as a large domain has them, at a size that Python can check."""
    whole = polynomial_launches.passes
    monkeypatch.setattr(polynomial_launches, "passes", lambda log_n: whole(log_n, tile_bits))


def forward(device: Simulated, curve: Curve, values: list[int]) -> list[int]:
    log_n = len(values).bit_length() - 1
    source = montgomery(values, curve.r)
    target = device.reserve(source.nbytes)
    table = domain(device, curve, log_n).table
    where = {"source": device.upload(source), "target": target, "table": table}
    device.run(polynomial_launches.forward(modules.polynomials(curve), log_n, **where))
    return plain(device.download(target, source), curve.r)


@pytest.mark.parametrize(("log_n", "tile_bits"), [(0, 10), (6, 3), (9, 10)])
def test_forward_transform_evaluates_the_polynomial(
    curve: Curve, log_n: int, tile_bits: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    small_tiles(monkeypatch, tile_bits)
    values = random_values(curve, 1 << log_n, seed=log_n)
    device = Simulated(seed=log_n)
    assert forward(device, curve, values) == transform(values, curve.root_of_unity(log_n), curve.r)
    assert device.report.race_count == 0


@pytest.mark.parametrize("basis", list(QuotientBasis))
@pytest.mark.parametrize(("log_n", "tile_bits"), [(5, 3)])
def test_quotient_is_that_of_the_host(
    curve: Curve, basis: QuotientBasis, log_n: int, tile_bits: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    small_tiles(monkeypatch, tile_bits)
    n = 1 << log_n
    a, b = (montgomery(random_values(curve, n, seed), curve.r) for seed in (1, 2))
    device, module = Simulated(), modules.polynomials(curve)
    values = device.upload(np.concatenate([a, b, a]))
    tables = domain(device, curve, log_n)
    if basis is QuotientBasis.ODD_COSET:
        device.run(polynomial_launches.quotient_values(module, tables, values=values))
        got = device.download(values, a)
    else:
        device.run(polynomial_launches.quotient_coefficients(module, tables, values=values))
        got = device.download(values + ELEMENT * n, a[:-1])
    assert np.array_equal(got, quotient_scalars(basis, curve, a.copy(), b.copy(), log_n))
    assert device.report.race_count == 0


def evaluate(device: Simulated, curve: Curve, rows: list[list[tuple[int, int]]], witness: Words) -> list[int]:
    """The rows' values on the witness; rows of more than four terms go a block each."""
    squared = words([value * pow(1 << 256, 2, curve.r) % curve.r for row in rows for _, value in row])
    starts = np.cumsum([0, *(len(row) for row in rows)]).astype(np.uint64)
    wires = [wire for row in rows for wire, _ in row]
    terms = np.array([wires, range(len(wires))], np.uint32).T.copy()
    long_rows = np.array([i for i, row in enumerate(rows) if len(row) > 4], np.uint32)
    matrices = Matrices(
        len(rows),
        *(device.upload(array) for array in (starts, terms, squared)),
        longest=4,
        long_rows=device.upload(long_rows) if len(long_rows) else NO_ADDRESS,
        long_row_count=len(long_rows),
    )
    like = np.zeros((len(rows), 4), np.uint64)
    values = device.reserve(like.nbytes)
    where = {"witness": device.upload(witness), "values": values}
    device.run(polynomial_launches.evaluate(modules.polynomials(curve), matrices, **where))
    return plain(device.download(values, like), curve.r)


def test_rows_short_and_long_are_inner_products(curve: Curve) -> None:
    random = Random(9)
    witness = random_values(curve, 50, seed=3)
    lengths = [0, 1, 4, 5, 128, 131, *(random.randrange(5) for _ in range(130))]
    rows = [[(random.randrange(50), value) for value in random_values(curve, n, n)] for n in lengths]
    device = Simulated()
    got = evaluate(device, curve, rows, words(witness))
    assert got == [sum(witness[wire] * value for wire, value in row) % curve.r for row in rows]
    assert device.report.race_count == 0


def is_barrier(line: str) -> bool:
    return line.startswith("bar.sync")


def barriers(kernel: str) -> list[int]:
    """The numbers of a kernel's barriers among all of the module's."""
    entries = [line for line in device_code.ptx_text(modules.polynomials(BN254)).split("\n") if line.strip()]
    inside, found, count = "", [], 0
    for line in entries:
        if ".entry" in line:
            inside = line.split(".entry")[1].strip(" (")
        if is_barrier(line.strip()):
            if inside == kernel:
                found.append(count)
            count += 1
    return found


def device_without_barrier(number: int) -> Simulated:
    module = modules.polynomials(BN254)
    return Simulated(changed={module.name: without_line(device_code.ptx_text(module), is_barrier, number)})


def test_no_barrier_of_a_transform_can_be_left_out() -> None:
    module, values = modules.polynomials(BN254), montgomery(random_values(BN254, 1 << 6, 5), BN254.r)
    both = polynomial_launches.PassFlag.ASCEND | polynomial_launches.PassFlag.DESCEND
    passes = [polynomial_launches.Pass(0, bits, 6 - bits) for bits in (5, 6)]
    unnoticed = []
    for number in barriers("transform"):
        device = device_without_barrier(number)
        at, table = device.upload(values), device.upload(values)
        where = {"source": at, "target": at, "table": table, "scales": table}
        launches = [polynomial_launches.transform_pass(module, 6, part, both, **where) for part in passes]
        if not is_noticed(device, launches):
            unnoticed.append(number)
    assert len(barriers("transform")) >= 4
    assert unnoticed == []


def is_noticed(device: Simulated, launches: list[Launch]) -> bool:
    try:
        return device.run(launches).race_count > 0
    except Fault as fault:
        return "before it is written" in str(fault)


def test_no_barrier_of_a_long_row_can_be_left_out() -> None:
    witness, random = words(random_values(BN254, 50, seed=3)), Random(10)
    rows = [[(random.randrange(50), 7) for _ in range(200)]]
    for number in barriers("evaluate_long_rows"):
        device = device_without_barrier(number)
        try:
            evaluate(device, BN254, rows, witness)
        except Fault as fault:
            assert "before it is written" in str(fault)  # noqa: PT017 - either of two outcomes is right
        else:
            assert device.report.race_count > 0, number
