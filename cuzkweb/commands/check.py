"""cuzkweb check: what a file is, and what is wrong with it."""

import argparse
import sys
from pathlib import Path


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's arguments."""
    parser.add_argument(
        "file", type=Path, metavar="FILE", help="key, witness, constraint system, generator or JSON"
    )


def run(options: argparse.Namespace) -> int:
    """Print the description; 1 when something is wrong, with the faults on standard error."""
    from proving.formats.inspect import describe

    description = describe(options.file)
    print(description)
    if description.problems:
        print(f"cuzkweb: {options.file}: {'; '.join(description.problems)}", file=sys.stderr)
        return 1
    return 0
