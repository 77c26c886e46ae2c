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
from cuzkweb.commands.peers import (
    Measure,
    Prover,
    ProverFailedError,
    Task,
    find_peers,
    measure,
    measure_in_process,
    own_prover,
)
from cuzkweb.commands.refusals import Refused

FOREIGN = {
    "merkle20": ("merkle20/merkle20.zkey", "merkle20/merkle20.wtns"),
    "rarimo-authV2": ("rarimo-authV2/circuit_final.zkey", "rarimo-authV2/golden/witness.wtns"),
}
IN_PROCESS = ("gnark", "arkworks")
SPARE_ROWS = 8


@dataclass(frozen=True, slots=True)
class Circuit:
    """A key and a witness to prove with.

    `log_size` is above 0 for the dense circuits made here, which other libraries can build for themselves.
    """

    name: str
    zkey: Path
    wtns: Path
    curve: str = ""
    log_size: int = 0


@dataclass(frozen=True, slots=True)
class ProverTimes:
    """Medians over the runs of one prover.

    `spread` is (longest - shortest) / median of the wall times; `ratio` and `cpu_ratio` are the medians of
    its times over ours, run by run. `whole_process` is False for libraries that were timed from inside, on an
    equal-sized circuit of their own with the key in memory.
    """

    prover: str
    wall_seconds: float
    cpu_seconds: float
    ratio: float
    cpu_ratio: float
    spread: float
    peak_bytes: int
    whole_process: bool = True


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
    parser.add_argument("--circuit", action="append", choices=tuple(FOREIGN), help="a foreign circuit")
    parser.add_argument(
        "--size", action="append", type=positive, metavar="LOG", help="circuits of 2^LOG rows, made here"
    )
    parser.add_argument(
        "--kind", action="append", choices=("dense", "bits", "mix"), help="of these witnesses"
    )
    parser.add_argument(
        "--curve", action="append", choices=("bn254", "bls12-381"), help="over these curves (default: bn254)"
    )
    parser.add_argument(
        "--peer",
        action="append",
        default=[],
        type=named_path,
        metavar="NAME=PATH",
        help="where a peer is: rapidsnark, the Python of groth16py, gnark or arkworks (programs of "
        "tests/benchmarks)",
    )
    parser.add_argument(
        "--runs", type=positive, default=5, metavar="N", help="runs of each prover (default: 5)"
    )
    parser.add_argument(
        "--plot", type=Path, metavar="SVG", help="draw time against size of the dense circuits"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of tables")


def named_path(text: str) -> tuple[str, str]:
    """NAME=PATH, for argparse."""
    name, _, path = text.partition("=")
    if name not in {"rapidsnark", "groth16py", *IN_PROCESS} or not path:
        raise argparse.ArgumentTypeError(
            f"{text!r} is not rapidsnark, groth16py, gnark or arkworks, = and a path"
        )
    return name, path


def run(options: argparse.Namespace) -> int:
    """Measure and print; what is absent is told on standard error."""
    paths = dict(options.peer)
    peers, absent = find_peers(paths)
    rows = []
    with tempfile.TemporaryDirectory(prefix="cuzkweb-bench-") as scratch:
        circuits, skipped = find_circuits(options, Path(scratch))
        for line in (*absent, *skipped):
            print(f"skipped {line}", file=sys.stderr)
        for circuit in circuits:
            able = [peer for peer in peers if peer.name == "snarkjs" or circuit.curve != "bls12-381"]
            row = compare(circuit, [own_prover(), *able], options.runs, Path(scratch))
            rows.append(with_libraries(row, circuit, paths, options.runs))
    if not rows:
        raise Refused("no circuit to measure")
    if options.plot:
        from cuzkweb.commands.plot import draw

        options.plot.write_text(draw(points(rows)), encoding="utf-8")
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
    """The circuits that were asked for and are here, and a word on each that is not.

    By default: all foreign ones and dense 2^16.
    """
    chosen = options.circuit or options.size
    folder = fixtures_folder(options.fixtures)
    found, skipped = [], []
    for name in options.circuit or (() if chosen else FOREIGN):
        if folder is not None and all((folder / file).is_file() for file in FOREIGN[name]):
            zkey, wtns = (folder / file for file in FOREIGN[name])
            found.append(Circuit(name, zkey, wtns))
        else:
            skipped.append(f"{name}: the foreign fixtures are not here (--fixtures DIR or CUZKWEB_SHARED)")
    for curve in options.curve or ("bn254",):
        for kind in options.kind or ("dense",):
            sizes = options.size or (() if chosen else (16,))
            found += [make_circuit(scratch, curve, kind, log_size) for log_size in sizes]
    return found, skipped


def fixtures_folder(given: Path | None) -> Path | None:
    """The folder of foreign fixtures, from the flag or the environment."""
    if given is not None:
        return given
    shared = os.environ.get("CUZKWEB_SHARED")
    return Path(shared) / "fixtures" if shared else None


def make_circuit(scratch: Path, curve_name: str, kind: str, log_size: int) -> Circuit:
    """A circuit of 2^log_size rows with a key made here.

    "dense": every wire is full width and stands in every matrix; "bits": nearly all are zeros and ones;
    "mix": half of each.
    """
    from kernels.curves import curve_by_name
    from proving.formats.wtns import write_witness
    from proving.formats.zkey import write_zkey
    from proving.groth16.setup import setup
    from proving.synthesis.chain import chain_circuit

    system, witness = chain_circuit(curve_by_name(curve_name), (1 << log_size) - SPARE_ROWS, kind)
    name = f"{kind}-2^{log_size}" if curve_name == "bn254" else f"{curve_name}-{kind}-2^{log_size}"
    comparable = (curve_name, log_size) if kind == "dense" else (curve_name, 0)
    circuit = Circuit(name, scratch / f"{name}.zkey", scratch / f"{name}.wtns", *comparable)
    write_zkey(circuit.zkey, setup(system))
    write_witness(circuit.wtns, witness)
    return circuit


def with_libraries(row: Row, circuit: Circuit, paths: dict[str, str], runs: int) -> Row:
    """The row with the libraries that build a circuit of the same size for themselves."""
    own, libraries = row.provers[0], []
    for name in IN_PROCESS:
        if name not in paths or not circuit.log_size:
            continue
        try:
            reports = measure_in_process(paths[name], circuit.curve, "prove", circuit.log_size, runs)
        except ProverFailedError as error:
            raise Refused(f"{name} on {circuit.name}: {error}") from error
        walls = [report["wall"] for report in reports]
        wall, cpu = median(walls), median(report["cpu"] for report in reports)
        spread = (max(walls) - min(walls)) / wall
        ratios = wall / own.wall_seconds, cpu / own.cpu_seconds
        libraries.append(ProverTimes(name, wall, cpu, *ratios, spread, 0, whole_process=False))
    return Row(row.circuit, (*row.provers, *libraries), row.stages)


def points(rows: list[Row]) -> dict[str, list[tuple[int, float]]]:
    """For each prover: (log of the size, wall seconds) on the dense circuits over bn254."""
    lines: dict[str, list[tuple[int, float]]] = {}
    for row in rows:
        kind, _, log_size = row.circuit.partition("-2^")
        if kind == "dense":
            for times in row.provers:
                lines.setdefault(times.prover, []).append((int(log_size), times.wall_seconds))
    return lines


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

    key = read_zkey(circuit.zkey).verifying_key
    verdict = verify(key, read_proof(task.proof, key.curve), read_public(task.public))
    if not verdict.valid:
        raise Refused(f"{prover.name} on {circuit.name}: its proof does not verify: {verdict.reason}")


def summarise(name: str, own: list[Measure], times: list[Measure]) -> ProverTimes:
    """The medians of one prover."""
    return ProverTimes(
        prover=name,
        wall_seconds=median(time.wall for time in times),
        cpu_seconds=median(time.cpu for time in times),
        ratio=median(theirs.wall / ours.wall for theirs, ours in zip(times, own, strict=True)),
        cpu_ratio=median(theirs.cpu / ours.cpu for theirs, ours in zip(times, own, strict=True)),
        spread=(max(time.wall for time in times) - min(time.wall for time in times))
        / median(time.wall for time in times),
        peak_bytes=max(time.peak_bytes for time in times),
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
    columns = f"{'wall s':>10}{'cpu s':>10}{'x ours':>9}{'x cpu':>9}{'spread':>9}{'MiB':>8}"
    yield f"{'circuit':<24}{'prover':<12}{columns}"
    for row in rows:
        for times in row.provers:
            numbers = f"{times.wall_seconds:>10.3f}{times.cpu_seconds:>10.3f}{times.ratio:>9.2f}"
            numbers += f"{times.cpu_ratio:>9.2f}{times.spread:>8.0%} "
            peak = f"{times.peak_bytes >> 20:>8}" if times.whole_process else "  (inside)"
            yield f"{row.circuit:<24}{times.prover:<12}{numbers}{peak}"
    yield ""
    names = list(rows[0].stages)
    yield f"{'stages, ms':<24}" + "".join(f"{name:>10}" for name in names)
    for row in rows:
        yield f"{row.circuit:<24}" + "".join(f"{row.stages.get(name, 0.0) * 1000:>10.1f}" for name in names)
