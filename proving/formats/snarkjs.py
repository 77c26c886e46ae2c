"""snarkjs JSON: proofs, public signals and verifying keys, in both directions.

Coordinates are decimal strings. Points are projective with z = 1, or z = 0 at infinity. The curves are
called "bn128" and "bls12381". Parsing is strict: what snarkjs would never write is refused by its place.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from kernels.curves import BLS12_381, BN254, Curve
from proving.formats.alphabeta import alphabeta_to_json
from proving.formats.errors import FormatError
from proving.formats.exact_json import JsonError, parse_json
from proving.formats.files import write_atomically
from proving.groth16.objects import G1, G2, Fq2, Proof, VerifyingKey

PROTOCOL = "groth16"
DECIMAL = re.compile(r"0|[1-9][0-9]{0,199}")
CURVE_NAMES = {"BN128": BN254, "BN254": BN254, "ALTBN128": BN254, "BLS12381": BLS12_381}
MAX_JSON_BYTES = 64 << 20


class Place:
    """A spot in a JSON document that can refuse what it finds."""

    def __init__(self, file: str, path: str, value: Any) -> None:
        self.file = file
        self.path = path
        self.value = value

    def refusal(self, reason: str) -> FormatError:
        """An error that names this spot."""
        return FormatError(self.file, self.path or "document", reason)

    def member(self, key: str) -> Place:
        """A member of an object that must be there."""
        if not isinstance(self.value, dict):
            raise self.refusal("must be an object")
        if key not in self.value:
            raise self.refusal(f"lacks {key!r}")
        return Place(self.file, f"{self.path}.{key}" if self.path else key, self.value[key])

    def items(self, count: int | None = None) -> list[Place]:
        """The items of an array, of a given length where one is given."""
        if not isinstance(self.value, list):
            raise self.refusal("must be an array")
        if count is not None and len(self.value) != count:
            raise self.refusal(f"must have {count} items, has {len(self.value)}")
        return [Place(self.file, f"{self.path}[{index}]", item) for index, item in enumerate(self.value)]

    def integer(self) -> int:
        """A non-negative integer: a decimal string, or an exact number."""
        if isinstance(self.value, str) and DECIMAL.fullmatch(self.value):
            return int(self.value)
        if isinstance(self.value, int) and not isinstance(self.value, bool) and self.value >= 0:
            return self.value
        raise self.refusal("must be a decimal string")

    def coordinate(self, curve: Curve) -> int:
        """An element of the base field."""
        value = self.integer()
        if value >= curve.q:
            raise self.refusal(f"is not below the modulus of the base field of {curve.name}")
        return value


def proof_to_json(proof: Proof) -> dict[str, Any]:
    """A proof as snarkjs writes it."""
    return {
        "pi_a": g1_to_json(proof.a),
        "pi_b": g2_to_json(proof.b),
        "pi_c": g1_to_json(proof.c),
        "protocol": PROTOCOL,
        "curve": proof.curve.snarkjs_name,
    }


def proof_from_json(document: Any, file: str = "proof", curve: Curve | None = None) -> Proof:
    """A proof from a parsed document. Whether its points lie on the curve is the verifier's question.

    `curve` is the verifying key's: another one in the proof is refused, a proof that names none takes it.
    Raises FormatError.
    """
    place = Place(file, "", document)
    check_protocol(place)
    found = parse_curve(place, curve)
    if curve is not None and found != curve:
        raise place.member("curve").refusal(f"the proof is over {found.name}, the key over {curve.name}")
    return Proof(
        found,
        g1_from_json(found, place.member("pi_a")),
        g2_from_json(found, place.member("pi_b")),
        g1_from_json(found, place.member("pi_c")),
    )


def public_to_json(values: Sequence[int]) -> list[str]:
    """Public signals as snarkjs writes them."""
    return [str(value) for value in values]


def public_from_json(document: Any, file: str = "public") -> list[int]:
    """Public signals from a parsed document. Whether they are below r is the verifier's question."""
    return [item.integer() for item in Place(file, "", document).items()]


def publics_from_json(document: Any, file: str = "public") -> list[list[int]]:
    """The public signals of each partition: a list of lists, or the one list of the one partition."""
    items = Place(file, "", document).items()
    if items and all(isinstance(item.value, list) for item in items):
        return [[signal.integer() for signal in item.items()] for item in items]
    return [[item.integer() for item in items]]


def verifying_key_to_json(key: VerifyingKey) -> dict[str, Any]:
    """A verifying key as snarkjs writes it. Raises ValueError when alpha or beta is not in its group."""
    return {
        "protocol": PROTOCOL,
        "curve": key.curve.snarkjs_name,
        "nPublic": key.public_count,
        "vk_alpha_1": g1_to_json(key.alpha_g1),
        "vk_beta_2": g2_to_json(key.beta_g2),
        "vk_gamma_2": g2_to_json(key.gamma_g2),
        "vk_delta_2": g2_to_json(key.delta_g2),
        "vk_alphabeta_12": alphabeta_to_json(key),
        "IC": [g1_to_json(point) for point in key.ic],
    }


def verifying_key_from_json(document: Any, file: str = "verifying key") -> VerifyingKey:
    """A verifying key from a parsed document. Raises FormatError."""
    place = Place(file, "", document)
    check_protocol(place)
    curve = parse_curve(place, None)
    public_count, ic = place.member("nPublic"), place.member("IC")
    points = ic.items()
    if len(points) != public_count.integer() + 1:
        raise ic.refusal(f"has {len(points)} points for nPublic = {public_count.integer()}")
    return VerifyingKey(
        curve,
        g1_from_json(curve, place.member("vk_alpha_1")),
        g2_from_json(curve, place.member("vk_beta_2")),
        g2_from_json(curve, place.member("vk_gamma_2")),
        g2_from_json(curve, place.member("vk_delta_2")),
        tuple(g1_from_json(curve, point) for point in points),
    )


def check_protocol(place: Place) -> None:
    """Refuse what other proof systems write."""
    protocol = place.member("protocol")
    if protocol.value != PROTOCOL:
        raise protocol.refusal(f"must be {PROTOCOL!r}, is {str(protocol.value)[:40]!r}")


def parse_curve(place: Place, default: Curve | None) -> Curve:
    """The curve that a document names; the default where it names none."""
    if default is not None and isinstance(place.value, dict) and "curve" not in place.value:
        return default
    name = place.member("curve")
    normal = re.sub(r"[^A-Z0-9]", "", str(name.value).upper()[:40])
    if normal not in CURVE_NAMES:
        raise name.refusal("must be 'bn128' or 'bls12381'")
    return CURVE_NAMES[normal]


def g1_to_json(point: G1) -> list[str]:
    """A G1 point as [x, y, z]."""
    return ["0", "1", "0"] if point is None else [str(point[0]), str(point[1]), "1"]


def g2_to_json(point: G2) -> list[list[str]]:
    """A G2 point as [x, y, z], each [c0, c1]."""
    if point is None:
        return [["0", "0"], ["1", "0"], ["0", "0"]]
    x, y = point
    return [[str(x[0]), str(x[1])], [str(y[0]), str(y[1])], ["1", "0"]]


def g1_from_json(curve: Curve, place: Place) -> G1:
    """A G1 point; z must be 1, or 0 for infinity."""
    x, y, z = place.items(3)
    finite = is_finite(z, z.integer(), 0)
    point = x.coordinate(curve), y.coordinate(curve)
    return point if finite else None


def g2_from_json(curve: Curve, place: Place) -> G2:
    """A G2 point; z must be [1, 0], or [0, 0] for infinity."""
    x, y, z = place.items(3)
    finite = is_finite(z, *(part.integer() for part in z.items(2)))
    point = fq2_from_json(curve, x), fq2_from_json(curve, y)
    return point if finite else None


def fq2_from_json(curve: Curve, place: Place) -> Fq2:
    """An element of Fq2 as [c0, c1]."""
    c0, c1 = place.items(2)
    return c0.coordinate(curve), c1.coordinate(curve)


def is_finite(place: Place, c0: int, c1: int) -> bool:
    """Whether a z coordinate says 1; 0 says infinity, anything else is refused."""
    if c1 or c0 > 1:
        raise place.refusal("must be 1, or 0 for the point at infinity")
    return c0 == 1


def read_json(path: Path | str) -> Any:
    """The document in a JSON file. Raises FormatError, or OSError when there is no file."""
    with Path(path).open("rb") as handle:
        content = handle.read(MAX_JSON_BYTES + 1)
    if len(content) > MAX_JSON_BYTES:
        raise FormatError(path, "file", f"is larger than {MAX_JSON_BYTES} bytes")
    try:
        return parse_json(content)
    except JsonError as error:
        raise FormatError(path, error.place, error.reason) from error


def read_proof(path: Path | str, curve: Curve | None = None) -> Proof:
    """The proof in a file; see `proof_from_json`. Raises FormatError or OSError."""
    return proof_from_json(read_json(path), str(path), curve)


def read_public(path: Path | str) -> list[int]:
    """The public signals in a file. Raises FormatError or OSError."""
    return public_from_json(read_json(path), str(path))


def read_publics(path: Path | str) -> list[list[int]]:
    """The public signals of each partition in a file. Raises FormatError or OSError."""
    return publics_from_json(read_json(path), str(path))


def read_verifying_key(path: Path | str) -> VerifyingKey:
    """The verifying key in a file. Raises FormatError or OSError."""
    return verifying_key_from_json(read_json(path), str(path))


def write_json(path: Path | str, document: Any) -> None:
    """Write a document as snarkjs formats it: one space of indentation, atomically. Raises OSError."""
    write_atomically(path, [json.dumps(document, indent=1).encode()])
