"""cuzkweb verify: check a proof against a verifying key and its public signals."""

import argparse
import sys
from pathlib import Path


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's flags."""
    parser.add_argument("--vkey", type=Path, required=True, metavar="V", help="verifying key (JSON)")
    parser.add_argument("--proof", type=Path, required=True, metavar="P", help="proof (JSON)")
    parser.add_argument("--public", type=Path, required=True, metavar="Q", help="public signals (JSON)")


def run(options: argparse.Namespace) -> int:
    """Print the verdict: 0 for valid, 1 with the reason for anything else."""
    from proving.formats.snarkjs import read_proof, read_public, read_verifying_key
    from proving.groth16.verifier import verify

    key = read_verifying_key(options.vkey)
    verdict = verify(key, read_proof(options.proof, key.curve), read_public(options.public))
    if verdict.valid:
        print("valid")
        return 0
    print(f"invalid: {verdict.reason}", file=sys.stderr)
    return 1
