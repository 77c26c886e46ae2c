"""Prove with groth16py, as a peer of the benchmarks: prove.py ZKEY WTNS PROOF PUBLIC.

Its proof comes as the 256 bytes of Solidity calldata and is written as snarkjs would.
"""

import json
import sys
from pathlib import Path

import groth16py

WORD = 32
VALUES_SECTION = 2


def main(zkey: str, wtns: str, proof: str, public: str) -> None:
    """One proof from files to files."""
    key, verifying_key = groth16py.import_zkey(zkey)
    body = groth16py.prove_wtns(key, wtns)
    a0, a1, b01, b00, b11, b10, c0, c1 = (
        str(int.from_bytes(body[i : i + WORD], "big")) for i in range(0, 8 * WORD, WORD)
    )
    document = {
        "pi_a": [a0, a1, "1"],
        "pi_b": [[b00, b01], [b10, b11], ["1", "0"]],
        "pi_c": [c0, c1, "1"],
        "protocol": "groth16",
        "curve": "bn128",
    }
    Path(proof).write_text(json.dumps(document))
    Path(public).write_text(json.dumps(public_signals(Path(wtns).read_bytes(), verifying_key.n_public)))


def public_signals(witness: bytes, count: int) -> list[str]:
    """The first values after the one of wire 0."""
    at = 12
    while int.from_bytes(witness[at : at + 4], "little") != VALUES_SECTION:
        at += 12 + int.from_bytes(witness[at + 4 : at + 12], "little")
    first = at + 12 + WORD
    return [
        str(int.from_bytes(witness[i : i + WORD], "little")) for i in range(first, first + count * WORD, WORD)
    ]


if __name__ == "__main__":
    main(*sys.argv[1:])
