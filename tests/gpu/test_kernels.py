"""The kernels on hardware, held against the CPU library."""

import pytest

from kernels.curves import BLS12_381, BN254, CURVES, Curve, Group
from kernels.quotient import QuotientBasis
from tests.support.device_checks import Bench, cases, check_field, check_quotient, check_sum, check_transform

pytestmark = pytest.mark.gpu

BOTH = pytest.mark.parametrize("curve", CURVES, ids=lambda curve: curve.name)


@BOTH
@pytest.mark.parametrize("scalar", [True, False], ids=["fr", "fq"])
def test_field(bench: Bench, curve: Curve, scalar: bool) -> None:
    check_field(bench, curve, scalar=scalar, count=100_000)


@BOTH
@pytest.mark.parametrize("log_n", [1, 2, 3, 7, 10, 11, 13, 16, 20, 22])
def test_transform(bench: Bench, curve: Curve, log_n: int) -> None:
    check_transform(bench, curve, log_n)


@BOTH
@pytest.mark.parametrize("basis", list(QuotientBasis))
@pytest.mark.parametrize("log_n", [1, 8, 12, 18])
def test_quotient(bench: Bench, curve: Curve, basis: QuotientBasis, log_n: int) -> None:
    check_quotient(bench, curve, log_n, basis)


@BOTH
@pytest.mark.parametrize("group", list(Group))
@pytest.mark.parametrize("count", [1, 2, 129, 5000])
def test_sums_of_every_kind(bench: Bench, curve: Curve, group: Group, count: int) -> None:
    for case in cases(curve, count):
        check_sum(bench, curve, group, case)


@pytest.mark.parametrize(("curve", "group"), [(BN254, Group.G1), (BLS12_381, Group.G2)])
@pytest.mark.parametrize("multiples", [2, 8])
def test_multiples(bench: Bench, curve: Curve, group: Group, multiples: int) -> None:
    check_sum(bench, curve, group, cases(curve, 3000)[0], multiples)


@BOTH
def test_large_sums(bench: Bench, curve: Curve) -> None:
    """2^17 points: scalars that fill buckets evenly, and scalars that fill few of them."""
    for case in cases(curve, 1 << 17):
        if case.name in {"random", "mostly bits", "equal scalars"}:
            check_sum(bench, curve, Group.G1, case)
