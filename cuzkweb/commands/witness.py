"""cuzkweb witness: run a witness generator on an input."""

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from cuzkweb.commands.refusals import Refused

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
    """Compute the witness and write it, readable by its owner alone; the log goes to standard error."""
    from proving.formats.wtns import write_witness

    write_witness(options.wtns, generate(options.wasm, options.input, log=show))
    return 0


def generate(wasm: Path, inputs: Path, log: Callable[[str], None]) -> "Witness":
    """The witness of a generator's run on an input file; `log` gets what the circuit logs."""
    from proving.formats.wtns import Witness
    from proving.synthesis.errors import InputError
    from proving.synthesis.inputs import parse_inputs
    from proving.synthesis.wasm import WitnessGenerator

    text = inputs.read_bytes()
    generator = WitnessGenerator(wasm)
    try:
        values = generator.generate(parse_inputs(text, generator.curve.r), log)
    except InputError as error:
        raise Refused(f"{inputs}: {error}") from error
    return Witness(generator.curve, values)


def show(line: str) -> None:
    """Print one line of a circuit's log."""
    print(line, file=sys.stderr)


def drop(line: str) -> None:
    """Print nothing of a circuit's log, which may hold secrets."""
