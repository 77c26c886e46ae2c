"""cuzkweb witness: run a witness generator on an input."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from proving.formats.wtns import Witness


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's flags."""
    parser.add_argument("--wasm", type=Path, required=True, metavar="G", help="witness generator (.wasm)")
    parser.add_argument("--input", type=Path, required=True, metavar="I", help="its input (JSON)")
    parser.add_argument(
        "--wtns", type=Path, required=True, metavar="W", help="where the witness goes (.wtns)"
    )


def run(options: argparse.Namespace) -> int:
    """Compute the witness and write it, readable by its owner alone."""
    from proving.formats.wtns import write_witness

    write_witness(options.wtns, generate(options.wasm, options.input))
    return 0


def generate(wasm: Path, inputs: Path) -> "Witness":
    """The witness of a generator's run on an input file."""
    raise NotImplementedError
