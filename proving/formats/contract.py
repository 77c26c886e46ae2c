"""A verifier contract for the EVM, in Solidity: one key, one function, EIP-196's and EIP-197's precompiles.

    verifyProof(uint256[2] a, uint256[2][2] b, uint256[2] c, uint256[n] signals) returns (bool)

The arguments are what `calldata` writes. Signals that are not below the scalar field's modulus are refused:
an alias of a signal must not pass. Coordinates, curve and subgroup are the precompiles' to check: they fail,
and the answer is false.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from kernels.curves import BN254
from proving.groth16.objects import G1, G2, VerifyingKey

NAME = re.compile(r"[A-Za-z_$][A-Za-z0-9_$]{0,63}")
HEADER = "// SPDX-License-Identifier: Apache-2.0\npragma solidity >=0.8.4 <0.9.0;\n"


def verifier_contract(key: VerifyingKey, name: str = "Verifier") -> str:
    """The text of the contract. Raises ValueError for a key on another curve or a name that is none."""
    if key.curve != BN254:
        raise ValueError(f"the EVM's precompiles are for {BN254.name}, the key is over {key.curve.name}")
    if not NAME.fullmatch(name):
        raise ValueError(f"{name[:40]!r} is no name for a contract")
    parts = [HEADER, f"/// Verifies Groth16 proofs of one circuit with {key.public_count} public signals."]
    parts += [f"contract {name} {{", *constants(key), "", *functions(key), "}"]
    return "\n".join(parts) + "\n"


def constants(key: VerifyingKey) -> Iterator[str]:
    """The moduli and the key's points; alpha is negated, so that one product of pairings is checked."""
    yield constant("R", BN254.r)
    yield constant("Q", BN254.q)
    alpha = key.alpha_g1 and (key.alpha_g1[0], -key.alpha_g1[1] % BN254.q)
    for label, value in (("MINUS_ALPHA", alpha), *((f"IC{i}", point) for i, point in enumerate(key.ic))):
        yield from (
            constant(f"{label}_{axis}", number) for axis, number in zip("XY", g1_words(value), strict=True)
        )
    for label, point in (("BETA", key.beta_g2), ("GAMMA", key.gamma_g2), ("DELTA", key.delta_g2)):
        for place, number in zip(("X1", "X0", "Y1", "Y0"), g2_words(point), strict=True):
            yield constant(f"{label}_{place}", number)


def constant(name: str, value: int) -> str:
    """One constant of the contract."""
    return f"    uint256 private constant {name} = {value};"


def g1_words(point: G1) -> tuple[int, int]:
    """A G1 point as the precompiles take it."""
    return point or (0, 0)


def g2_words(point: G2) -> tuple[int, int, int, int]:
    """A G2 point as the precompiles take it: c1 first."""
    x, y = point or ((0, 0), (0, 0))
    return x[1], x[0], y[1], y[0]


def accumulation(key: VerifyingKey) -> Iterator[str]:
    """The lines that sum IC[0] and the signals' multiples of the other points."""
    for index in range(key.public_count):
        yield f"        if (signals[{index}] >= R) return false;"
        point = f"IC{index + 1}_X, IC{index + 1}_Y"
        yield f"        if (!accumulate(sum, {point}, signals[{index}])) return false;"


def functions(key: VerifyingKey) -> Iterator[str]:
    """The contract's functions."""
    yield ENTRY.replace("COUNT", str(key.public_count)).rstrip() if key.public_count else ENTRY_BARE.rstrip()
    yield from accumulation(key)
    yield HELPERS.rstrip()


OPENING = """\
        uint256[2] memory sum;
        sum[0] = IC0_X;
        sum[1] = IC0_Y;
"""
ENTRY = (
    """\
    /// Whether (a, b, c) proves the public signals. In b the second coefficient comes first, as in EIP-197.
    function verifyProof(
        uint256[2] calldata a,
        uint256[2][2] calldata b,
        uint256[2] calldata c,
        uint256[COUNT] calldata signals
    ) external view returns (bool) {
"""
    + OPENING
)
ENTRY_BARE = (
    """\
    /// Whether (a, b, c) proves the statement, which has no public signals.
    function verifyProof(
        uint256[2] calldata a,
        uint256[2][2] calldata b,
        uint256[2] calldata c
    ) external view returns (bool) {
"""
    + OPENING
)
HELPERS = """\
        return pairs(a, b, c, sum);
    }

    /// sum += scalar * (x, y), by the precompiles at 7 and 6.
    function accumulate(uint256[2] memory sum, uint256 x, uint256 y, uint256 scalar)
        private
        view
        returns (bool success)
    {
        uint256[4] memory words;
        words[0] = x;
        words[1] = y;
        words[2] = scalar;
        assembly ("memory-safe") {
            success := staticcall(gas(), 7, words, 0x60, words, 0x40)
        }
        if (!success) return false;
        words[2] = sum[0];
        words[3] = sum[1];
        assembly ("memory-safe") {
            success := staticcall(gas(), 6, words, 0x80, sum, 0x40)
        }
    }

    /// Whether e(a, b) = e(alpha, beta) e(sum, gamma) e(c, delta), by the precompile at 8.
    function pairs(
        uint256[2] calldata a,
        uint256[2][2] calldata b,
        uint256[2] calldata c,
        uint256[2] memory sum
    ) private view returns (bool success) {
        uint256[24] memory words = [
            a[0], a[1], b[0][0], b[0][1], b[1][0], b[1][1],
            MINUS_ALPHA_X, MINUS_ALPHA_Y, BETA_X1, BETA_X0, BETA_Y1, BETA_Y0,
            sum[0], minus(sum[1]), GAMMA_X1, GAMMA_X0, GAMMA_Y1, GAMMA_Y0,
            c[0], minus(c[1]), DELTA_X1, DELTA_X0, DELTA_Y1, DELTA_Y0
        ];
        uint256[1] memory answer;
        assembly ("memory-safe") {
            success := staticcall(gas(), 8, words, 0x300, answer, 0x20)
        }
        return success && answer[0] == 1 && c[1] < Q;
    }

    /// The negative of a coordinate below Q.
    function minus(uint256 y) private pure returns (uint256) {
        return y % Q == 0 ? 0 : Q - (y % Q);
    }
"""
