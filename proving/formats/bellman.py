"""Parameters, verifying keys and proofs of bellman and bellperson (Zcash, Filecoin), on BLS12-381.

    verifying key: alpha_g1 | beta_g1 | beta_g2 | gamma_g2 | delta_g1 | delta_g2 | count u32 | ic
    parameters:    a verifying key, then h, l, a, b_g1, b_g2, each count u32 | points
                   and, straight from a ceremony, its record: hash 64 | count u32 | contributions of 544
    proof:         A 48 | B 96 | C 48 bytes, compressed; of several partitions one after the other

Big-endian; points of keys are uncompressed and never at infinity. h has one point less than the domain, l one
for each private wire; a, b_g1 and b_g2 leave out the wires that their matrix does not use.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from kernels.curves import BLS12_381, Group
from proving.formats.container import Section, map_file
from proving.formats.errors import FormatError
from proving.formats.zcash_points import decode_array, decode_g1, decode_g2, encode_g1, encode_g2, point_size
from proving.groth16.membership import first_outside
from proving.groth16.objects import G1, G2, Proof, VerifyingKey

QUERIES = (("h", Group.G1), ("l", Group.G1), ("a", Group.G1), ("b_g1", Group.G1), ("b_g2", Group.G2))
PROOF_BYTES = 192
CIRCUIT_HASH_BYTES = 64
CONTRIBUTION_BYTES = 3 * 96 + 192 + 64  # delta, s, s delta; r delta in G2; transcript
Point = TypeVar("Point")


@dataclass(frozen=True, slots=True)
class BellmanVerifyingKey:
    """A verifying key, and the two points beside it that bellman keeps for the prover."""

    key: VerifyingKey
    beta_g1: G1
    delta_g1: G1


@dataclass(frozen=True, slots=True, eq=False)
class Parameters:
    """A parameters file: its verifying key, and the five queries as views of the mapped file.

    h, l, a and b_g1 are (n, 96) uint8, b_g2 is (n, 192) uint8. `contributions` counts the entries of the
    ceremony's record, None where the file has none.
    """

    file: str
    verifying_key: BellmanVerifyingKey
    h: NDArray[np.uint8]
    l: NDArray[np.uint8]  # noqa: E741 - bellman's name
    a: NDArray[np.uint8]
    b_g1: NDArray[np.uint8]
    b_g2: NDArray[np.uint8]
    contributions: int | None = None

    @property
    def domain_size(self) -> int:
        """The rows of the domain that h belongs to."""
        return len(self.h) + 1

    @property
    def variable_count(self) -> int:
        """All wires: the constant, public inputs and private wires."""
        return len(self.verifying_key.key.ic) + len(self.l)

    def points(self, name: str) -> NDArray[np.uint64]:
        """One query in Montgomery form, (n, 2W | 4W) words. Raises FormatError."""
        try:
            return decode_array(dict(QUERIES)[name], getattr(self, name))
        except ValueError as error:
            raise FormatError(self.file, f"{name} query", str(error)) from error


def read_parameters(path: Path | str) -> Parameters:
    """Map a parameters file and hold its counts against its size; its single points are checked.

    The queries are not looked at: `validate_queries` does that. Raises FormatError or OSError.
    """
    whole = Section(str(path), "verifying key", map_file(path))
    verifying_key = take_verifying_key(whole)
    queries = {name: take_query(whole, name, group) for name, group in QUERIES}
    parameters = Parameters(str(path), verifying_key, **queries, contributions=take_ceremony(whole))
    check_counts(parameters)
    return parameters


def check_counts(parameters: Parameters) -> None:
    """Refuse counts that no circuit can have."""
    domain, curve = parameters.domain_size, BLS12_381
    wires = parameters.variable_count
    if domain.bit_count() != 1 or domain.bit_length() - 1 > curve.two_adicity:
        raise FormatError(
            parameters.file,
            "h query",
            f"{domain - 1} points are not one less than a power of two that the field has",
        )
    public = len(parameters.verifying_key.key.ic)
    if domain < public:
        raise FormatError(parameters.file, "h query", f"a domain of {domain} has no room for {public} inputs")
    if len(parameters.b_g1) != len(parameters.b_g2):
        reason = f"has {len(parameters.b_g2)} points, b_g1 {len(parameters.b_g1)}"
        raise FormatError(parameters.file, "b_g2 query", reason)
    if not public <= len(parameters.a) <= wires:
        reason = f"has {len(parameters.a)} points for {public} inputs and {wires} variables"
        raise FormatError(parameters.file, "a query", reason)
    if len(parameters.b_g1) > wires:
        reason = f"has {len(parameters.b_g1)} points for {wires} variables"
        raise FormatError(parameters.file, "b_g1 query", reason)


def take_ceremony(section: Section) -> int | None:
    """How many contributions the record at the end of a file announces, None where there is no record."""
    section.name = "end of file"
    if not section.remaining:
        return None
    if section.remaining < CIRCUIT_HASH_BYTES + 4:
        section.finish()
    section.name = "ceremony"
    section.take(CIRCUIT_HASH_BYTES, "the hash of the circuit")
    count = take_count(section)
    if section.remaining != count * CONTRIBUTION_BYTES:
        raise section.refusal(
            f"{count} contributions do not take the {section.remaining} bytes that are left"
        )
    return count


def take_query(section: Section, name: str, group: Group) -> NDArray[np.uint8]:
    """One counted list of points as a view."""
    section.name = f"{name} query"
    count, size = take_count(section), point_size(group, compressed=False)
    if count * size > section.remaining:
        raise section.refusal(
            f"says {count} points, {count * size} bytes, but {section.remaining} bytes are left"
        )
    return section.take(count * size, "the points").reshape(count, size)


def take_count(section: Section) -> int:
    """A big-endian count."""
    return int.from_bytes(section.take(4, "a count").tobytes(), "big")


def take_verifying_key(section: Section) -> BellmanVerifyingKey:
    """The verifying key at the front of a section; every point on its curve, none at infinity."""

    def g1(name: str) -> G1:
        return take_point(section, name, point_size(Group.G1, compressed=False), decode_g1)

    def g2(name: str) -> G2:
        return take_point(section, name, point_size(Group.G2, compressed=False), decode_g2)

    alpha_g1, beta_g1, beta_g2 = g1("alpha_g1"), g1("beta_g1"), g2("beta_g2")
    gamma_g2, delta_g1, delta_g2 = g2("gamma_g2"), g1("delta_g1"), g2("delta_g2")
    count = take_count(section)
    if not count:
        raise section.refusal("has no ic points")
    if count * point_size(Group.G1, compressed=False) > section.remaining:
        raise section.refusal(f"says {count} ic points, but {section.remaining} bytes are left")
    ic = tuple(g1(f"ic[{index}]") for index in range(count))
    key = VerifyingKey(BLS12_381, alpha_g1, beta_g2, gamma_g2, delta_g2, ic)
    return BellmanVerifyingKey(key, beta_g1, delta_g1)


def take_point(section: Section, name: str, size: int, decode: Callable[[bytes], Point]) -> Point:
    """One point of a key: uncompressed, finite and on its curve."""
    raw = section.take(size, name)
    try:
        point = decode(raw.tobytes())
    except ValueError as error:
        raise section.refusal(f"{name}: {error}") from error
    if point is None:
        raise section.refusal(f"{name} is at infinity")
    group = Group.G1 if size == point_size(Group.G1, compressed=False) else Group.G2
    if first_outside(BLS12_381, group, decode_array(group, raw.reshape(1, -1)), threads=1) is not None:
        raise section.refusal(f"{name} is not in the group of {BLS12_381.name}")
    return point


def validate_queries(parameters: Parameters, threads: int = 0) -> None:
    """Check that every point of the queries lies on the curve and in the subgroup of prime order.

    Takes time in proportion to the file. Raises FormatError naming the query and the first bad point.
    """
    for name, bad in misplaced_queries(parameters, threads):
        reason = f"point {bad} is not in the group of {BLS12_381.name}"
        raise FormatError(parameters.file, f"{name} query", reason)


def misplaced_queries(parameters: Parameters, threads: int = 0) -> Iterator[tuple[str, int]]:
    """The queries that hold points outside of their groups, each with the index of its first.

    Raises FormatError for points that are none.
    """
    for name, group in QUERIES:
        bad = first_outside(BLS12_381, group, parameters.points(name), threads)
        if bad is not None:
            yield name, bad


def read_bellman_verifying_key(path: Path | str) -> BellmanVerifyingKey:
    """The verifying key in a `.vk` file. Raises FormatError or OSError."""
    return verifying_key_from_bellman(map_file(path).tobytes(), str(path))


def verifying_key_from_bellman(data: bytes, file: str = "verifying key") -> BellmanVerifyingKey:
    """A verifying key from its bytes. Raises FormatError."""
    section = Section(file, "verifying key", np.frombuffer(data, dtype=np.uint8))
    key = take_verifying_key(section)
    section.finish()
    return key


def verifying_key_to_bellman(key: BellmanVerifyingKey) -> bytes:
    """A verifying key as bellman writes it. Raises ValueError for one on another curve."""
    verifying = key.key
    if verifying.curve != BLS12_381:
        raise ValueError(f"bellman's keys are on {BLS12_381.name}, this one is on {verifying.curve.name}")
    pieces = [
        encode_g1(verifying.alpha_g1, compressed=False),
        encode_g1(key.beta_g1, compressed=False),
        encode_g2(verifying.beta_g2, compressed=False),
        encode_g2(verifying.gamma_g2, compressed=False),
        encode_g1(key.delta_g1, compressed=False),
        encode_g2(verifying.delta_g2, compressed=False),
        len(verifying.ic).to_bytes(4, "big"),
        *(encode_g1(point, compressed=False) for point in verifying.ic),
    ]
    return b"".join(pieces)


def proof_to_bellman(proof: Proof) -> bytes:
    """A proof as 192 bytes. Raises ValueError for one on another curve."""
    if proof.curve != BLS12_381:
        raise ValueError(f"bellman's proofs are on {BLS12_381.name}, this one is on {proof.curve.name}")
    parts = (
        encode_g1(proof.a, compressed=True),
        encode_g2(proof.b, compressed=True),
        encode_g1(proof.c, compressed=True),
    )
    return b"".join(parts)


def proof_from_bellman(data: bytes, file: str = "proof") -> Proof:
    """A proof from its 192 bytes. Whether its points are in their subgroups is the verifier's question.

    Raises FormatError.
    """
    (proof,) = proofs_from_bellman(data, file, count=1)
    return proof


def proofs_from_bellman(data: bytes, file: str = "proof", count: int | None = None) -> list[Proof]:
    """The proofs of all partitions from their bytes, in order. Raises FormatError."""
    wanted = "a multiple of 192" if count is None else str(count * PROOF_BYTES)
    if not data or len(data) % PROOF_BYTES or (count is not None and len(data) != count * PROOF_BYTES):
        raise FormatError(file, "length", f"has {len(data)} bytes where {wanted} are wanted")
    return [
        decode_proof(data[start : start + PROOF_BYTES], file, start)
        for start in range(0, len(data), PROOF_BYTES)
    ]


def decode_proof(data: bytes, file: str, start: int) -> Proof:
    """One proof; `start` is where it lies in its file."""
    partition = "" if not start else f"proof {start // PROOF_BYTES}, "

    def point(name: str, begin: int, end: int, decode: Callable[[bytes], Point]) -> Point:
        try:
            return decode(data[begin:end])
        except ValueError as error:
            raise FormatError(file, f"{partition}{name}", str(error)) from error

    return Proof(
        BLS12_381,
        point("A", 0, 48, decode_g1),
        point("B", 48, 144, decode_g2),
        point("C", 144, 192, decode_g1),
    )
