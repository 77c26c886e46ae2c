"""Solidity calldata for BN254 verifier contracts, in the two forms that callers have.

Text, as snarkjs prints it: ["0x..","0x.."],[["0x..","0x.."],["0x..","0x.."]],["0x..","0x.."],["0x..",...]
with c1 before c0 in B. Or the ABI's: four bytes of selector and 32-byte words, as a transaction carries it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

from kernels.curves import BN254
from proving.formats.errors import FormatError
from proving.formats.exact_json import JsonError, parse_json
from proving.groth16.objects import G1, G2, Fq2, Proof

WORD = 32
PROOF_WORDS = 8
SELECTOR_BYTES = 4
HEX = re.compile(r"0x[0-9a-fA-F]{1,64}")
TEXT_START = re.compile(rb'\s*\[\s*"0x')


def is_calldata(content: bytes) -> bool:
    """Whether a content is calldata as text."""
    return TEXT_START.match(content) is not None


def proof_to_calldata(proof: Proof, public: Sequence[int]) -> str:
    """Calldata as text. Raises ValueError for a proof that is not over BN254."""
    words = [word_text(value) for value in proof_words(proof)]
    signals = [word_text(value) for value in public]
    groups = [words[0:2], [words[2:4], words[4:6]], words[6:8], signals]
    return ",".join(json.dumps(group, separators=(",", ":")) for group in groups)


def proof_to_abi(proof: Proof, public: Sequence[int], selector: bytes = b"") -> bytes:
    """The words of a call, after its selector. Raises ValueError for a proof that is not over BN254."""
    return selector + b"".join(value.to_bytes(WORD, "big") for value in (*proof_words(proof), *public))


def word_text(value: int) -> str:
    """A number as 32 bytes in hex."""
    return f"0x{value:064x}"


def proof_words(proof: Proof) -> list[int]:
    """A, B (c1 first) and C as eight numbers; infinity as zeros, as the EVM has it."""
    if proof.curve != BN254:
        raise ValueError(f"contracts verify proofs over {BN254.name}, this one is over {proof.curve.name}")
    (b_x, b_y), a, c = proof.b or ((0, 0), (0, 0)), proof.a or (0, 0), proof.c or (0, 0)
    return [*a, *b_x[::-1], *b_y[::-1], *c]


def proof_from_calldata(content: bytes, file: str = "calldata") -> tuple[Proof, tuple[int, ...]]:
    """A proof and its public inputs from calldata as text. Raises FormatError."""
    try:
        document = parse_json(b"[" + content + b"]")
    except JsonError as error:
        raise FormatError(file, error.place, error.reason) from error
    if not isinstance(document, list) or len(document) != 4:
        raise FormatError(file, "calldata", "must be four groups: A, B, C and the public inputs")
    a, b, c, public = document
    words = [
        *take_numbers(a, 2, file, "A"),
        *take_numbers(item(b, 0), 2, file, "B[0]"),
        *take_numbers(item(b, 1), 2, file, "B[1]"),
        *take_numbers(c, 2, file, "C"),
    ]
    return proof_from_words(words, file), tuple(take_numbers(public, None, file, "public inputs"))


def item(value: object, index: int) -> object:
    """One of exactly two items, or None."""
    return value[index] if isinstance(value, list) and len(value) == 2 else None


def take_numbers(value: object, count: int | None, file: str, place: str) -> list[int]:
    """A list of hex numbers of at most 32 bytes."""
    if not isinstance(value, list) or (count is not None and len(value) != count):
        wanted = "" if count is None else f"{count} "
        raise FormatError(file, place, f"must be a list of {wanted}numbers in hex")
    for text in value:
        if not isinstance(text, str) or not HEX.fullmatch(text):
            raise FormatError(file, place, "must hold numbers of up to 32 bytes in hex")
    return [int(text, 16) for text in value]


def proof_from_abi(data: bytes, file: str = "calldata") -> tuple[Proof, tuple[int, ...]]:
    """A proof and its public inputs from the bytes of a call, with its selector or without.

    Raises FormatError.
    """
    body = data[len(data) % WORD :]
    if len(data) % WORD not in {0, SELECTOR_BYTES} or len(body) < PROOF_WORDS * WORD:
        raise FormatError(file, "length", f"{len(data)} bytes are no call of a verifier")
    numbers = [int.from_bytes(body[start : start + WORD], "big") for start in range(0, len(body), WORD)]
    return proof_from_words(numbers[:PROOF_WORDS], file), tuple(numbers[PROOF_WORDS:])


def proof_from_words(words: Sequence[int], file: str) -> Proof:
    """The proof of eight numbers; its points are the verifier's question."""
    for index, value in enumerate(words):
        if value >= BN254.q:
            raise FormatError(file, f"word {index}", "is not below the modulus of the base field")
    a, c = g1_of(words[0], words[1]), g1_of(words[6], words[7])
    x, y = (words[3], words[2]), (words[5], words[4])
    return Proof(BN254, a, g2_of(x, y), c)


def g1_of(x: int, y: int) -> G1:
    """A G1 point as the EVM has it."""
    return (x, y) if x or y else None


def g2_of(x: Fq2, y: Fq2) -> G2:
    """A G2 point as the EVM has it."""
    return (x, y) if any((*x, *y)) else None
