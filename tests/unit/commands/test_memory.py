"""What a proof takes of memory, in bytes a constraint: growth between two sizes leaves out what is fixed."""

from pathlib import Path

import pytest

from cuzkweb.commands.peers import Task, measure, own_prover
from kernels.curves import BLS12_381, BN254, Curve
from kernels.engine import engine_name
from proving.formats.wtns import write_witness
from proving.formats.zkey import write_zkey
from proving.groth16.setup import setup
from proving.synthesis.chain import chain_circuit

SMALL, LARGE = 13, 15
SPARE_ROWS = 8


def peak_bytes(curve: Curve, log_size: int, folder: Path) -> int:
    """The most memory that one proof of a dense circuit had at once, the pages of mapped files included."""
    system, witness = chain_circuit(curve, (1 << log_size) - SPARE_ROWS)
    task = Task(*(folder / name for name in ("k.zkey", "w.wtns", "p.json", "q.json")))
    write_zkey(task.zkey, setup(system))
    write_witness(task.wtns, witness)
    return measure(own_prover(), task).peak_bytes


@pytest.mark.skipif(engine_name() != "avx2", reason="the bound is that of the AVX2 engine")
@pytest.mark.parametrize(("curve", "most"), [(BN254, 1500), (BLS12_381, 1300)])
def test_memory_grows_by_so_many_bytes_a_constraint(curve: Curve, most: int, tmp_path: Path) -> None:
    small, large = (peak_bytes(curve, log_size, tmp_path) for log_size in (SMALL, LARGE))
    assert (large - small) / ((1 << LARGE) - (1 << SMALL)) < most
