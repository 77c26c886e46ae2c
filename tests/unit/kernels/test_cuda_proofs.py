"""Whole proofs by the kernels and launch code of the device, on a stand-in for the driver: without a GPU."""

from collections.abc import Callable

import numpy as np
import pytest

from kernels.constraints import evaluate
from kernels.cuda.device import CudaDevice
from kernels.cuda.rows import LONGEST_ROW
from kernels.curves import BLS12_381, BN254, Curve
from kernels.device import Stage
from kernels.host import HostDevice
from proving.groth16.prover import prove, prove_sums
from proving.groth16.proving_key import ProvingKey
from proving.groth16.qap import RowOrder
from proving.groth16.setup import setup
from tests.support.stand_in import StandIn
from tests.unit.groth16.reference import System, product_chain, verifies, words

Made = tuple[ProvingKey, np.ndarray]
NAMES = ("a", "b1", "b2", "c", "h")
BOTH = [
    pytest.param(curve, order, id=f"{curve.name}-{order}")
    for curve, order in ((BN254, RowOrder.SNARKJS), (BLS12_381, RowOrder.BELLMAN))
]
ALL = [
    *BOTH,
    pytest.param(BN254, RowOrder.BELLMAN, id="bn254-bellman"),
    pytest.param(BLS12_381, RowOrder.SNARKJS, id="bls12-381-snarkjs"),
]


@pytest.fixture(scope="module")
def made() -> Callable[[Curve, RowOrder], Made]:
    """A key and a witness of a chain of products."""
    kept: dict[tuple[str, RowOrder], Made] = {}

    def make(curve: Curve, order: RowOrder) -> Made:
        if (curve.name, order) not in kept:
            system, witness = product_chain(curve, 11)
            kept[curve.name, order] = setup(system, order=order), words(witness)
        return kept[curve.name, order]

    return make


def assert_same_sums(device: CudaDevice, made: Made, **given: np.ndarray | None) -> None:
    key, witness = made
    a, b = given.get("a"), given.get("b")
    found = prove_sums(device, key, witness, a, b)
    expected = prove_sums(HostDevice(threads=1), key, witness, None, None)
    for name in NAMES:
        assert np.array_equal(getattr(found, name), getattr(expected, name)), name
    assert device.take_faults() == []


@pytest.mark.parametrize(("curve", "order"), ALL)
def test_a_proof_verifies(curve: Curve, order: RowOrder, made: Callable[..., Made]) -> None:
    """With the points alone: the budget leaves no room for multiples of them."""
    key, witness = made(curve, order)
    driver = StandIn()
    device = CudaDevice("cuda:0", driver, budget_bytes=30_000, half_bytes=512)
    stages: list[str] = []

    statement = prove(device, key, witness, report=lambda stage, _seconds: stages.append(str(stage)))

    assert stages == [*map(str, Stage), "load", "assemble", "verify"], (
        "constraints are evaluated on the device"
    )
    assert verifies(key.verifying_key, statement.proof, statement.public), "says py_ecc, too"
    assert device.take_faults() == []
    assert driver.settle().used == device.resident_keys()[0].bytes, "nothing is left but the key"


@pytest.mark.parametrize(("curve", "order"), BOTH)
def test_multiples_of_the_points_change_nothing(
    curve: Curve, order: RowOrder, made: Callable[..., Made]
) -> None:
    driver = StandIn(eager=True)
    device = CudaDevice("cuda:0", driver, budget_bytes=200_000)
    assert_same_sums(device, made(curve, order))
    doublings = driver.launched.count("double_points")
    assert doublings > 0
    assert doublings % 5 == 0


@pytest.mark.parametrize(("curve", "order"), BOTH)
def test_a_key_that_does_not_fit_is_streamed(
    curve: Curve, order: RowOrder, made: Callable[..., Made]
) -> None:
    driver = StandIn()
    device = CudaDevice("cuda:0", driver, budget_bytes=1_000, half_bytes=512)
    assert_same_sums(device, made(curve, order))
    assert device.resident_keys() == []
    assert driver.settle().used == 0
    assert "evaluate_rows" not in driver.launched


def test_points_come_in_many_pieces(made: Callable[..., Made], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kernels.cuda.proof.chunk_size", lambda *_: 5)
    driver = StandIn()
    device = CudaDevice("cuda:0", driver, budget_bytes=1_000, half_bytes=64)
    assert_same_sums(device, made(BN254, RowOrder.SNARKJS))
    assert driver.launched.count("accumulate_entries") > 3 * 5


def test_evaluations_that_are_given_are_used(made: Callable[..., Made]) -> None:
    key, witness = made(BN254, RowOrder.SNARKJS)
    a, b = evaluate(BN254, key.coefficients, witness, key.domain_size, 1)
    driver = StandIn()
    device = CudaDevice("cuda:0", driver, budget_bytes=30_000)
    assert_same_sums(device, (key, witness), a=a, b=b)
    assert "evaluate_rows" not in driver.launched


@pytest.mark.parametrize("budget", [30_000, 100], ids=["resident", "streamed"])
def test_a_circuit_without_private_wires(budget: int) -> None:
    """Its C query is empty."""
    system, values = product_chain(BN254, 1, public_count=2)
    key = setup(system)
    assert len(key.points.c) == 0
    assert_same_sums(CudaDevice("cuda:0", StandIn(), budget_bytes=budget), (key, words(values)))


def test_a_row_of_many_terms_has_a_block_of_its_own() -> None:
    summands = [3 * value + 1 for value in range(LONGEST_ROW + 20)]
    terms = tuple((2 + place, 5) for place in range(len(summands)))
    system = System(BN254, 2 + len(summands), 1, ((terms, ((0, 1),), ((1, 1),)),))
    key, witness = setup(system), words([1, 5 * sum(summands), *summands])
    driver = StandIn()
    assert_same_sums(CudaDevice("cuda:0", driver, budget_bytes=60_000), (key, witness))
    assert "evaluate_long_rows" in driver.launched
