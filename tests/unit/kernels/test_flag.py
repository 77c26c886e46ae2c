"""A flag stops native work of the thread that watches it, and of no other."""

import threading
from collections.abc import Callable

import numpy as np
import pytest

from kernels import engine
from kernels.curves import BN254, Group
from kernels.flag import Flag
from kernels.library import Cancelled
from kernels.msm import Bases
from kernels.ntt import ntt
from kernels.points import fixed_base_multiply, from_integers

SIZE = 1 << 15


@pytest.fixture(scope="module")
def scalars() -> np.ndarray:
    words = np.random.default_rng(5).integers(0, 1 << 63, (SIZE, 4), dtype=np.uint64)
    words[:, 3] >>= np.uint64(3)
    return words


@pytest.fixture(scope="module")
def bases(scalars: np.ndarray) -> Bases:
    base = from_integers(BN254, Group.G1, BN254.g1)
    return Bases(BN254, Group.G1, fixed_base_multiply(BN254, Group.G1, base, scalars))


@pytest.fixture(params=engine.available())
def any_engine(request: pytest.FixtureRequest) -> str:
    before = engine.engine_name()
    engine.use(request.param)
    yield request.param
    engine.use(before)


def test_a_flag_that_is_up_stops_every_call(any_engine: str, scalars: np.ndarray, bases: Bases) -> None:
    flag, data = Flag(), scalars.copy()
    works: list[Callable[[], object]] = [lambda: bases.msm(scalars, 2), lambda: ntt(BN254, data, threads=2)]
    flag.up()
    for work in works:
        with pytest.raises(Cancelled), flag.watched():
            work()
    for work in works:
        work()  # nobody watches any more


def test_a_flag_that_is_down_changes_nothing(scalars: np.ndarray, bases: Bases) -> None:
    alone = bases.msm(scalars, 2)
    with Flag().watched():
        assert np.array_equal(bases.msm(scalars, 2), alone)


def test_a_flag_stops_work_that_runs(scalars: np.ndarray, bases: Bases) -> None:
    """The work is far longer than it takes to raise the flag; other threads' work goes on."""
    flag, begun = Flag(), threading.Event()
    ends: list[str] = []

    def watch() -> None:
        with flag.watched():
            begun.set()
            try:
                for _ in range(10_000):
                    bases.msm(scalars, 1)
            except Cancelled:
                ends.append("cancelled")

    worker = threading.Thread(target=watch)
    worker.start()
    begun.wait()
    flag.up()
    bases.msm(scalars, 1)
    worker.join(60)

    assert ends == ["cancelled"]
