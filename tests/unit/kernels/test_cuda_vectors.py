"""The checks that a GPU has to pass, passed by the text of the kernels on the CPU, with small sizes."""

import pytest

from kernels.curves import BLS12_381, BN254, Curve, Group
from kernels.quotient import QuotientBasis
from tests.support.device_checks import Bench, cases, check_field, check_quotient, check_sum, check_transform
from tests.support.stand_in import StandIn


@pytest.fixture
def bench() -> Bench:
    return Bench(StandIn())


@pytest.mark.parametrize("curve", [BN254, BLS12_381], ids=lambda curve: curve.name)
@pytest.mark.parametrize("scalar", [True, False], ids=["fr", "fq"])
def test_field(bench: Bench, curve: Curve, scalar: bool) -> None:
    check_field(bench, curve, scalar=scalar, count=40)


@pytest.mark.parametrize(("curve", "log_n"), [(BN254, 1), (BN254, 11), (BLS12_381, 4)])
def test_transform(bench: Bench, curve: Curve, log_n: int) -> None:
    check_transform(bench, curve, log_n)


@pytest.mark.parametrize("basis", list(QuotientBasis))
def test_quotient(bench: Bench, basis: QuotientBasis) -> None:
    check_quotient(bench, BLS12_381, 5, basis)


def test_sums_of_every_kind(bench: Bench) -> None:
    for case in cases(BN254, 9):
        check_sum(bench, BN254, Group.G1, case)


def test_a_sum_with_multiples_in_the_other_group(bench: Bench) -> None:
    check_sum(bench, BN254, Group.G2, cases(BN254, 5)[0], multiples=4)
