"""A walk through the service as a caller takes it: key, circuit, job, proofs, verification."""

import time
from pathlib import Path

from rich.console import Console

from cuzkweb.client import CircuitFiles, Client, State
from cuzkweb.commands.progress import follow, outcome
from cuzkweb.commands.refusals import Refused
from cuzkweb.demo.membership import example_inputs
from proving.formats.r1cs import read_r1cs
from proving.formats.snarkjs import proof_from_json, public_from_json
from proving.formats.zkey import read_zkey, write_zkey
from proving.groth16.setup import setup
from proving.groth16.verifier import verify

FOLDER = Path(__file__).parent
CIRCUIT = "membership"


def walk(home: Path, address: str, api_key: str, console: Console, *, partitions: int) -> None:
    """Register the circuit, prove it for several inputs, verify the proofs. Raises Refused when one fails."""
    files = circuit_files(home, console)
    with Client(address, api_key) as client:
        circuit = client.register(CIRCUIT, files)
        console.print(
            f"circuit {circuit['name']}: {circuit['constraint_count']:,} constraints on {circuit['curve']},"
            f" {circuit['public_count']} public signals"
        )
        started = time.monotonic()
        job = client.submit(circuit["id"], [example_inputs(index) for index in range(partitions)])
        console.print(f"job {job.id}: {partitions} partitions")
        job = follow(client, job.id, console)
        if job.state != State.DONE:
            raise Refused(outcome(job))
        took = time.monotonic() - started
        proofs = client.proofs(job.id)
    verify_all(files.proving_key, [(row.proof, row.public) for row in proofs])
    console.print(f"{len(proofs)} proofs in {took:.1f} s, downloaded, each verified with the verifying key")


def circuit_files(home: Path, console: Console) -> CircuitFiles:
    """The demo circuit's files; its key is made at the first run and kept in `home`."""
    r1cs = FOLDER / f"{CIRCUIT}.r1cs"
    key = home / "demo" / f"{CIRCUIT}.zkey"
    if not key.exists():
        console.print("making a development key (insecure: this machine knows its secrets) ...")
        key.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_zkey(key, setup(read_r1cs(r1cs)))
    return CircuitFiles(key, FOLDER / f"{CIRCUIT}.wasm", r1cs)


def verify_all(key: Path, proofs: list[tuple[dict[str, object], list[str]]]) -> None:
    """Verify every proof with the verifying key in `key`. Raises Refused where one does not hold."""
    verifying_key = read_zkey(key).verifying_key
    for index, (proof, public) in enumerate(proofs):
        verdict = verify(verifying_key, proof_from_json(proof), public_from_json(public))
        if not verdict.valid:
            raise Refused(f"proof {index} does not verify: {verdict.reason}")
