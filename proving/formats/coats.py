"""Proofs and verifying keys in the binary forms of other libraries, in both directions.

    bellman     BLS12-381; proof 192 bytes, key uncompressed with beta_g1 and delta_g1
    arkworks    proof A | B | C; key alpha | beta | gamma | delta | count u64 little-endian | ic
    gnark       proof A | B | C | count u32 of commitments | proof of their knowledge (older: A | B | C);
                key as bellman's, then counts u32 of committed wires and of commitment keys, both zero here
    waves       BLS12-381 key: as arkworks's, compressed, without a count

gnark's proofs with commitments obey another equation and are refused.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from kernels.curves import BLS12_381, BN254, Curve, Group
from proving.formats.codecs import ARKWORKS_BN254, GNARK_BN254, ZCASH, Codec
from proving.formats.container import Section
from proving.formats.errors import FormatError
from proving.groth16.objects import G1, G2, Proof, VerifyingKey

PROOF_PARTS = (("A", Group.G1), ("B", Group.G2), ("C", Group.G1))


class Coat(StrEnum):
    """The binary forms."""

    BELLMAN = "bellman"
    ARKWORKS = "arkworks"
    ARKWORKS_UNCOMPRESSED = "arkworks-uncompressed"
    GNARK = "gnark"
    GNARK_RAW = "gnark-raw"
    WAVES = "waves"

    @property
    def compressed(self) -> bool:
        """Whether the points of a proof are compressed."""
        return self not in {Coat.ARKWORKS_UNCOMPRESSED, Coat.GNARK_RAW}

    def codec(self, curve: Curve) -> Codec:
        """How this form writes points of a curve. Raises ValueError where it has no form for it."""
        if curve is BLS12_381:
            return ZCASH
        if self in {Coat.ARKWORKS, Coat.ARKWORKS_UNCOMPRESSED}:
            return ARKWORKS_BN254
        if self in {Coat.GNARK, Coat.GNARK_RAW}:
            return GNARK_BN254
        raise ValueError(f"{self} has no form for {curve.name}, only for {BLS12_381.name}")


GNARK_COATS = frozenset({Coat.GNARK, Coat.GNARK_RAW})
ARKWORKS_COATS = frozenset({Coat.ARKWORKS, Coat.ARKWORKS_UNCOMPRESSED})


@dataclass(frozen=True, slots=True)
class FullVerifyingKey:
    """A verifying key, and beta and delta in G1 where the form that it came in has them."""

    key: VerifyingKey
    beta_g1: G1 = None
    delta_g1: G1 = None


class Points:
    """Reads points one after the other; complaints name the point."""

    def __init__(self, section: Section, codec: Codec, *, compressed: bool) -> None:
        self.section = section
        self.codec = codec
        self.compressed = compressed

    def g1(self, name: str) -> G1:
        """The next point, in G1."""
        return self._take(name, Group.G1)  # type: ignore[return-value]

    def g2(self, name: str) -> G2:
        """The next point, in G2."""
        return self._take(name, Group.G2)  # type: ignore[return-value]

    def _take(self, name: str, group: Group) -> G1 | G2:
        data = self.section.take(self.codec.size(group, compressed=self.compressed), name).tobytes()
        try:
            return self.codec.decode(group, data, compressed=self.compressed)
        except ValueError as error:
            raise FormatError(self.section.file, name, str(error)) from error


def open_section(data: bytes, file: str, name: str) -> Section:
    """Bytes as something to read from front to back."""
    return Section(file, name, np.frombuffer(data, dtype=np.uint8))


def proof_size(coat: Coat, curve: Curve) -> int:
    """Bytes of a proof. Raises ValueError where the form has none for the curve."""
    codec = coat.codec(curve)
    points = sum(codec.size(group, compressed=coat.compressed) for _, group in PROOF_PARTS)
    return points + (4 + codec.size(Group.G1, compressed=coat.compressed) if coat in GNARK_COATS else 0)


def proof_to_bytes(proof: Proof, coat: Coat) -> bytes:
    """A proof in a binary form. Raises ValueError where the form has none for its curve."""
    if coat is Coat.WAVES:
        coat = Coat.BELLMAN
    codec = coat.codec(proof.curve)
    points = (proof.a, proof.b, proof.c)
    body = b"".join(
        codec.encode(group, point, compressed=coat.compressed)
        for (_, group), point in zip(PROOF_PARTS, points, strict=True)
    )
    if coat in GNARK_COATS:
        body += bytes(4) + codec.encode(Group.G1, None, compressed=coat.compressed)
    return body


def proof_from_bytes(data: bytes, coat: Coat, curve: Curve, file: str = "proof") -> Proof:
    """A proof from a binary form. Whether its points are in their groups is the verifier's question.

    Raises FormatError.
    """
    codec = codec_or_refuse(coat, curve, file)
    section = open_section(data, file, "proof")
    points = Points(section, codec, compressed=coat.compressed)
    proof = Proof(curve, points.g1("A"), points.g2("B"), points.g1("C"))
    if coat in GNARK_COATS and section.remaining:
        take_no_commitments(section, points)
    section.finish()
    return proof


def take_no_commitments(section: Section, points: Points) -> None:
    """Read gnark's trailer over; commitments in it are refused."""
    count = int.from_bytes(section.take(4, "the number of commitments").tobytes(), "big")
    if count:
        raise section.refusal(f"carries {count} commitments, which change what has to be verified")
    points.g1("proof of knowledge")


def codec_or_refuse(coat: Coat, curve: Curve, file: str) -> Codec:
    """The codec of a form, or a refusal in the file's name."""
    try:
        return coat.codec(curve)
    except ValueError as error:
        raise FormatError(file, "curve", str(error)) from error


def verifying_key_to_bytes(full: FullVerifyingKey, coat: Coat) -> bytes:
    """A verifying key in a binary form. Raises ValueError where the form cannot hold it."""
    key, compressed = full.key, coat.compressed and coat is not Coat.BELLMAN
    codec = coat.codec(key.curve)

    def g1(point: G1) -> bytes:
        return codec.encode(Group.G1, point, compressed=compressed)

    def g2(point: G2) -> bytes:
        return codec.encode(Group.G2, point, compressed=compressed)

    ic = b"".join(map(g1, key.ic))
    if coat in ARKWORKS_COATS or coat is Coat.WAVES:
        count = b"" if coat is Coat.WAVES else len(key.ic).to_bytes(8, "little")
        return g1(key.alpha_g1) + b"".join(map(g2, (key.beta_g2, key.gamma_g2, key.delta_g2))) + count + ic
    if full.beta_g1 is None or full.delta_g1 is None:
        raise ValueError(
            f"{coat} keeps beta and delta in G1 with the key: convert from a proving key instead"
        )
    head = g1(key.alpha_g1) + g1(full.beta_g1) + g2(key.beta_g2) + g2(key.gamma_g2)
    head += g1(full.delta_g1) + g2(key.delta_g2) + len(key.ic).to_bytes(4, "big")
    return head + ic + (bytes(8) if coat in GNARK_COATS else b"")


def verifying_key_from_bytes(
    data: bytes, coat: Coat, curve: Curve, file: str = "verifying key"
) -> FullVerifyingKey:
    """A verifying key from a binary form; its points are the verifier's question. Raises FormatError."""
    codec = codec_or_refuse(coat, curve, file)
    section = open_section(data, file, "verifying key")
    points = Points(section, codec, compressed=coat.compressed and coat is not Coat.BELLMAN)
    if coat in ARKWORKS_COATS or coat is Coat.WAVES:
        full = take_short_key(section, points, counted=coat is not Coat.WAVES)
    else:
        full = take_long_key(section, points, trailer=coat in GNARK_COATS)
    section.finish()
    return full


def take_short_key(section: Section, points: Points, *, counted: bool) -> FullVerifyingKey:
    """alpha, beta, gamma, delta and ic."""
    alpha, beta, gamma, delta = (
        points.g1("alpha_g1"),
        points.g2("beta_g2"),
        points.g2("gamma_g2"),
        points.g2("delta_g2"),
    )
    size = points.codec.size(Group.G1, compressed=points.compressed)
    count = section.take_integer(8, "the number of ic points") if counted else -(-section.remaining // size)
    ic = take_ic(section, points, count)
    return FullVerifyingKey(VerifyingKey(points.codec.curve, alpha, beta, gamma, delta, ic))


def take_long_key(section: Section, points: Points, *, trailer: bool) -> FullVerifyingKey:
    """alpha, beta, beta, gamma, delta, delta and ic: bellman's order, which gnark follows."""
    alpha, beta1, beta2 = points.g1("alpha_g1"), points.g1("beta_g1"), points.g2("beta_g2")
    gamma, delta1, delta2 = points.g2("gamma_g2"), points.g1("delta_g1"), points.g2("delta_g2")
    count = int.from_bytes(section.take(4, "the number of ic points").tobytes(), "big")
    ic = take_ic(section, points, count)
    if trailer and section.remaining:
        for what in ("committed wires", "commitment keys"):
            if section.remaining and any(section.take(4, f"the number of {what}")):
                raise section.refusal(f"has {what}, which change what has to be verified")
    return FullVerifyingKey(VerifyingKey(points.codec.curve, alpha, beta2, gamma, delta2, ic), beta1, delta1)


def take_ic(section: Section, points: Points, count: int) -> tuple[G1, ...]:
    """The ic points, at least one."""
    size = points.codec.size(Group.G1, compressed=points.compressed)
    if not count:
        raise section.refusal("has no ic points")
    if count * size > section.remaining:
        raise section.refusal(f"says {count} ic points, but {section.remaining} bytes are left")
    return tuple(points.g1(f"ic[{index}]") for index in range(count))


def possible_proofs(data: bytes, curve: Curve, file: str = "proof") -> Iterator[tuple[Coat, Proof]]:
    """What a proof may be, by its size, among the forms that a curve has. Forms that do not fit are left out.

    Raises FormatError, the last form's, when none fits.
    """
    last = FormatError(file, "length", f"{len(data)} bytes are no proof in a form that is known here")
    found = False
    for coat in (Coat.BELLMAN, Coat.ARKWORKS, Coat.GNARK, Coat.ARKWORKS_UNCOMPRESSED, Coat.GNARK_RAW):
        if (curve is BN254 and coat is Coat.BELLMAN) or (curve is BLS12_381 and coat is Coat.ARKWORKS):
            continue  # the former does not exist, the latter is bellman's
        whole = proof_size(coat, curve)
        short = whole - 4 - coat.codec(curve).size(Group.G1, compressed=coat.compressed)
        if len(data) != whole and not (coat in GNARK_COATS and len(data) == short):
            continue
        try:
            yield coat, proof_from_bytes(data, coat, curve, file)
            found = True
        except FormatError as error:
            last = error
    if not found:
        raise last
