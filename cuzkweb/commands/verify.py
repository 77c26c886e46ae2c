"""cuzkweb verify: check a proof against a verifying key and public signals, in whatever form they come."""

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from cuzkweb.commands.refusals import Refused

if TYPE_CHECKING:
    from proving.formats.recognise import Reading

FORMS = "snarkjs JSON, bellman, arkworks, gnark, calldata: recognised by content"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's flags."""
    parser.add_argument(
        "--vkey", type=Path, required=True, metavar="V", help=f"verifying key, or a proving key ({FORMS})"
    )
    parser.add_argument("--proof", type=Path, required=True, metavar="P", help=f"proof ({FORMS})")
    parser.add_argument(
        "--public",
        type=Path,
        metavar="Q",
        help="public signals (JSON; for several partitions a list of lists); calldata has its own",
    )
    parser.add_argument("--form", metavar="F", help="how the proof is written, where it cannot be recognised")
    parser.add_argument("--json", action="store_true", help="print the verdict as JSON")
    parser.set_defaults(usage_error=parser.error)


def run(options: argparse.Namespace) -> int:
    """Print the verdict: 0 for valid, 1 with the reason for anything else."""
    from proving.formats.recognise import proof_readings, read_any_key, read_bytes, verify_readings

    key = read_any_key(options.vkey).key
    readings = proof_readings(read_bytes(options.proof), key.curve, str(options.proof), options.form)
    try:
        verdict = verify_readings(key, readings, public_lists(options, readings))
    except ValueError as error:
        raise Refused(f"{options.proof}: {error}") from error
    alone = len(readings[0].proofs) == 1
    reason = "" if verdict.valid else verdict.bad[0][1].reason if alone else verdict.reason
    if options.json:
        bad = [{"index": index, "reason": found.reason} for index, found in verdict.bad]
        print(json.dumps({"valid": verdict.valid, "reason": reason, "bad": bad}, indent=1))
    elif verdict.valid:
        print("valid")
    if not verdict.valid:
        print(f"invalid: {reason}", file=sys.stderr)
    return 0 if verdict.valid else 1


def public_lists(options: argparse.Namespace, readings: list["Reading"]) -> list[list[int]]:
    """The public signals of each partition: given, or the calldata's own."""
    from proving.formats.snarkjs import read_publics

    if options.public is not None:
        return read_publics(options.public)
    if readings[0].public is None:
        options.usage_error("--public is missing")
    return [list(readings[0].public or ())]
