"""cuzkweb bench: stage times, and proving time beside the peers on the same files in the same run."""

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median

from cuzkweb.commands.options import positive
from cuzkweb.commands.peers import Measure, Prover, ProverFailedError, Task, find_peers, measure, own_prover
from cuzkweb.commands.refusals import Refused

FOREIGN = {
    "merkle20": ("merkle20/merkle20.zkey", "merkle20/merkle20.wtns"),
    "rarimo-authV2": ("rarimo-authV2/circuit_final.zkey", "rarimo-authV2/golden/witness.wtns"),
}
DENSE = "dense-2^16"
DENSE_CONSTRAINTS = (1 << 16) - 8
CIRCUITS = (*FOREIGN, DENSE)


@dataclass(frozen=True, slots=True)
class Circuit:
    """A key and a witness to prove with."""

    name: str
    zkey: Path
    wtns: Path


@dataclass(frozen=True, slots=True)
class ProverTimes:
    """Medians over the runs of one prover; `ratio` is the median of its wall time over ours, run by run."""

    prover: str
    wall_seconds: float
    cpu_seconds: float
    ratio: float


@dataclass(frozen=True, slots=True)
class Row:
    """The outcome for one circuit; stage times are medians in seconds."""

    circuit: str
    provers: tuple[ProverTimes, ...]
    stages: dict[str, float]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's flags."""
    parser.add_argument(
        "--fixtures", type=Path, metavar="DIR", help="foreign fixtures (default: $CUZKWEB_SHARED/fixtures)"
    )
    parser.add_argument(
        "--circuit", action="append", choices=CIRCUITS, help="only this one (may be repeated)"
    )
    parser.add_argument(
        "--runs", type=positive, default=5, metavar="N", help="runs of each prover (default: 5)"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of tables")


def run(options: argparse.Namespace) -> int:
    """Measure and print; what is absent is told on standard error."""
    peers, absent = find_peers()
    with tempfile.TemporaryDirectory(prefix="cuzkweb-bench-") as scratch:
        circuits, skipped = find_circuits(options, Path(scratch))
        for line in (*absent, *skipped):
            print(f"skipped {line}", file=sys.stderr)
        rows = [compare(circuit, [own_prover(), *peers], options.runs, Path(scratch)) for circuit in circuits]
    if not rows:
        raise Refused("no circuit to measure")
    if options.json:
        print(
            json.dumps(
                {"machine": machine(), "runs": options.runs, "circuits": [asdict(row) for row in rows]}
            )
        )
    else:
        print("\n".join(table(rows, options.runs)))
    return 0


def find_circuits(options: argparse.Namespace, scratch: Path) -> tuple[list[Circuit], list[str]]:
    """The circuits that were asked for and are here, and a word on each that is not."""
    wanted = options.circuit or CIRCUITS
    folder = fixtures_folder(options.fixtures)
    found, skipped = [], []
    for name in CIRCUITS:
        if name not in wanted:
            continue
        if name == DENSE:
            found.append(make_dense(scratch))
        elif folder is not None and all((folder / file).is_file() for file in FOREIGN[name]):
            found.append(Circuit(name, *(folder / file for file in FOREIGN[name])))
        else:
            skipped.append(f"{name}: the foreign fixtures are not here (--fixtures DIR or CUZKWEB_SHARED)")
    return found, skipped


def fixtures_folder(given: Path | None) -> Path | None:
    """The folder of foreign fixtures, from the flag or the environment."""
    if given is not None:
        return given
    shared = os.environ.get("CUZKWEB_SHARED")
    return Path(shared) / "fixtures" if shared else None


def make_dense(scratch: Path) -> Circuit:
    """A circuit whose every wire is full width and stands in every matrix, with a key made here."""
    from kernels.curves import BN254
    from proving.formats.wtns import write_witness
    from proving.formats.zkey import write_zkey
    from proving.groth16.setup import setup
    from proving.synthesis.chain import chain_circuit

    system, witness = chain_circuit(BN254, DENSE_CONSTRAINTS, "dense")
    circuit = Circuit(DENSE, scratch / "dense.zkey", scratch / "dense.wtns")
    write_zkey(circuit.zkey, setup(system))
    write_witness(circuit.wtns, witness)
    return circuit


def compare(circuit: Circuit, provers: list[Prover], runs: int, scratch: Path) -> Row:
    """Run every prover in turn, `runs` times over, so that a slow moment of the machine meets all alike."""
    task = Task(circuit.zkey, circuit.wtns, scratch / "proof.json", scratch / "public.json")
    measures: dict[str, list[Measure]] = {prover.name: [] for prover in provers}
    for prover in provers * runs:
        try:
            measures[prover.name].append(measure(prover, task))
        except ProverFailedError as error:
            raise Refused(f"{prover.name} on {circuit.name}: {error}") from error
        require_valid(prover, circuit, task)
    own = measures[provers[0].name]
    return Row(
        circuit.name, tuple(summarise(name, own, times) for name, times in measures.items()), stages(own)
    )


def require_valid(prover: Prover, circuit: Circuit, task: Task) -> None:
    """Refuse to time a prover whose proof does not verify with the key's own verifying key."""
    from proving.formats.snarkjs import read_proof, read_public
    from proving.formats.zkey import read_zkey
    from proving.groth16.verifier import verify

    verdict = verify(read_zkey(circuit.zkey).verifying_key, read_proof(task.proof), read_public(task.public))
    if not verdict.valid:
        raise Refused(f"{prover.name} on {circuit.name}: its proof does not verify: {verdict.reason}")


def summarise(name: str, own: list[Measure], times: list[Measure]) -> ProverTimes:
    """The medians of one prover."""
    return ProverTimes(
        prover=name,
        wall_seconds=median(time.wall for time in times),
        cpu_seconds=median(time.cpu for time in times),
        ratio=median(theirs.wall / ours.wall for theirs, ours in zip(times, own, strict=True)),
    )


def stages(own: list[Measure]) -> dict[str, float]:
    """The median of every stage that our own prover reported, the process's start and end included."""
    reports = [json.loads(time.stderr.splitlines()[-1]) for time in own]
    named = {name: median(report["stages"][name] for report in reports) for name in reports[0]["stages"]}
    outside = median(time.wall - report["total"] for time, report in zip(own, reports, strict=True))
    return {"start": outside, **named}


def machine() -> dict[str, object]:
    """What the numbers were measured on."""
    from kernels.engine import engine_name
    from kernels.host import processor_model

    return {"model": processor_model(), "threads": len(os.sched_getaffinity(0)), "engine": engine_name()}


def table(rows: list[Row], runs: int) -> Iterator[str]:
    """The lines of both tables."""
    about = machine()
    yield f"{about['model']}, {about['threads']} threads, {about['engine']} engine"
    yield f"medians of {runs} alternating runs, each a whole process"
    yield ""
    yield f"{'circuit':<16}{'prover':<12}{'wall s':>10}{'cpu s':>10}{'x ours':>9}"
    for row in rows:
        for times in row.provers:
            numbers = f"{times.wall_seconds:>10.3f}{times.cpu_seconds:>10.3f}{times.ratio:>9.2f}"
            yield f"{row.circuit:<16}{times.prover:<12}{numbers}"
    yield ""
    names = list(rows[0].stages)
    yield f"{'stages, ms':<16}" + "".join(f"{name:>10}" for name in names)
    for row in rows:
        yield f"{row.circuit:<16}" + "".join(f"{row.stages.get(name, 0.0) * 1000:>10.1f}" for name in names)
