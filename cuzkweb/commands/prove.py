"""cuzkweb prove: a proof and its public signals from a key and a witness or an input.

From a zkey and a wtns on the CPU the command does so without this module (proving/oneshot), which then is
only called to say what is wrong with them.
"""

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
    from proving.formats.r1cs import R1cs
    from proving.groth16.prover import ProvedStatement
    from proving.groth16.proving_key import ProvingKey


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's flags."""
    key = parser.add_mutually_exclusive_group(required=True)
    key.add_argument("--zkey", type=Path, metavar="K", help="proving key (.zkey)")
    key.add_argument("--params", type=Path, metavar="K", help="bellman parameters, with --r1cs")
    parser.add_argument(
        "--r1cs", type=Path, metavar="R", help="constraint system: the witness is held against it first"
    )
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
    if options.params is not None and options.r1cs is None:
        options.usage_error("--params wants --r1cs: parameters hold no constraints")
    stopwatch = timing.Stopwatch()
    with stopwatch.stage("import"):
        from kernels.device import open_device
    device = open_device(options.device, threads=options.threads)
    with stopwatch.stage("key"):
        system = read_system(options)
        key = read_key(options, system)
    with stopwatch.stage("witness"):
        witness = obtain_witness(options, key)
        if system is not None:
            require_satisfied(options, system, witness)
    statement = prove_checked(options, key, witness, device, stopwatch)
    with stopwatch.stage("write"):
        write_statement(options, statement)
    device.close()
    stopwatch.show(options)
    return 0


def read_system(options: argparse.Namespace) -> "R1cs | None":
    """The constraint system, where one is given."""
    if options.r1cs is None:
        return None
    from proving.formats.r1cs import read_r1cs

    return read_r1cs(options.r1cs)


def read_key(options: argparse.Namespace, system: "R1cs | None") -> "ProvingKey":
    """The proving key, held against the constraint system where one is given."""
    if options.params is not None and system is not None:
        from proving.formats.bellman import read_parameters
        from proving.formats.bellman_key import key_from_parameters

        return key_from_parameters(read_parameters(options.params), system, str(options.params))
    from proving.formats.zkey import check_system, read_zkey

    key = read_zkey(options.zkey)
    if system is not None:
        check_system(key, system, options.r1cs)
    return key


def require_satisfied(options: argparse.Namespace, system: "R1cs", witness: "NDArray[np.uint64]") -> None:
    """Refuse a witness that breaks a constraint, naming the first."""
    from proving.formats.r1cs import first_unsatisfied

    broken = first_unsatisfied(system, witness, options.threads)
    if broken is not None:
        source = options.wtns or options.input
        raise Refused(f"{source}: witness does not satisfy the circuit: constraint {broken} is broken")


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
    except UnsatisfiedWitnessError as error:
        if options.params is not None:
            from proving.formats.bellman import read_parameters, validate_queries

            validate_queries(read_parameters(options.params), options.threads)
            raise Refused(
                f"{options.params}: not the parameters of this circuit: the witness satisfies it, "
                "and yet the proof fails"
            ) from error
        validate_points(key, options.threads, options.zkey)
        raise


def write_statement(options: argparse.Namespace, statement: "ProvedStatement") -> None:
    """Write proof and public signals, each whole or not at all."""
    from proving.formats.snarkjs import proof_to_json, public_to_json, write_json

    write_json(options.public, public_to_json(statement.public))
    write_json(options.proof, proof_to_json(statement.proof))
