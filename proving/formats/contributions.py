"""The ceremony's record in a zkey: who contributed to the randomness of a proving key."""

from __future__ import annotations

from dataclasses import dataclass

from kernels.curves import Curve
from proving.formats.container import Section
from proving.formats.montgomery import write_g1, write_g2
from proving.groth16.proving_key import ProvingKey

HASH_BYTES = 64
BEACON = 1
NAME_FIELD = 1
INSECURE_NAME = "INSECURE DEVELOPMENT KEY"


@dataclass(frozen=True, slots=True)
class Contribution:
    """One entry of a key's ceremony record: who, and whether it is a beacon."""

    name: str
    beacon: bool


def fixed_size(curve: Curve) -> int:
    """Bytes of a contribution before its parameters: four points, transcript, kind and size."""
    return 3 * 16 * curve.fq_words + 32 * curve.fq_words + HASH_BYTES + 8


def count_contributions(section: Section, curve: Curve) -> int:
    """How many contributions the record announces. Leaves the section before the first of them."""
    section.position = 0
    section.take(HASH_BYTES, "the hash of the circuit")
    count = section.take_u32("the number of contributions")
    if count * fixed_size(curve) > section.remaining:
        raise section.refusal(f"too short for the {count} contributions it announces")
    return count


def is_insecure(section: Section, curve: Curve) -> bool:
    """Whether the first contribution bears the name that development keys are given."""
    return count_contributions(section, curve) > 0 and take_contribution(section, curve).name == INSECURE_NAME


def take_contributions(section: Section, curve: Curve) -> list[Contribution]:
    """All entries of the record."""
    entries = [take_contribution(section, curve) for _ in range(count_contributions(section, curve))]
    section.finish()
    return entries


def take_contribution(section: Section, curve: Curve) -> Contribution:
    """Read one contribution: points and transcript are skipped, its name is kept."""
    section.take(fixed_size(curve) - 8, "the points and transcript of a contribution")
    kind = section.take_u32("the kind of a contribution")
    size = section.take_u32("the size of a contribution's parameters")
    parameters = section.take(size, "the parameters of a contribution").tobytes()
    named = len(parameters) > 1 and parameters[0] == NAME_FIELD
    name = parameters[2 : 2 + parameters[1]].decode("utf-8", "replace") if named else ""
    return Contribution(name, beacon=kind == BEACON)


def encode_contributions(key: ProvingKey) -> bytes:
    """The record of a key: empty, or the one entry that says that nobody should trust it."""
    if not key.insecure:
        return bytes(HASH_BYTES) + (0).to_bytes(4, "little")
    name = INSECURE_NAME.encode()
    parameters = bytes([NAME_FIELD, len(name)]) + name
    points = 3 * write_g1(key.curve, key.delta_g1) + write_g2(key.curve, key.delta_g2)
    numbers = (0).to_bytes(4, "little") + len(parameters).to_bytes(4, "little")
    return bytes(HASH_BYTES) + (1).to_bytes(4, "little") + points + bytes(HASH_BYTES) + numbers + parameters
