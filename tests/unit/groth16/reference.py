"""Groth16 by the book, in Python integers and py_ecc: slow, obvious, and independent of the kernels."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from py_ecc import optimized_bls12_381, optimized_bn128

from kernels.curves import BLS12_381, BN254, Curve
from proving.groth16.objects import G1, G2, Proof, VerifyingKey

LIBRARIES: dict[str, Any] = {BN254.name: optimized_bn128, BLS12_381.name: optimized_bls12_381}
Row = tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Matrix:
    row_ptr: np.ndarray
    columns: np.ndarray
    values: np.ndarray


@dataclass(frozen=True)
class System:
    """A constraint system from rows of (wire, coefficient) terms, as a setup reads it."""

    curve: Curve
    wires: int
    public_count: int
    rows: tuple[tuple[Row, Row, Row], ...]

    @property
    def a(self) -> Matrix:
        return matrix([row[0] for row in self.rows], self.curve)

    @property
    def b(self) -> Matrix:
        return matrix([row[1] for row in self.rows], self.curve)

    @property
    def c(self) -> Matrix:
        return matrix([row[2] for row in self.rows], self.curve)


def words(values: Sequence[int]) -> np.ndarray:
    packed = b"".join(value.to_bytes(32, "little") for value in values)
    return np.frombuffer(packed, dtype="<u8").reshape(-1, 4).copy()


def matrix(rows: Sequence[Row], curve: Curve) -> Matrix:
    row_ptr = np.concatenate([[0], np.cumsum([len(row) for row in rows])])
    columns = np.array([wire for row in rows for wire, _ in row], dtype=np.uint32)
    values = words([value % curve.r for row in rows for _, value in row])
    return Matrix(row_ptr, columns, values)


def product_chain(curve: Curve, length: int, public_count: int = 1) -> tuple[System, list[int]]:
    """Wire 1 (public) is the end of w_{i+1} = (w_i + 3)(2 w_i - 1); wire 2 is the secret start.

    With a public_count of 0 nothing is public. Returns the system and a satisfying witness.
    """
    start = 2
    witness = [1, 0, 0x1234567890ABCDEF << 120]
    rows: list[tuple[Row, Row, Row]] = []
    for index in range(length):
        previous = start if index == 0 else len(witness) - 1
        value = (witness[previous] + 3) * (2 * witness[previous] - 1) % curve.r
        target = len(witness) if index < length - 1 else 1
        if target == 1:
            witness[1] = value
        else:
            witness.append(value)
        rows.append((((previous, 1), (0, 3)), ((previous, 2), (0, -1)), ((target, 1),)))
    return System(curve, len(witness), public_count, tuple(rows)), witness


def group_point(curve: Curve, point: G1 | G2, group: int = 1) -> Any:
    """A point of plain integers as py_ecc's projective one."""
    library = LIBRARIES[curve.name]
    if point is None:
        return library.Z1 if group == 1 else library.Z2
    if isinstance(point[0], tuple):
        return (library.FQ2(point[0]), library.FQ2(point[1]), library.FQ2.one())
    return (library.FQ(point[0]), library.FQ(point[1]), library.FQ.one())


def plain_point(curve: Curve, point: Any) -> G1 | G2:
    """py_ecc's projective point as plain integers."""
    library = LIBRARIES[curve.name]
    if library.is_inf(point):
        return None
    x, y = library.normalize(point)
    if isinstance(x, library.FQ2):
        return tuple(int(c) for c in x.coeffs), tuple(int(c) for c in y.coeffs)
    return int(x), int(y)


def times(curve: Curve, group: int, scalar: int) -> G1 | G2:
    """A multiple of a group's generator (group 1 or 2)."""
    library = LIBRARIES[curve.name]
    generator = library.G1 if group == 1 else library.G2
    return plain_point(curve, library.multiply(generator, scalar % curve.r))


def verifies(key: VerifyingKey, proof: Proof, public: Sequence[int]) -> bool:
    """e(A, B) = e(alpha, beta) e(IC(x), gamma) e(C, delta), by py_ecc."""
    library = LIBRARIES[key.curve.name]
    statement = group_point(key.curve, key.ic[0])
    for value, point in zip(public, key.ic[1:], strict=True):
        statement = library.add(statement, library.multiply(group_point(key.curve, point), value))
    pairs = [
        (library.neg(group_point(key.curve, proof.a)), proof.b),
        (group_point(key.curve, key.alpha_g1), key.beta_g2),
        (statement, key.gamma_g2),
        (group_point(key.curve, proof.c), key.delta_g2),
    ]
    product = library.FQ12.one()
    for p, q in pairs:
        product *= library.pairing(group_point(key.curve, q, 2), p, final_exponentiate=False)
    return library.final_exponentiate(product) == library.FQ12.one()


@dataclass(frozen=True)
class Secrets:
    """The toxic waste of a setup, known for once."""

    tau: int
    alpha: int
    beta: int
    gamma: int
    delta: int


def lagrange(curve: Curve, nodes: Sequence[int], index: int, point: int) -> int:
    """L_index(point) over the nodes, from its definition."""
    r, above, below = curve.r, 1, 1
    for other, node in enumerate(nodes):
        if other != index:
            above = above * (point - node) % r
            below = below * (nodes[index] - node) % r
    return above * pow(below, -1, r) % r


def key_scalars(system: System, secret: Secrets, domain: int) -> dict[str, list[int]]:
    """The discrete logarithms of every array of a proving key, and of IC."""
    r = system.curve.r
    root = system.curve.root_of_unity(domain.bit_length() - 1)
    nodes = [pow(root, index, r) for index in range(domain)]
    basis = [lagrange(system.curve, nodes, index, secret.tau) for index in range(domain)]
    columns = [[0] * system.wires for _ in range(3)]
    for row, matrices in enumerate(system.rows):
        for column, combination in zip(columns, matrices, strict=True):
            for wire, value in combination:
                column[wire] += value * basis[row]
    for wire in range(system.public_count + 1):
        columns[0][wire] += basis[len(system.rows) + wire]
    a, b, c = ([value % r for value in column] for column in columns)
    folded = [(secret.beta * x + secret.alpha * y + z) % r for x, y, z in zip(a, b, c, strict=True)]
    public = system.public_count + 1
    return {
        "a": a,
        "b": b,
        "ic": [value * pow(secret.gamma, -1, r) % r for value in folded[:public]],
        "c": [value * pow(secret.delta, -1, r) % r for value in folded[public:]],
        "h": quotient_scalars(system.curve, secret, domain),
    }


def quotient_scalars(curve: Curve, secret: Secrets, domain: int) -> list[int]:
    """Odd Lagrange polynomials of the doubled domain at tau, over delta."""
    root = curve.root_of_unity(domain.bit_length())
    nodes = [pow(root, index, curve.r) for index in range(2 * domain)]
    inverse = pow(secret.delta, -1, curve.r)
    return [lagrange(curve, nodes, 2 * index + 1, secret.tau) * inverse % curve.r for index in range(domain)]
