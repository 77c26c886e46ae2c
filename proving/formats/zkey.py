"""Groth16 proving keys as snarkjs writes them (`.zkey`).

Points are affine with coordinates in Montgomery form; all-zero bytes are the point at infinity.
Section 4 holds the coefficients of A and B scaled by R^2; H is in Lagrange form on the odd coset,
one point a row of the domain. Reading maps the file: the arrays of the key are views of it.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from kernels.curves import CURVES, Curve, Group
from kernels.device import KeyPoints
from proving.formats.container import Container, Section, encode_container, open_container
from proving.formats.contributions import (
    Contribution,
    count_contributions,
    encode_contributions,
    is_insecure,
    take_contributions,
)
from proving.formats.errors import FormatError
from proving.formats.files import write_atomically
from proving.formats.montgomery import read_g1, read_g1_points, read_g2, write_g1, write_g2
from proving.formats.r1cs import R1cs
from proving.formats.words import first_not_below
from proving.groth16.membership import first_outside
from proving.groth16.objects import G1, G2
from proving.groth16.proving_key import ProvingKey
from proving.groth16.qap import key_records

MAGIC = b"zkey"
PROTOCOLS = {1: "Groth16", 2: "PLONK", 10: "FFLONK"}
GROTH16 = 1
SECTIONS = {
    1: "protocol",
    2: "header",
    3: "IC",
    4: "coefficients",
    5: "A points",
    6: "B1 points",
    7: "B2 points",
    8: "C points",
    9: "H points",
    10: "contributions",
}

Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class Header:
    """Section 2: the sizes of the circuit and the single points of the key."""

    curve: Curve
    variable_count: int
    public_count: int
    domain_size: int
    alpha_g1: G1
    beta_g1: G1
    beta_g2: G2
    gamma_g2: G2
    delta_g1: G1
    delta_g2: G2


def coefficient_dtype(curve: Curve) -> np.dtype[np.void]:
    """One record of section 4: matrix (0 = A, 1 = B), row, wire, value (Fr words scaled by R^2)."""
    return np.dtype([("matrix", "<u4"), ("row", "<u4"), ("wire", "<u4"), ("value", "<u8", (curve.fr_words,))])


def read_zkey(path: Path | str, key_id: str | None = None) -> ProvingKey:
    """Map a Groth16 proving key and check its counts, its coefficients and its single points.

    The big arrays of points are not looked at: `validate_points` does that. `key_id` names the key where
    it is kept resident; without it, path, size and time of the file do.
    Raises FormatError for a file that is no such key or is broken, OSError when there is no file.
    """
    container = open_container(path, MAGIC, (1,), SECTIONS)
    check_protocol(container)
    header = read_groth16_header(container)
    points = read_points(container, header)
    coefficients = read_coefficients(container, header)
    record = container.section(10)
    return ProvingKey(
        curve=header.curve,
        variable_count=header.variable_count,
        public_count=header.public_count,
        domain_size=header.domain_size,
        coefficients=coefficients,
        points=points,
        alpha_g1=header.alpha_g1,
        beta_g1=header.beta_g1,
        beta_g2=header.beta_g2,
        gamma_g2=header.gamma_g2,
        delta_g1=header.delta_g1,
        delta_g2=header.delta_g2,
        ic=read_ic(container, header),
        key_id=key_id or name_file(path),
        contributions=count_contributions(record, header.curve),
        insecure=is_insecure(record, header.curve),
    )


def is_zkey(path: Path | str) -> bool:
    """Whether a file begins as a zkey does. Raises OSError."""
    with Path(path).open("rb") as handle:
        return handle.read(len(MAGIC)) == MAGIC


def name_file(path: Path | str) -> str:
    """A name for the present content of a file that costs no reading of it."""
    status = Path(path).stat()
    described = f"{Path(path).resolve()}\0{status.st_size}\0{status.st_mtime_ns}\0{status.st_ino}"
    return hashlib.sha256(described.encode()).hexdigest()


def check_protocol(container: Container) -> None:
    """Refuse keys of other proof systems by their name."""
    section = container.section(1)
    protocol = section.take_u32("the protocol")
    section.finish()
    if protocol != GROTH16:
        name = PROTOCOLS.get(protocol, f"an unknown protocol ({protocol})")
        raise section.refusal(f"this key is for {name}; only Groth16 keys are proved with here")


def read_groth16_header(container: Container) -> Header:
    """Sizes and single points, checked: known primes, a domain that fits, points on the curve."""
    section = container.section(2)
    curve = take_curve(section)
    variable_count = section.take_u32("the number of variables")
    public_count = section.take_u32("the number of public signals")
    domain_size = section.take_u32("the size of the domain")
    if public_count >= variable_count:
        raise section.refusal(f"{public_count} public signals among {variable_count} variables")
    if domain_size.bit_count() != 1 or domain_size.bit_length() - 1 > curve.two_adicity:
        raise section.refusal(f"the domain, {domain_size}, is no power of two that {curve.name} has")
    if domain_size < public_count + 1:
        raise section.refusal(
            f"the domain, {domain_size}, is smaller than {public_count} public signals need"
        )
    words = curve.fq_words

    def g1(name: str) -> G1:
        row = section.take_words(1, 2 * words, name)
        return checked(section, name, lambda: read_g1(curve, row))

    def g2(name: str) -> G2:
        row = section.take_words(1, 4 * words, name)
        return checked(section, name, lambda: read_g2(curve, row))

    header = Header(
        curve,
        variable_count,
        public_count,
        domain_size,
        alpha_g1=g1("alpha in G1"),
        beta_g1=g1("beta in G1"),
        beta_g2=g2("beta in G2"),
        gamma_g2=g2("gamma in G2"),
        delta_g1=g1("delta in G1"),
        delta_g2=g2("delta in G2"),
    )
    section.finish()
    return header


def take_curve(section: Section) -> Curve:
    """Read the widths and primes of both fields; the curve that has them."""
    base_size = section.take_u32("the width of the base field")
    base = section.take_integer(base_size, "the base prime")
    scalar_size = section.take_u32("the width of the scalar field")
    scalar = section.take_integer(scalar_size, "the scalar prime")
    for curve in CURVES:
        widths = (8 * curve.fq_words, 8 * curve.fr_words)
        if (base, scalar, base_size, scalar_size) == (curve.q, curve.r, *widths):
            return curve
    raise section.refusal("the primes are not those of a curve known here (bn254, bls12-381)")


def checked(section: Section, name: str, read: Callable[[], Value]) -> Value:
    """Run a reader of points; its complaint becomes this section's."""
    try:
        return read()
    except ValueError as error:
        raise section.refusal(f"{name}: {error}") from error


def read_ic(container: Container, header: Header) -> tuple[G1, ...]:
    """The points that public inputs multiply, one more than there are inputs."""
    section = container.section(3)
    rows = take_all_points(section, header.public_count + 1, 2 * header.curve.fq_words)
    return checked(section, "IC", lambda: read_g1_points(header.curve, rows))


def read_points(container: Container, header: Header) -> KeyPoints:
    """Views of the five big arrays, their sizes checked against the header."""
    g1_words, g2_words = 2 * header.curve.fq_words, 4 * header.curve.fq_words
    wires, private = header.variable_count, header.variable_count - header.public_count - 1

    def points(number: int, count: int, words: int) -> NDArray[np.uint64]:
        return take_all_points(container.section(number), count, words)

    return KeyPoints(
        curve=header.curve,
        log_domain=header.domain_size.bit_length() - 1,
        public_count=header.public_count,
        a=points(5, wires, g1_words),
        b1=points(6, wires, g1_words),
        b2=points(7, wires, g2_words),
        c=points(8, private, g1_words),
        h=points(9, header.domain_size, g1_words),
    )


def take_all_points(section: Section, count: int, words: int) -> NDArray[np.uint64]:
    """A section that holds a known number of points and nothing else."""
    size = 8 * words
    if len(section.body) != count * size:
        raise section.refusal(
            f"has {len(section.body)} bytes where {count} points of {size} bytes are wanted"
        )
    return section.take_words(count, words, "points")


def read_coefficients(container: Container, header: Header) -> NDArray[np.uint8]:
    """The body of section 4 with every index and value in it in bounds."""
    section = container.section(4)
    count = section.take_u32("the number of coefficients")
    layout = coefficient_dtype(header.curve)
    if section.remaining != count * layout.itemsize:
        raise section.refusal(
            f"has {section.remaining} bytes of records where {count} of {layout.itemsize} bytes are promised"
        )
    records = section.take(section.remaining, "the records").view(layout)
    limits = (
        ("matrix", 2, "matrices"),
        ("row", header.domain_size, "rows of the domain"),
        ("wire", header.variable_count, "variables"),
    )
    for field, limit, what in limits:
        bad = np.flatnonzero(records[field] >= limit)
        if len(bad):
            value = int(records[field][bad[0]])
            raise section.refusal(
                f"record {bad[0]}: {field} {value} is out of bounds, there are {limit} {what}"
            )
    over = first_not_below(records["value"], header.curve.r)
    if over is not None:
        raise section.refusal(
            f"record {over}: the value is not below the scalar field of {header.curve.name}"
        )
    return section.body


def constraint_rows(key: ProvingKey) -> int:
    """The rows before the public signals' own: as many as the key's coefficients use, at most."""
    records = key.coefficients[4:].view(coefficient_dtype(key.curve))
    last = int(records["row"].max()) + 1 if len(records) else 0
    return max(0, last - key.public_count - 1)


def validate_points(key: ProvingKey, threads: int = 0, file: object = "proving key") -> None:
    """Check that every point of the key lies on the curve and in the subgroup of prime order.

    Takes time in proportion to the key; see `membership` for how sure it is. Raises FormatError naming
    section and index of the first bad point.
    """
    for place, index in misplaced_points(key, threads):
        raise FormatError(file, place, f"point {index} is not in the group of {key.curve.name}")


def misplaced_points(key: ProvingKey, threads: int = 0) -> Iterator[tuple[str, int]]:
    """The sections that hold points outside of their groups, each with the index of its first."""
    for number, group, array in point_arrays(key):
        bad = first_outside(key.curve, group, array, threads)
        if bad is not None:
            yield f"section {number} ({SECTIONS[number]})", bad


def point_arrays(key: ProvingKey) -> tuple[tuple[int, Group, NDArray[np.uint64]], ...]:
    """The five big arrays of points with the numbers of their sections."""
    points = key.points
    return (
        (5, Group.G1, points.a),
        (6, Group.G1, points.b1),
        (7, Group.G2, points.b2),
        (8, Group.G1, points.c),
        (9, Group.G1, points.h),
    )


def check_system(key: ProvingKey, system: R1cs, file: object = "r1cs") -> None:
    """Refuse a constraint system whose sizes are not those of a key. Raises FormatError, in its name."""
    if system.curve != key.curve:
        reason = f"the r1cs is for {system.curve.name}, the proving key for {key.curve.name}"
        raise FormatError(file, "curve", reason)
    for what, here, there in (
        ("wires", system.wires, key.variable_count),
        ("public signals", system.public_count, key.public_count),
    ):
        if here != there:
            raise FormatError(file, what, f"the r1cs has {here} {what}, the proving key {there}")
    rows = system.constraints + system.public_count + 1
    if rows > key.domain_size:
        raise FormatError(
            file, "constraints", f"the r1cs needs {rows} rows, the proving key has {key.domain_size}"
        )
    other = first_other_row(key, system)
    if other is not None:
        raise FormatError(file, f"constraint {other}", "is not the proving key's")


def first_other_row(key: ProvingKey, system: R1cs) -> int | None:
    """The first row whose A or B is not the same in a key and a constraint system of its sizes.

    Where a wire stands twice in a combination, tools differ in whether they add up: nothing is compared then.
    """
    there = ordered_records(key.coefficients[4:].view(coefficient_dtype(key.curve)))
    here = ordered_records(key_records(system))
    if there is None or here is None:
        return None
    common = min(len(there), len(here))
    differ = there[:common] != here[:common]
    if differ.any():
        first = int(differ.argmax())
        return int(min(there["row"][first], here["row"][first]))
    longer = there if len(there) > len(here) else here
    return int(longer["row"][common]) if len(longer) > common else None


def ordered_records(records: NDArray[np.void]) -> NDArray[np.void] | None:
    """Coefficients that are not zero by row, matrix and wire; None where one place has two."""
    kept = records[records["value"].any(axis=1)]
    kept = kept[np.lexsort((kept["wire"], kept["matrix"], kept["row"]))]
    places = np.stack([kept["row"], kept["matrix"], kept["wire"]], axis=1)
    twice = (places[1:] == places[:-1]).all(axis=1).any()
    return None if twice else kept


def read_contributions(path: Path | str) -> list[Contribution]:
    """All entries of a key's ceremony record. Raises FormatError or OSError."""
    container = open_container(path, MAGIC, (1,), SECTIONS)
    check_protocol(container)
    curve = take_curve(container.section(2))
    return take_contributions(container.section(10), curve)


def write_zkey(path: Path | str, key: ProvingKey) -> None:
    """Write a proving key as snarkjs reads it, atomically. Raises OSError.

    An insecure key gets one contribution under the name that marks it as such; no other contributions are
    written, whatever the key counts.
    """
    write_atomically(path, encode_zkey(key))


def encode_zkey(key: ProvingKey) -> list[bytes | memoryview]:
    """The pieces of a zkey file."""
    curve, points = key.curve, key.points
    sizes = struct.pack("<III", key.variable_count, key.public_count, key.domain_size)
    single = [
        write_g1(curve, key.alpha_g1),
        write_g1(curve, key.beta_g1),
        write_g2(curve, key.beta_g2),
        write_g2(curve, key.gamma_g2),
        write_g1(curve, key.delta_g1),
        write_g2(curve, key.delta_g2),
    ]
    return encode_container(
        MAGIC,
        1,
        [
            (1, [GROTH16.to_bytes(4, "little")]),
            (
                2,
                [
                    encode_field(curve.q, curve.fq_words),
                    encode_field(curve.r, curve.fr_words),
                    sizes,
                    *single,
                ],
            ),
            (3, [write_g1(curve, point) for point in key.ic]),
            (4, [raw_bytes(key.coefficients)]),
            (5, [raw_bytes(points.a)]),
            (6, [raw_bytes(points.b1)]),
            (7, [raw_bytes(points.b2)]),
            (8, [raw_bytes(points.c)]),
            (9, [raw_bytes(points.h)]),
            (10, [encode_contributions(key)]),
        ],
    )


def encode_field(prime: int, words: int) -> bytes:
    """The width of a field in bytes and its prime."""
    return (8 * words).to_bytes(4, "little") + prime.to_bytes(8 * words, "little")


def raw_bytes(array: NDArray[np.uint8] | NDArray[np.uint64]) -> memoryview:
    """The memory of an array, without a copy where it is contiguous."""
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8).data
