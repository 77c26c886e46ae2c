"""cuzkweb setup: development keys from a constraint system, never for production."""

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from cuzkweb.commands.options import add_threads
from cuzkweb.commands.refusals import Refused

if TYPE_CHECKING:
    from proving.formats.r1cs import R1cs
    from proving.groth16.proving_key import ProvingKey

WARNING = (
    "WARNING: insecure development key: this machine drew the secrets that can forge proofs for it. "
    "Never use it in production."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's flags."""
    parser.add_argument("--r1cs", type=Path, required=True, metavar="R", help="constraint system (.r1cs)")
    key = parser.add_mutually_exclusive_group(required=True)
    key.add_argument("--zkey", type=Path, metavar="K", help="where the proving key goes (.zkey)")
    key.add_argument("--params", type=Path, metavar="K", help="where bellman parameters go (BLS12-381)")
    parser.add_argument("--vkey", type=Path, metavar="V", help="where the verifying key goes (JSON)")
    add_threads(parser)


def run(options: argparse.Namespace) -> int:
    """Draw the secrets, make the key, forget the secrets, write the key."""
    from proving.formats.r1cs import read_r1cs
    from proving.formats.snarkjs import verifying_key_to_json, write_json

    system = read_r1cs(options.r1cs)
    write = make_parameters if options.params is not None else make_zkey
    key = write(options, system)
    if options.vkey is not None:
        write_json(options.vkey, verifying_key_to_json(key.verifying_key))
    return 0


def make_zkey(options: argparse.Namespace, system: "R1cs") -> "ProvingKey":
    """A key as snarkjs has it."""
    from proving.formats.zkey import write_zkey
    from proving.groth16.setup import setup

    warn()
    key = setup(system, options.threads)
    write_zkey(options.zkey, key)
    return key


def make_parameters(options: argparse.Namespace, system: "R1cs") -> "ProvingKey":
    """A key as bellman has it."""
    from kernels.curves import BLS12_381
    from proving.formats.bellman_key import encode_parameters
    from proving.formats.files import write_atomically
    from proving.groth16.qap import RowOrder
    from proving.groth16.setup import setup

    if system.curve != BLS12_381:
        name = BLS12_381.name
        raise Refused(f"{options.r1cs}: is for {system.curve.name}; bellman parameters are on {name}")
    warn()
    key = setup(system, options.threads, RowOrder.BELLMAN)
    try:
        pieces = encode_parameters(key)
    except ValueError as error:
        raise Refused(f"{options.r1cs}: {error}") from error
    write_atomically(options.params, pieces)
    return key


def warn() -> None:
    """Say on standard error what such a key is worth."""
    print(emphasised(WARNING), file=sys.stderr)


def emphasised(text: str) -> str:
    """The text in bold where standard error is a terminal."""
    return f"\033[1m{text}\033[0m" if sys.stderr.isatty() else text
