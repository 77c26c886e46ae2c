"""cuzkweb prove: a proof and its public signals from a key and a witness or an input."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from cuzkweb.commands import timing
from cuzkweb.commands.options import add_threads
from cuzkweb.commands.refusals import Refused

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from kernels.device import Device
    from proving.groth16.prover import ProvedStatement
    from proving.groth16.proving_key import ProvingKey


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's flags."""
    parser.add_argument("--zkey", type=Path, required=True, metavar="K", help="proving key (.zkey)")
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument("--wtns", type=Path, metavar="W", help="witness (.wtns)")
    source.add_argument("--wasm", type=Path, metavar="G", help="witness generator (.wasm), with --input")
    parser.add_argument("--input", type=Path, metavar="I", help="input of the witness generator (JSON)")
    parser.add_argument("--proof", type=Path, required=True, metavar="P", help="where the proof goes (JSON)")
    parser.add_argument(
        "--public", type=Path, required=True, metavar="Q", help="where the public signals go (JSON)"
    )
    parser.add_argument("--device", default="host", help="host (the default) or cuda:<ordinal>")
    add_threads(parser)
    timing.add_arguments(parser)
    parser.set_defaults(usage_error=parser.error)


def run(options: argparse.Namespace) -> int:
    """Prove, check the proof, and only then write it."""
    if (options.wasm is None) != (options.input is None):
        options.usage_error("--wasm and --input come together")
    stopwatch = timing.Stopwatch()
    with stopwatch.stage("import"):
        from kernels.device import open_device
        from proving.formats.zkey import read_zkey
    device = open_device(options.device, threads=options.threads)
    with stopwatch.stage("key"):
        key = read_zkey(options.zkey)
    with stopwatch.stage("witness"):
        witness = obtain_witness(options, key)
    statement = prove_checked(options, key, witness, device, stopwatch)
    with stopwatch.stage("write"):
        write_statement(options, statement)
    device.close()
    stopwatch.show(options)
    return 0


def obtain_witness(options: argparse.Namespace, key: "ProvingKey") -> "NDArray[np.uint64]":
    """The witness from its file, or computed from the input; (wires, 4) plain."""
    if options.wtns is not None:
        from proving.formats.wtns import read_witness

        return read_witness(options.wtns, key.curve, key.variable_count).values
    from cuzkweb.commands.witness import drop, generate, show

    witness = generate(options.wasm, options.input, show if options.verbose else drop)
    if witness.curve != key.curve:
        raise Refused(f"curve of witness, {witness.curve.name}, does not match the key's, {key.curve.name}")
    if len(witness.values) != key.variable_count:
        raise Refused(f"witness has {len(witness.values)} values, key wants {key.variable_count}")
    return witness.values


def prove_checked(
    options: argparse.Namespace,
    key: "ProvingKey",
    witness: "NDArray[np.uint64]",
    device: "Device",
    stopwatch: timing.Stopwatch,
) -> "ProvedStatement":
    """The verified proof; when it fails its own check, a broken key is told from a bad witness."""
    with stopwatch.stage("import"):
        from proving.formats.zkey import validate_points
        from proving.groth16.prover import UnsatisfiedWitnessError, prove
    try:
        return prove(device, key, witness, threads=options.threads, report=stopwatch.add)
    except UnsatisfiedWitnessError:
        validate_points(key, options.threads, options.zkey)
        raise


def write_statement(options: argparse.Namespace, statement: "ProvedStatement") -> None:
    """Write proof and public signals, each whole or not at all."""
    from proving.formats.snarkjs import proof_to_json, public_to_json, write_json

    write_json(options.public, public_to_json(statement.public))
    write_json(options.proof, proof_to_json(statement.proof))
