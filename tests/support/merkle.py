"""The Merkle circuit of the foreign fixtures: inputs that differ, and what proofs of them must be."""

import json
from pathlib import Path
from typing import Any

from cuzkweb.client import ProvedPartition
from proving.formats.snarkjs import proof_from_json, public_from_json, read_verifying_key
from proving.groth16.verifier import verify

NAME = "merkle20"


def leaves(folder: Path, count: int) -> list[dict[str, Any]]:
    """Inputs that differ in their secret and so in their public root; the first is the fixture's own."""
    first = json.loads((folder / "input.json").read_text())
    return [{**first, "secret": str(int(first["secret"]) + step)} for step in range(count)]


def with_broken_assertion(leaf: dict[str, Any]) -> dict[str, Any]:
    """The same input, but a path index that is neither 0 nor 1."""
    return {**leaf, "idx": ["2", *leaf["idx"][1:]]}


def assert_verified(folder: Path, proofs: list[ProvedPartition], count: int) -> None:
    """All proofs are there, in index order, about different roots, and verify with the fixture's key."""
    key = read_verifying_key(folder / "verification_key.json")
    assert [row.index for row in proofs] == list(range(count))
    assert len({tuple(row.public) for row in proofs}) == count
    for row in proofs:
        verdict = verify(key, proof_from_json(row.proof), public_from_json(row.public))
        assert verdict.valid, verdict.reason
