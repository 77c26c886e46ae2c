"""`cuzkweb circuits`: list circuits, or register one."""

import argparse
from pathlib import Path

from cuzkweb.commands.service import add_json_argument, add_service_arguments, open_client, print_json


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's own arguments."""
    parser.add_argument("--register", metavar="NAME", help="register a circuit of this name")
    parser.add_argument("--proving-key", type=Path, metavar="FILE", help=".zkey, or bellman parameters")
    parser.add_argument("--generator", type=Path, metavar="FILE", help="witness generator (.wasm)")
    parser.add_argument("--r1cs", type=Path, metavar="FILE", help="constraint system (.r1cs)")
    parser.add_argument("--verifying-key", type=Path, metavar="FILE", help="snarkjs JSON, or a binary form")
    parser.add_argument("--kind", default="groth16", help="proof kind (default: groth16)")
    add_json_argument(parser)
    add_service_arguments(parser)


def run(options: argparse.Namespace) -> int:
    """List, or register and say under which id. An upload that broke off goes on where it was."""
    from cuzkweb.client import CircuitFiles
    from cuzkweb.commands.progress import sending
    from cuzkweb.commands.refusals import Refused

    if options.register and not options.proving_key:
        raise Refused("--register wants --proving-key too")
    with open_client(options) as client:
        if options.register:
            files = CircuitFiles(options.proving_key, options.generator, options.r1cs, options.verifying_key)
            with sending() as sent:
                made = client.register(options.register, files, options.kind, sent=sent)
            if options.json:
                print_json(made)
            else:
                print(made["id"])
            return 0
        rows = list(client.circuits())
    if options.json:
        print_json(rows)
        return 0
    for row in rows:
        mark = " (insecure development key)" if row["insecure"] else ""
        print(f"{row['id']}  {row['name']}  {row['proof_kind']} {row['curve']} {row['state']}{mark}")
    return 0
