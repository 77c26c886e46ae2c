"""The constants: generated afresh they are the same, and they mean what they should."""

import importlib.util
from math import gcd
from pathlib import Path

import pytest

from kernels.curves import BLS12_381, BN254, CURVES, Curve, curve_by_name, curve_by_prime

SOURCES = Path(__file__).resolve().parents[3] / "kernels" / "csrc"


def test_the_committed_header_is_what_the_generator_writes() -> None:
    specification = importlib.util.spec_from_file_location(
        "generate_constants", SOURCES / "generate" / "generate_constants.py"
    )
    assert specification is not None
    assert specification.loader is not None
    generator = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(generator)
    assert (SOURCES / "constants.hpp").read_text() == generator.text()


def test_the_primes_are_the_polynomials_of_the_parameter() -> None:
    x, z = BN254.parameter, BLS12_381.parameter
    assert BN254.q == 36 * x**4 + 36 * x**3 + 24 * x**2 + 6 * x + 1
    assert BN254.r == 36 * x**4 + 36 * x**3 + 18 * x**2 + 6 * x + 1
    assert BLS12_381.r == z**4 - z**2 + 1
    assert BLS12_381.q == (z - 1) ** 2 * BLS12_381.r // 3 + z


def test_the_largest_roots_of_unity_are_those_of_snarkjs() -> None:
    assert (
        BN254.root_of_unity(28)
        == 19103219067921713944291392827692070036145651957329286315305642004821462161904
    )
    for curve in CURVES:
        least_non_residue = next(k for k in range(2, 20) if pow(k, (curve.r - 1) // 2, curve.r) != 1)
        odd = (curve.r - 1) >> curve.two_adicity
        assert odd % 2 == 1
        assert curve.root_of_unity(curve.two_adicity) == pow(least_non_residue, odd, curve.r)
        assert curve.coset_shift(curve.two_adicity) == least_non_residue**2


def test_roots_of_unity_square_down_to_one(curve: Curve) -> None:
    assert curve.root_of_unity(0) == 1
    assert curve.root_of_unity(1) == curve.r - 1
    for log_n in range(curve.two_adicity):
        assert pow(curve.root_of_unity(log_n + 1), 2, curve.r) == curve.root_of_unity(log_n)
        assert curve.coset_shift(log_n) == curve.root_of_unity(log_n + 1)


@pytest.mark.parametrize("log_n", [-1, 33])
def test_there_is_no_larger_root(curve: Curve, log_n: int) -> None:
    with pytest.raises(ValueError, match="roots of unity"):
        curve.root_of_unity(log_n)


def test_curves_are_found_by_prime_and_by_either_name() -> None:
    for curve in CURVES:
        assert curve_by_prime(curve.r) is curve
        assert curve_by_name(curve.name) is curve
        assert curve_by_name(curve.snarkjs_name) is curve
    with pytest.raises(ValueError, match="no supported curve"):
        curve_by_prime(BN254.q)
    with pytest.raises(ValueError, match="bls12-377"):
        curve_by_name("bls12-377")


def test_only_the_subgroup_passes_the_test_of_bls12_381() -> None:
    """phi^2 + phi + 1 = 0 with phi = -z^2, psi^2 - t psi + q = 0 with psi = z: what order is left?"""
    q, r, z = BLS12_381.q, BLS12_381.r, BLS12_381.parameter
    assert z**4 - z**2 + 1 == r
    twist_cofactor = (z**8 - 4 * z**7 + 5 * z**6 - 4 * z**4 + 6 * z**3 - 4 * z**2 - 4 * z + 13) // 9
    trace = z + 1
    assert gcd(z**2 - trace * z + q, twist_cofactor * r) == r


def test_only_the_subgroup_passes_the_test_of_bn254() -> None:
    """(x+1) + x psi + x psi^2 - 2x psi^3 = 0 and psi^2 - t psi + q = 0 leave nothing but the order r."""
    q, r, x = BN254.q, BN254.r, BN254.parameter
    trace = 6 * x**2 + 1
    twist_cofactor = 2 * q - r
    # Reduce the first by the second: psi^2 = t psi - q, psi^3 = (t^2 - q) psi - t q.
    constant = x + 1 - x * q + 2 * x * trace * q
    linear = x + x * trace - 2 * x * (trace**2 - q)
    resultant = constant**2 + constant * linear * trace + linear**2 * q
    assert gcd(resultant, twist_cofactor * r) == r
    assert (constant + linear * q) % r == 0
