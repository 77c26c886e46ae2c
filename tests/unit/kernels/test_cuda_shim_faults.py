"""What the shim would show: a barrier taken out of the device text is found, whichever one it is."""

import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from kernels import modules, polynomial_launches
from kernels.curves import BN254, Group
from kernels.launches import launch
from kernels.modules import Module
from kernels.windows import combine
from tests.support import shim
from tests.unit.kernels.reference import montgomery, multiples, transform, words
from tests.unit.kernels.test_cuda_shim_polynomials import address, empty, random_values, system, tables

BARRIER = "__syncthreads();"
ORDERS = range(6)

Check = Callable[[shim.Unit, int], bool]  # whether a launch in this order gives what is right


SKIPPING = """
namespace cuzk::shim {
static int skipped = -1;
void wait_at(int barrier) {
  if (barrier != skipped) wait_for_block();
}
}  // namespace cuzk::shim
extern "C" __attribute__((visibility("default"))) void cuzk_shim_skip(int barrier) {
  cuzk::shim::skipped = barrier;
}
"""


def copied_sources(folder: Path) -> Path:
    """The device sources, to be changed."""
    sources = folder / "csrc"
    shutil.copytree(shim.SOURCES / "cuda", sources / "cuda")
    for header in shim.SOURCES.glob("*.hpp"):
        shutil.copy(header, sources)
    return sources


def barriers() -> list[tuple[str, int]]:
    """Every barrier of the device text: its file, and the how manyth there it is."""
    return [
        (f"cuda/{path.name}", occurrence)
        for path in sorted((shim.SOURCES / "cuda").glob("*.cu*"))
        for occurrence in range(path.read_text().count(BARRIER))
    ]


def with_numbered_barriers(folder: Path) -> Path:
    """A copy of the device sources in which `cuzk_shim_skip` takes out one barrier, by its number."""
    sources = copied_sources(folder)
    for number, (source, _) in enumerate(barriers()):
        path = sources / source
        path.write_text(path.read_text().replace(BARRIER, f"::cuzk::shim::wait_at({number});", 1))
    header, runtime = (sources / "cuda" / "shim" / name for name in ("shim.hpp", "shim.cpp"))
    known = "void wait_for_block();"
    header.write_text(header.read_text().replace(known, f"{known} void wait_at(int barrier);", 1))
    runtime.write_text(runtime.read_text() + SKIPPING)
    return sources


def transforms_rightly(unit: shim.Unit, order: int, factor: int | None = None) -> bool:
    log_n = 8
    values = random_values(BN254, 1 << log_n, seed=1)
    made = tables(BN254, log_n)
    source, target = montgomery(values, BN254.r), empty(1 << log_n)
    scales = montgomery([factor or 0] * (1 << log_n), BN254.r)
    where = {"source": address(source), "target": address(target), "table": made.domain.table}
    if factor:
        where["scales"] = address(scales)
    step = next(iter(polynomial_launches.forward(unit.module, log_n, **where)))
    unit.launch(step.kernel, step.grid, step.shared_bytes, step.arguments, order=order)
    wanted = transform([value * (factor or 1) for value in values], BN254.root_of_unity(log_n), BN254.r)
    return np.array_equal(target, montgomery(wanted, BN254.r))


def scales_rightly(unit: shim.Unit, order: int) -> bool:
    return transforms_rightly(unit, order, factor=3)


def inverts_rightly(unit: shim.Unit, order: int) -> bool:
    log_n = 8
    values = random_values(BN254, 1 << log_n, seed=1)
    made = tables(BN254, log_n)
    evaluated = transform(values, BN254.root_of_unity(log_n), BN254.r)
    over_n = [pow(1 << log_n, -1, BN254.r)] * (1 << log_n)
    source, target, scales = montgomery(evaluated, BN254.r), empty(1 << log_n), montgomery(over_n, BN254.r)
    where = {"source": address(source), "target": address(target), "table": made.domain.table}
    step = next(iter(polynomial_launches.inverse(unit.module, log_n, scales=address(scales), **where)))
    unit.launch(step.kernel, step.grid, step.shared_bytes, step.arguments, order=order)
    return np.array_equal(target, montgomery(values, BN254.r))


def adds_a_long_row(unit: shim.Unit, order: int) -> bool:
    rows = [[(wire, 1) for wire in range(200)], []]
    made, witness = system(BN254, rows), words(range(200))
    out, long_rows = empty(2), np.zeros(4, dtype=np.uint32)
    where = (made.row_starts, made.terms, made.coefficients, witness, long_rows, out)
    unit.launch("evaluate_long_rows", (1, 1, 1), 128 * 32, [address(array) for array in where], order=order)
    return np.array_equal(out[:1], montgomery([sum(range(200))], BN254.r))


def scans_rightly(unit: shim.Unit, order: int) -> bool:
    values = np.arange(2048, dtype=np.uint32)
    wanted, totals = np.cumsum(values, dtype=np.uint32) - values, np.zeros(4, dtype=np.uint32)
    unit.launch("scan_tiles", (1, 1, 1), 1024, [address(values), 2048, address(totals)], order=order)
    return np.array_equal(values, wanted) and int(totals[0]) == 2047 * 1024


def carries_over_tiles(unit: shim.Unit, order: int) -> bool:
    values = np.arange(1024, dtype=np.uint32)
    wanted = np.cumsum(values, dtype=np.uint32) - values
    unit.launch("scan_totals", (1, 1, 1), 1024, [address(values), 1024], order=order)
    return np.array_equal(values, wanted)


def finishes_a_set(unit: shim.Unit, order: int) -> bool:
    """The pairs ((k + 1) G, 0) of one bucket each, k from 0 to 3: the sum of k (k + 1) G."""
    _, points = multiples(BN254, Group.G1, 20)
    one = montgomery([1], BN254.q)[0]
    pairs = np.zeros((4, 32), dtype=np.uint64)
    for k in range(4):
        pairs[k, :16] = np.concatenate([points[k], one, one])
    sums = np.zeros(16, dtype=np.uint64)
    step = launch(unit.module, "finish_sets", 1, address(pairs), 4, 0, address(sums), shared_bytes=128 * 128)
    unit.launch(step.kernel, step.grid, step.shared_bytes, step.arguments, order=order)
    wanted = sum(k * (k + 1) for k in range(4))
    return np.array_equal(combine(BN254, Group.G1, sums.reshape(1, -1), 1), points[wanted - 1])


FAULTS: dict[str, tuple[Module, str, int, Check]] = {
    "after the stages": (modules.polynomials(BN254), "cuda/transform.cuh", 0, transforms_rightly),
    "on the way down": (modules.polynomials(BN254), "cuda/transform.cuh", 0, inverts_rightly),
    "in the tree of a long row": (modules.polynomials(BN254), "cuda/polynomials.cu", 1, adds_a_long_row),
    "before that tree": (modules.polynomials(BN254), "cuda/polynomials.cu", 0, adds_a_long_row),
    "after the load": (modules.polynomials(BN254), "cuda/polynomials.cu", 2, transforms_rightly),
    "after the scales": (modules.polynomials(BN254), "cuda/polynomials.cu", 3, scales_rightly),
    "before a scan": (modules.digits(), "cuda/digits.cu", 0, scans_rightly),
    "between reading and adding": (modules.digits(), "cuda/digits.cu", 1, scans_rightly),
    "between two distances": (modules.digits(), "cuda/digits.cu", 2, scans_rightly),
    "between two tiles": (modules.digits(), "cuda/digits.cu", 3, carries_over_tiles),
    "before the suffix is read": (modules.sums(BN254, Group.G1), "cuda/sums.cu", 0, finishes_a_set),
    "after the suffix is read": (modules.sums(BN254, Group.G1), "cuda/sums.cu", 1, finishes_a_set),
    "in the last tree": (modules.sums(BN254, Group.G1), "cuda/sums.cu", 2, finishes_a_set),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_removed_barrier_is_found(fault: str, tmp_path: Path) -> None:
    module, source, occurrence, is_right = FAULTS[fault]
    unit = shim.load(module, with_numbered_barriers(tmp_path))
    assert all(is_right(unit, order) for order in ORDERS)
    unit.library.cuzk_shim_skip(barriers().index((source, occurrence)))
    try:
        assert not all(is_right(unit, order) for order in ORDERS)
    finally:
        unit.library.cuzk_shim_skip(-1)


def test_every_barrier_has_a_fault() -> None:
    assert set(barriers()) == {(source, occurrence) for _, source, occurrence, _ in FAULTS.values()}


def test_a_barrier_that_some_threads_do_not_reach_is_a_deadlock(tmp_path: Path) -> None:
    sources = copied_sources(tmp_path)
    path = sources / "cuda/digits.cu"
    path.write_text(
        path.read_text().replace("u32 lane =", "if (threadIdx.x == 3) __syncthreads();\n  u32 lane =", 1)
    )
    unit = shim.load(modules.digits(), sources)
    scalars, counts = words([1] * 256), np.zeros(64, dtype=np.uint32)
    recoding = np.frombuffer(b"\x02\0\0\0\x01\0\0\0" + bytes(40), dtype=np.uint64).copy()
    arguments = [address(scalars), 0, 256, address(recoding), 1, address(counts)]
    with pytest.raises(shim.LaunchFailed, match="deadlock"):
        unit.launch("count_digits", (1, 1, 1), 0, arguments)


def test_an_unknown_kernel_is_refused() -> None:
    module = modules.digits()
    renamed = Module(module.name, module.source, module.options, (module.kernels[1], module.kernels[2]))
    with pytest.raises(KeyError):
        renamed.kernel("count_digits")
