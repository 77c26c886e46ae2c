"""A verified proof straight from a zkey and a wtns.

The same steps as `proving.groth16.prover` on a host device, but in one pass over the key: each array of
points is converted into scratch memory, used and forgotten, so that the key is never held twice. What this
path cannot vouch for (an odd file, a proof that fails its own check) it leaves to the plain one, which says
what is wrong.
"""

import os
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

from kernels import direct
from kernels.curves import Curve, Group
from proving.oneshot.files import Key, Unusual, read_key, read_values, require

SCALAR_BYTES = 32
RECORD_BYTES = 44
ONE = (1).to_bytes(SCALAR_BYTES, "little")

Timed = Callable[[str], AbstractContextManager[None]]


@dataclass(frozen=True, slots=True)
class Sums:
    """The five raw sums of a proof."""

    a: bytes
    b1: bytes
    b2: bytes
    c: bytes
    h: bytes


@dataclass(frozen=True, slots=True)
class Proof:
    """A proof in affine Montgomery words."""

    curve: Curve
    a: bytes
    b: bytes
    c: bytes


@dataclass(frozen=True, slots=True)
class Statement:
    """A verified proof and its public signals."""

    proof: Proof
    public: list[int]


def prove_files(zkey: Path, wtns: Path, threads: int, timed: Timed) -> Statement | None:
    """The proof, or None where the plain path has to look at these files. Raises OSError."""
    try:
        with timed("key"):
            key = read_key(zkey)
        with timed("witness"):
            witness = load_witness(key, wtns)
        sums = add_sums(key, witness, threads, timed)
        with timed("assemble"):
            proof = assemble(key, sums, draw_scalar(key.curve), draw_scalar(key.curve))
        with timed("verify"):
            valid = verifies(key, proof, witness)
    except (Unusual, ValueError):  # the IC is only looked at by the verifier
        return None
    if not valid:
        return None
    size = SCALAR_BYTES
    signals = (witness.read(size * wire, size) for wire in range(1, key.public_count + 1))
    return Statement(proof, [int.from_bytes(signal, "little") for signal in signals])


def load_witness(key: Key, path: Path) -> direct.Memory:
    """The witness in aligned memory: canonical, the right length, wire 0 one."""
    values = read_values(path, key.curve)
    require(values.count == key.wires)
    part = values.part
    with memoryview(values.file.data) as data, data[part.start : part.end] as body:
        witness = direct.Memory(part.size).fill(body)
    values.file.forget(part)
    require(witness.read(0, SCALAR_BYTES) == ONE)
    require(direct.first_not_canonical(key.curve, witness.address, values.count) == values.count)
    return witness


def add_sums(key: Key, witness: direct.Memory, threads: int, timed: Timed) -> Sums:
    """Everything that grows with the circuit."""
    curve, wires, log_domain = key.curve, key.wires, key.log_domain
    private = wires - key.public_count - 1
    with timed("evaluate"):
        a, b = evaluate(key, witness, threads)
    with timed("quotient"):
        h = direct.quotient(curve, a, b, log_domain, threads)
    g1, g2 = Group.G1, Group.G2
    with timed("h"):
        [sum_h] = sum_sections(key, [(9, g1)], h.address, 1 << log_domain, threads)
        h.close()
    # B1 and B2 are infinity at the same wires and go together; A goes alone, to hold less of the key at once
    with timed("a"):
        [sum_a] = sum_sections(key, [(5, g1)], witness.address, wires, threads)
    with timed("b"):
        sum_b1, sum_b2 = sum_sections(key, [(6, g1), (7, g2)], witness.address, wires, threads)
    with timed("c"):
        offset = SCALAR_BYTES * (key.public_count + 1)
        [sum_c] = sum_sections(key, [(8, g1)], witness.address + offset, private, threads)
    return Sums(sum_a, sum_b1, sum_b2, sum_c, sum_h)


def evaluate(key: Key, witness: direct.Memory, threads: int) -> tuple[direct.Memory, direct.Memory]:
    """A and B on the domain."""
    part = key.file.section(4)
    require(part.size >= 4)
    count = key.file.u32(part.start)
    require(part.size == 4 + RECORD_BYTES * count)
    evaluations = direct.evaluate(
        key.curve,
        records=key.file.address(part.start + 4),
        count=count,
        witness=witness.address,
        wires=key.wires,
        log_domain=key.log_domain,
        threads=threads,
    )
    key.file.forget(part)
    return evaluations


def sum_sections(
    key: Key, sections: list[tuple[int, Group]], scalars: int, count: int, threads: int
) -> list[bytes]:
    """The sums over some sections of the key by the same scalars."""
    parts = [key.points(number, group, count) for number, group in sections]
    sources = [
        (group, key.file.address(part.start)) for (_, group), part in zip(sections, parts, strict=True)
    ]
    sums = direct.add_up(key.curve, sources, scalars, count, threads)
    for part in parts:
        key.file.forget(part)
    return sums


def draw_scalar(curve: Curve) -> int:
    """A uniform element of Fr from the operating system; `secrets` takes longer to import than to use."""
    bits = curve.r.bit_length()
    while True:
        drawn = int.from_bytes(os.urandom(SCALAR_BYTES), "little") >> (8 * SCALAR_BYTES - bits)
        if drawn < curve.r:
            return drawn


def assemble(key: Key, sums: Sums, r: int, s: int) -> Proof:
    """See `proving.groth16.assembly`."""
    curve = key.curve
    a = direct.combine(curve, Group.G1, [(key.alpha1, 1), (sums.a, 1), (key.delta1, r)])
    b = direct.combine(curve, Group.G2, [(key.beta2, 1), (sums.b2, 1), (key.delta2, s)])
    terms = [(sums.c, 1), (sums.h, 1), (a, s), (key.beta1, r), (sums.b1, r)]
    return Proof(curve, a, b, direct.combine(curve, Group.G1, terms))


def verifies(key: Key, proof: Proof, witness: direct.Memory) -> bool:
    """The proof's own check: e(A, B) = e(alpha, beta) e(IC(x), gamma) e(C, delta), all in their groups."""
    curve, count = key.curve, key.public_count + 1
    part = key.file.section(3)
    if part.size != count * curve.point_bytes(Group.G1):
        return False
    source = [(Group.G1, key.file.address(part.start))]
    statement = direct.add_up(curve, source, witness.address, count)[0]
    negated = [direct.negate(curve, Group.G1, point) for point in (key.alpha1, statement, proof.c)]
    return direct.pairing_product_is_one(
        curve, [proof.a, *negated], [proof.b, key.beta2, key.gamma2, key.delta2]
    )
