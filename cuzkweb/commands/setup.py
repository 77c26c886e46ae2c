"""cuzkweb setup: development keys from a constraint system, never for production."""

import argparse
import sys
from pathlib import Path

from cuzkweb.commands.options import add_threads

WARNING = (
    "WARNING: insecure development key: this machine drew the secrets that can forge proofs for it. "
    "Never use it in production."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's flags."""
    parser.add_argument("--r1cs", type=Path, required=True, metavar="R", help="constraint system (.r1cs)")
    parser.add_argument(
        "--zkey", type=Path, required=True, metavar="K", help="where the proving key goes (.zkey)"
    )
    parser.add_argument("--vkey", type=Path, metavar="V", help="where the verifying key goes (JSON)")
    add_threads(parser)


def run(options: argparse.Namespace) -> int:
    """Draw the secrets, make the key, forget the secrets, write the key."""
    from proving.formats.r1cs import read_r1cs
    from proving.formats.snarkjs import verifying_key_to_json, write_json
    from proving.formats.zkey import write_zkey
    from proving.groth16.setup import setup

    system = read_r1cs(options.r1cs)
    print(emphasised(WARNING), file=sys.stderr)
    key = setup(system, options.threads)
    write_zkey(options.zkey, key)
    if options.vkey is not None:
        write_json(options.vkey, verifying_key_to_json(key.verifying_key))
    return 0


def emphasised(text: str) -> str:
    """The text in bold where standard error is a terminal."""
    return f"\033[1m{text}\033[0m" if sys.stderr.isatty() else text
