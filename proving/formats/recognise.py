"""Proofs and verifying keys in whatever form they come: recognised by their content."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from kernels.curves import BLS12_381, CURVES, Curve
from proving.formats.bellman import PROOF_BYTES, proofs_from_bellman, read_parameters
from proving.formats.calldata import is_calldata, proof_from_abi, proof_from_calldata
from proving.formats.coats import (
    Coat,
    FullVerifyingKey,
    possible_proofs,
    proof_from_bytes,
    verifying_key_from_bytes,
)
from proving.formats.errors import FormatError
from proving.formats.exact_json import JsonError, parse_json
from proving.formats.snarkjs import proof_from_json, verifying_key_from_json
from proving.formats.zkey import MAGIC as ZKEY_MAGIC
from proving.formats.zkey import read_zkey
from proving.groth16.objects import Proof, VerifyingKey
from proving.groth16.verifier import BatchVerdict, Verdict, check_key, same_multiple, verify, verify_batch

MAX_BYTES = 64 << 20
SNARKJS = "snarkjs"
CALLDATA = "calldata"


@dataclass(frozen=True, slots=True)
class Reading:
    """How a proof file may be read: its form, the proofs of all partitions, public inputs if it has them."""

    form: str
    proofs: tuple[Proof, ...]
    public: tuple[int, ...] | None = None


@dataclass(frozen=True, slots=True)
class KeyReading:
    """One way to read a verifying key."""

    form: str
    full: FullVerifyingKey

    @property
    def key(self) -> VerifyingKey:
        """The verifying key itself."""
        return self.full.key


def read_bytes(path: Path | str) -> bytes:
    """A small file's content. Raises FormatError for a large or empty one, OSError when there is none."""
    with Path(path).open("rb") as handle:
        content = handle.read(MAX_BYTES + 1)
    if len(content) > MAX_BYTES:
        raise FormatError(path, "file", f"is larger than {MAX_BYTES} bytes")
    if not content:
        raise FormatError(path, "file", "is empty")
    return content


def looks_like_text(content: bytes, opening: bytes) -> bool:
    """Whether the content begins, after blanks and a byte order mark, with one of some characters."""
    first = content[:64].lstrip(b"\xef\xbb\xbf \t\r\n")[:1]
    return bool(first) and first in opening


def is_utf8(content: bytes) -> bool:
    """Whether the content can be text at all; points of a hundred bytes hardly ever can."""
    try:
        content.decode()
    except UnicodeDecodeError:
        return False
    return True


def read_any_key(path: Path | str) -> KeyReading:
    """A verifying key from its file, or from the proving key that holds it. Raises FormatError or OSError."""
    file = str(path)
    with Path(path).open("rb") as handle:
        head = handle.read(4)
    if head == ZKEY_MAGIC:
        whole = read_zkey(path)
        return KeyReading("zkey", FullVerifyingKey(whole.verifying_key, whole.beta_g1, whole.delta_g1))
    if (parameters := parameters_or_none(path)) is not None:
        return KeyReading("bellman parameters", parameters)
    return key_from_content(read_bytes(path), file)


def parameters_or_none(path: Path | str) -> FullVerifyingKey | None:
    """The verifying key at the front of a parameters file; None for any other file."""
    try:
        found = read_parameters(path).verifying_key
    except FormatError:
        return None
    return FullVerifyingKey(found.key, found.beta_g1, found.delta_g1)


def key_from_content(
    content: bytes, file: str = "verifying key", form: str | None = None, curve: Curve | None = None
) -> KeyReading:
    """A verifying key from its bytes: JSON or a binary form. Raises FormatError.

    `form` and `curve` narrow down what it may be. Where several readings fit, the one whose points all lie in
    their groups is taken. beta and delta in G1, where the form has them, must be those of G2.
    """
    if form in {None, SNARKJS} and looks_like_text(content, b"{["):
        try:
            key = verifying_key_from_json(decode_json(content, file), file)
        except FormatError:
            if form == SNARKJS or is_utf8(content):
                raise
            with suppress(FormatError):
                return key_from_binary(content, file, None, curve)
            raise
        return KeyReading(SNARKJS, FullVerifyingKey(key))
    return key_from_binary(content, file, form, curve)


def key_from_binary(content: bytes, file: str, form: str | None, curve: Curve | None) -> KeyReading:
    """A verifying key in a binary form. Raises FormatError."""
    readings: list[KeyReading] = []
    complaints: list[FormatError] = []
    for coat, on in key_candidates(form, curve, file):
        try:
            readings.append(KeyReading(str(coat), verifying_key_from_bytes(content, coat, on, file)))
        except FormatError as error:
            complaints.append(error)
    sound = [reading for reading in readings if len(readings) == 1 or check_key(reading.key).valid]
    if sound:
        require_twins(sound[0].full, file)
        return sound[0]
    if len(complaints) == 1:
        raise complaints[0]
    raise FormatError(file, "content", "is no verifying key in a form that is known here")


def require_twins(full: FullVerifyingKey, file: str) -> None:
    """Refuse beta or delta in G1 that are not those of G2, in a key that is sound otherwise."""
    key = full.key
    twins = (("beta", full.beta_g1, key.beta_g2), ("delta", full.delta_g1, key.delta_g2))
    given = [twin for twin in twins if twin[1] is not None]
    if not given or not check_key(key).valid:
        return  # what is wrong with the key itself is the verifier's to say
    for name, left, right in given:
        if not same_multiple(key.curve, left, right):
            raise FormatError(file, f"{name}_g1", f"is not the {name} that the key has in G2")


def key_candidates(form: str | None, curve: Curve | None, file: str) -> list[tuple[Coat, Curve]]:
    """The binary forms that a key may have."""
    coats = list(Coat) if form is None else [coat_by_name(form, file)]
    curves = CURVES if curve is None else (curve,)
    return [
        (coat, on)
        for coat in coats
        for on in curves
        if on is BLS12_381 or coat not in {Coat.BELLMAN, Coat.WAVES}
    ]


def coat_by_name(form: str, file: str) -> Coat:
    """A binary form by its name. Raises FormatError."""
    try:
        return Coat(form)
    except ValueError as error:
        names = ", ".join([SNARKJS, CALLDATA, *Coat])
        raise FormatError(file, "form", f"{form[:40]!r} is none of {names}") from error


def decode_json(content: bytes, file: str) -> object:
    """The document in some bytes. Raises FormatError."""
    try:
        return parse_json(content)
    except JsonError as error:
        raise FormatError(file, error.place, error.reason) from error


def proof_readings(
    content: bytes, curve: Curve, file: str = "proof", form: str | None = None
) -> list[Reading]:
    """Every way to read a proof for a key on `curve`, at least one. Raises FormatError.

    The proofs of several partitions, one after the other, are read as bellman writes them. Calldata is
    recognised as text; the words of a call are taken for what they are where `form` says so.
    """
    if form == CALLDATA or (form is None and is_calldata(content)):
        read = proof_from_calldata if is_calldata(content) else proof_from_abi
        proof, public = read(content, file)
        refuse_other_curve(proof, curve, file)
        return [Reading(CALLDATA, (proof,), public)]
    if form in {None, SNARKJS} and looks_like_text(content, b'{["'):
        try:
            return [Reading(SNARKJS, (proof_from_json(decode_json(content, file), file, curve),))]
        except FormatError:
            if form == SNARKJS or is_utf8(content):
                raise
            with suppress(FormatError):
                return list(guessed_readings(content, curve, file))
            raise
    if form is None:
        return list(guessed_readings(content, curve, file))
    coat = coat_by_name(form, file)
    if coat in {Coat.BELLMAN, Coat.WAVES}:
        proofs = proofs_from_bellman(content, file)
        refuse_other_curve(proofs[0], curve, file)
        return [Reading(str(coat), tuple(proofs))]
    return [Reading(str(coat), (proof_from_bytes(content, coat, curve, file),))]


def guessed_readings(content: bytes, curve: Curve, file: str) -> Iterator[Reading]:
    """The binary forms that fit a content."""
    if curve is BLS12_381 and content and not len(content) % PROOF_BYTES and len(content) != 2 * PROOF_BYTES:
        yield Reading(str(Coat.BELLMAN), tuple(proofs_from_bellman(content, file)))
        return
    if curve is BLS12_381 and len(content) == 2 * PROOF_BYTES and content[0] & 0x80:
        yield Reading(str(Coat.BELLMAN), tuple(proofs_from_bellman(content, file)))
        return
    for coat, proof in possible_proofs(content, curve, file):
        yield Reading(str(coat), (proof,))


def refuse_other_curve(proof: Proof, curve: Curve, file: str) -> None:
    """Refuse a form that is only for another curve than the key's."""
    if proof.curve != curve:
        raise FormatError(file, "curve", f"the proof is over {proof.curve.name}, the key over {curve.name}")


def verify_readings(
    key: VerifyingKey, readings: Sequence[Reading], publics: Sequence[Sequence[int]]
) -> BatchVerdict:
    """Check a proof file, however it is read, against its lists of public inputs, one a partition.

    The file is valid when one reading of it is. Raises ValueError when no reading has as many proofs as there
    are lists.
    """
    fitting = [reading for reading in readings if len(reading.proofs) == len(publics)]
    if not fitting:
        raise ValueError(f"{len(readings[0].proofs)} proofs came with {len(publics)} lists of public inputs")
    first: BatchVerdict | None = None
    for reading in fitting:
        verdict = verify_one_or_many(key, reading.proofs, publics)
        if verdict.valid:
            return verdict
        first = first or verdict
    assert first is not None  # noqa: S101 - there was at least one reading
    return first


def verify_one_or_many(
    key: VerifyingKey, proofs: Sequence[Proof], publics: Sequence[Sequence[int]]
) -> BatchVerdict:
    """A batch of one needs no coefficients."""
    if len(proofs) != 1:
        return verify_batch(key, proofs, publics)
    verdict: Verdict = verify(key, proofs[0], publics[0])
    return BatchVerdict() if verdict.valid else BatchVerdict(((0, verdict),))
