"""cuzkweb check: what a file is, and what is wrong with it."""

import argparse
import json
import sys
from pathlib import Path


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's arguments."""
    parser.add_argument(
        "file",
        type=Path,
        metavar="FILE",
        help="key, parameters, witness, constraint system, generator, proof, JSON",
    )
    parser.add_argument(
        "--digests",
        type=Path,
        metavar="LIST",
        help="list of files and their BLAKE2b-512 or SHA-256 digests (as parameters.json)",
    )
    parser.add_argument("--as", dest="name", metavar="NAME", help="what the list calls the file")
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(options: argparse.Namespace) -> int:
    """Print the description; 1 when something is wrong, with the faults on standard error."""
    from proving.formats.inspect import describe

    description = describe(options.file)
    if not options.json:
        print(description)
    problems = list(description.problems)
    if options.digests is not None:
        problems += compare_digests(options)
    if options.json:
        found = {"file": description.file, "kind": description.kind, "facts": dict(description.facts)}
        print(json.dumps({**found, "problems": problems}, indent=1))
    if problems:
        print(f"cuzkweb: {options.file}: {'; '.join(problems)}", file=sys.stderr)
        return 1
    return 0


def compare_digests(options: argparse.Namespace) -> list[str]:
    """Print the digests that agree with the list; what does not agree."""
    from proving.formats.digests import check_digest
    from proving.formats.errors import FormatError

    try:
        found = check_digest(options.file, options.digests, options.name)
    except FormatError as error:
        return [f"{error.place}: {error.reason}"]
    if not options.json:
        print(f"  blake2b  {found.blake2b}\n  sha256   {found.sha256}\n  as in    {options.digests}")
    return []
