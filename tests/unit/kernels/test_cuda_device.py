"""A GPU as a device: what it keeps, what it does when memory runs out, and when results are wrong."""

import threading
from collections.abc import Callable, Iterator

import numpy as np
import pytest

from kernels.cuda.device import CudaDevice
from kernels.curves import BLS12_381, BN254
from kernels.device import Cancelled, ProverSums, Stage
from kernels.host import HostDevice
from proving.groth16.prover import prove_sums
from proving.groth16.proving_key import ProvingKey
from proving.groth16.setup import setup
from tests.support.oracle import ORDER, Oracle
from tests.support.stand_in import StandIn
from tests.unit.groth16.reference import product_chain, words

SYSTEM, VALUES = product_chain(BN254, 6)
WITNESS = words(VALUES)
MANY = set(range(1, 1000))


@pytest.fixture(scope="module")
def key() -> ProvingKey:
    return setup(SYSTEM)


@pytest.fixture(scope="module")
def expected(key: ProvingKey) -> ProverSums:
    return prove_sums(HostDevice(threads=1), key, WITNESS, None, None)


@pytest.fixture
def oracle(expected: ProverSums) -> Oracle:
    return Oracle(BN254, expected)


@pytest.fixture
def opened(oracle: Oracle) -> Iterator[Callable[..., tuple[CudaDevice, StandIn]]]:
    """Opens a device on a stand-in; at the end nothing but keys may lie on it."""
    found: list[tuple[CudaDevice, StandIn]] = []

    def open_one(**options) -> tuple[CudaDevice, StandIn]:
        budget = options.pop("budget_bytes", 60_000)
        driver = StandIn(options.pop("execute", oracle), **options)
        found.append((CudaDevice("cuda:0", driver, budget_bytes=budget, half_bytes=256, threads=1), driver))
        return found[-1]

    yield open_one
    for device, driver in found:
        assert device._broken or driver.settle().used == sum(kept.bytes for kept in device.resident_keys())


def same(found: ProverSums, expected: ProverSums) -> bool:
    return all(np.array_equal(getattr(found, name), getattr(expected, name)) for name in ORDER)


def run(device: CudaDevice, key: ProvingKey, **listeners) -> ProverSums:
    return prove_sums(device, key, WITNESS, None, None, **listeners)


def test_the_oracle_says_what_the_cpu_found(opened, key, expected) -> None:
    device, driver = opened()
    assert same(run(device, key), expected)
    assert driver.launched.count("finish_sets") == 5


def test_only_the_witness_crosses_the_bus_when_the_key_is_there(opened, key) -> None:
    device, driver = opened()
    run(device, key)
    before = driver.uploaded
    run(device, key)
    assert driver.uploaded - before < WITNESS.nbytes + 256, "and what describes the digits"
    assert [kept.key_id for kept in device.resident_keys()] == [key.key_id]


def test_the_least_recently_used_key_leaves(opened, key) -> None:
    device, _ = opened(budget_bytes=20_000)
    run(device, key)
    one = device.resident_keys()[0].bytes
    assert 2 * one < 20_000
    small, _ = opened(budget_bytes=2 * one)
    other = setup(SYSTEM)
    third = setup(SYSTEM)
    for each in (key, other, key, third):
        run(small, each)
    assert [kept.key_id for kept in small.resident_keys()] == [key.key_id, third.key_id]
    assert small.memory().used_bytes <= 2 * one


def test_nothing_of_a_witness_stays_on_the_device_or_on_the_way(opened, key) -> None:
    device, driver = opened()
    run(device, key)
    secret = WITNESS[2].tobytes()
    driver.settle()
    everywhere = [piece.whole.tobytes() for piece in (*driver._live.values(), *driver._given_back)]
    with device._lanes.lane() as lane:
        everywhere += [half.tobytes() for half in lane._halves]
    assert not any(secret in found for found in everywhere)


# --- memory that runs out -------------------------------------------------------------------------------


def test_memory_may_run_out_at_any_allocation(opened, key, expected) -> None:
    """The proof comes all the same, and the next one is as if nothing had been."""
    _, whole = opened()
    device, driver = opened()
    run(device, key)
    count = driver.allocations
    assert count > 30
    for at in range(1, count + 1):
        device, driver = opened(no_room_at={at})
        assert same(run(device, key), expected), at
        assert driver.trims == 1, at
        assert device.take_faults() == []
        assert same(run(device, key), expected), at
        assert [kept.key_id for kept in device.resident_keys()] == [key.key_id]
        assert driver.trims == 1, "the next proof is not touched"
    del whole


def test_memory_may_run_out_again_at_any_piece(opened, key, expected) -> None:
    """Streaming its points is tried once; then the proof is the CPU's."""
    device, driver = opened(budget_bytes=100)
    run(device, key)
    for at in range(1, driver.allocations + 1):
        device, driver = opened(budget_bytes=100, no_room_at={at})
        launched = len(driver.launched)
        assert same(run(device, key), expected), at
        assert device.take_faults() == [], "a device that is full is not a bad one"
        assert device.usable
        assert len(driver.launched) - launched < 100


def test_without_any_memory_the_cpu_proves(opened, key, expected) -> None:
    device, driver = opened(no_room_at=set(MANY))
    stages: list[Stage] = []
    assert same(run(device, key, report=lambda stage, _seconds: stages.append(stage)), expected)
    assert driver.launches == 0
    assert stages == list(Stage)
    driver.no_room_at.clear()
    assert same(run(device, key), expected)
    assert driver.launches > 0, "the next proof is the device's again"


def test_an_idle_key_gives_way_to_a_proof(opened, key, expected) -> None:
    device, driver = opened()
    other = setup(SYSTEM)
    run(device, other)
    driver.no_room_at.add(driver.allocations + 1)
    assert same(run(device, key), expected)
    assert other.key_id not in [kept.key_id for kept in device.resident_keys()]


def test_more_digits_than_one_sort_holds_are_streamed(opened, key, expected, monkeypatch) -> None:
    monkeypatch.setattr("kernels.cuda.key.MOST_DIGITS", 10)
    device, driver = opened()
    assert same(run(device, key), expected)
    assert device.resident_keys() == []
    assert driver.launched.count("finish_sets") == 5


# --- results that are wrong -----------------------------------------------------------------------------


@pytest.mark.parametrize("name", ORDER)
def test_a_sum_off_its_curve_is_noticed_and_made_on_the_cpu(opened, key, oracle, expected, name) -> None:
    device, _ = opened()
    oracle.spoiled = {name}
    assert same(run(device, key), expected)
    assert device.take_faults() == [f"the sum {name} is not on its curve"]
    assert device.take_faults() == [], "told once"
    assert device.usable
    oracle.spoiled = set()
    assert same(run(device, key), expected)
    assert device.take_faults() == []


@pytest.mark.parametrize("at", [1, 5, 20])
def test_a_device_that_breaks_is_left_alone(opened, key, expected, at: int) -> None:
    device, driver = opened(broken_at={at})
    assert same(run(device, key), expected)
    assert not device.usable
    (fault,) = device.take_faults()
    assert fault == "the driver reports: an illegal memory access was encountered"
    calls = driver.allocations, driver.launches
    assert same(run(device, key), expected)
    assert (driver.allocations, driver.launches) == calls
    device.close()


# --- callers --------------------------------------------------------------------------------------------


def test_two_threads_prove_at_once_and_one_computes(opened, key, oracle, expected) -> None:
    inside: list[int] = []
    most: list[int] = []

    def counted(launch) -> None:
        inside.append(1)
        most.append(len(inside))
        oracle(launch)
        inside.pop()

    device, _ = opened(execute=counted)
    results: list[bool] = []
    together = threading.Barrier(2)

    def work() -> None:
        together.wait(timeout=20)
        results.extend(same(run(device, key), expected) for _ in range(3))

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [True] * 6
    assert max(most) == 1
    assert device.busy_seconds > 0


def test_one_loads_while_another_computes(opened, key, expected) -> None:
    """The second proof's witness is on its way before the first one's kernels have ended."""
    device, driver = opened()
    run(device, key)
    loaded = threading.Event()
    seen: list[bool] = []
    uploaded = driver.uploaded

    def hold(stage: Stage, _seconds: float) -> None:
        if stage is Stage.QUOTIENT:
            other.start()
            seen.append(loaded.wait(timeout=20))

    def load() -> None:
        run(device, key, cancelled=lambda: False)

    other = threading.Thread(target=load)

    class Watching:
        def __init__(self) -> None:
            self.upload = driver.upload

        def __call__(self, target: int, source: np.ndarray, stream: object) -> None:
            self.upload(target, source, stream)
            if driver.uploaded - uploaded >= 2 * WITNESS.nbytes:
                loaded.set()

    driver.upload = Watching()
    assert same(run(device, key, report=hold), expected)
    other.join()
    assert seen == [True]


def test_a_cancelled_proof_leaves_nothing(opened, key, expected) -> None:
    device, driver = opened()
    for stages in range(7):
        answers = iter([False] * stages + [True] * 100)
        with pytest.raises(Cancelled):
            run(device, key, cancelled=lambda answers=answers: next(answers))
        assert driver.settle().used == sum(kept.bytes for kept in device.resident_keys())
    assert same(run(device, key), expected)
    assert device.take_faults() == []


def test_arrays_of_another_size_are_refused(opened, key) -> None:
    for budget in (60_000, 100):
        device, _ = opened(budget_bytes=budget)
        with pytest.raises(ValueError, match=f"witness has 3 values, key wants {key.variable_count}"):
            prove_sums(device, key, WITNESS[:3], None, None)
        right = np.zeros((key.domain_size, 4), dtype=np.uint64)
        with pytest.raises(ValueError, match="b has 2 evaluations, key wants 8"):
            prove_sums(device, key, WITNESS, right, right[:2])
        with pytest.raises(ValueError, match="no coefficients"):
            device.prove(key.key_id + "bare", lambda: key.points, WITNESS)


def test_what_it_says_of_itself(opened, key) -> None:
    device, driver = opened()
    assert (device.name, device.model, device.evaluates, device.bounded) == (
        "cuda:0",
        "stand-in",
        True,
        False,
    )
    assert device.memory().total_bytes == 60_000
    assert CudaDevice("cuda:1", StandIn(total=1_000)).memory().total_bytes == 900
    run(device, key)
    device.close()
    assert driver.closed
    assert driver.used == 0


def test_the_other_curve_takes_the_same_way() -> None:
    system, values = product_chain(BLS12_381, 3)
    key, witness = setup(system), words(values)
    expected = prove_sums(HostDevice(threads=1), key, witness, None, None)
    device = CudaDevice("cuda:0", StandIn(Oracle(BLS12_381, expected)), threads=1)
    assert same(prove_sums(device, key, witness, None, None), expected)
