"""What the service does under load: `python -m tests.benchmarks.load api | jobs | throughput`.

`api` asks for the status and for a job, by one client and by a hundred. `jobs` proves tiny circuits, from the
submission to the end. `throughput` proves partitions of 2^16 constraints and holds that against the bare loop
of the prover on the same device; the profile says where the rest goes. See docs/scale.md.
"""

import argparse
import os
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from cuzkweb.client import CircuitFiles, Client, State
from cuzkweb.commands.bench import make_circuit
from cuzkweb.demo.membership import example_inputs
from kernels.device import open_device
from proving.formats.wtns import read_witness
from proving.formats.zkey import read_zkey
from proving.groth16.prover import evaluate, prove_sums
from tests.support.processes import processes_of
from tests.support.soak import register
from tests.support.stack import Stack, running_stack

TICKS = os.sysconf("SC_CLK_TCK")
SETTINGS = {
    "CUZKWEB_SUBMITS_PER_MINUTE": "1000000",
    "CUZKWEB_READS_PER_MINUTE": "1000000",
    "CUZKWEB_LEASE_SECONDS": "10",
}


@dataclass(frozen=True)
class Asked:
    """Answers to one question by some clients at once: seconds of each, and what it took of the web."""

    spans: list[float]
    seconds: float
    web_seconds: float

    def __str__(self) -> str:
        return (
            f"{len(self.spans) / self.seconds:7.0f} a second, {quantiles(self.spans)}, "
            f"{self.web_seconds / len(self.spans) * 1e3:.1f} ms of the web's processor each"
        )


def quantiles(spans: Sequence[float]) -> str:
    ordered = sorted(spans)
    p99 = ordered[min(len(ordered) - 1, int(0.99 * len(ordered)))]
    return f"p50 {statistics.median(ordered) * 1e3:.0f} ms, p99 {p99 * 1e3:.0f} ms"


def processor_seconds(pid: int) -> float:
    """Of one process so far, with those of its children that ended."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return sum(int(fields[place]) for place in (11, 12)) / TICKS


def by_program(stack: Stack) -> dict[str, float]:
    """Processor seconds of every process of a service, pool children under their program's name."""
    names = {pid: name for name, pid in stack.state()["processes"].items()}
    found: dict[str, float] = {}
    for pid in processes_of(stack.home):
        parent = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
        name = names.get(pid) or names.get(parent) or "supervisor"
        found[name] = found.get(name, 0.0) + processor_seconds(pid)
    return found


def ask(stack: Stack, clients: int, seconds: float, question: Callable[[Client], object]) -> Asked:
    """So many clients ask one after the other's answer, each for so long."""
    spans: list[float] = []
    before, until = processor_seconds(stack.pid("web")), time.monotonic() + seconds

    def go() -> None:
        with stack.own_client() as client:
            while (started := time.monotonic()) < until:
                question(client)
                spans.append(time.monotonic() - started)

    threads = [threading.Thread(target=go) for _ in range(clients)]
    started = time.monotonic()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return Asked(spans, time.monotonic() - started, processor_seconds(stack.pid("web")) - before)


@contextmanager
def service(*options: str):
    with (
        tempfile.TemporaryDirectory(prefix="load-") as folder,
        running_stack(Path(folder) / "home", "--no-flower", *options, **SETTINGS) as stack,
    ):
        yield stack, Path(folder)


def measure_api(seconds: float) -> None:
    with service() as (stack, folder):
        circuit, _ = register(stack, folder / "keys")
        job = stack.client.submit(circuit, [example_inputs(0)])
        stack.client.wait(job.id, timeout=600)
        questions: dict[str, Callable[[Client], object]] = {
            "status": Client.status,
            "a job": lambda client: client.job(job.id),
        }
        for name, question in questions.items():
            for clients in (1, 100):
                print(f"{name:8} {clients:4} clients: {ask(stack, clients, seconds, question)}", flush=True)


def measure_jobs(count: int) -> None:
    with service() as (stack, folder):
        circuit, _ = register(stack, folder / "keys")
        spans: list[float] = []

        def prove(client: Client, number: int) -> None:
            started = time.monotonic()
            job = client.submit(circuit, [example_inputs(number)])
            assert client.wait(job.id, timeout=600).state == State.DONE
            spans.append(time.monotonic() - started)

        prove(stack.client, 0)
        for clients in (1, 8):
            spans.clear()
            before, started = sum(by_program(stack).values()), time.monotonic()
            threads = [
                threading.Thread(target=prove_many, args=(stack, prove, range(first, count, clients)))
                for first in range(clients)
            ]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            seconds, used = time.monotonic() - started, sum(by_program(stack).values()) - before
            rate, each = len(spans) / seconds, used / len(spans) * 1e3
            print(
                f"{clients} at a time: {rate:.1f} a second, {quantiles(spans)}, {each:.0f} ms processor each"
            )


def prove_many(stack: Stack, prove: Callable[[Client, int], None], numbers: range) -> None:
    with stack.own_client() as client:
        for number in numbers:
            prove(client, number)


def measure_throughput(partitions: int, kind: str, log_size: int, made: Path | None) -> None:
    """The same witness in every partition: blinding makes the proofs differ."""
    with tempfile.TemporaryDirectory(prefix="circuit-") as scratch:
        zkey, wtns = (
            (made.with_suffix(".zkey"), made.with_suffix(".wtns"))
            if made
            else files_of(Path(scratch), kind, log_size)
        )
        bare_wall, bare_processor = bare_loop(zkey, wtns, partitions)
        print(
            f"bare loop: {bare_wall / partitions:.3f} s, {bare_processor / partitions:.3f} of processor each"
        )
        with service() as (stack, _):
            circuit = stack.client.register("large", CircuitFiles(zkey))["id"]
            warm = stack.client.submit_witnesses(circuit, [wtns])
            assert stack.client.wait(warm.id, timeout=600).state == State.DONE
            before, started = by_program(stack), time.monotonic()
            job = stack.client.submit_witnesses(circuit, [wtns] * partitions)
            assert stack.client.wait(job.id, timeout=3_600).state == State.DONE
            wall, after = time.monotonic() - started, by_program(stack)
    used = {name: after[name] - before.get(name, 0.0) for name in after}
    processor = sum(used.values())
    print(f"service:   {wall / partitions:.3f} s, {processor / partitions:.3f} of processor each")
    print(f"bare / service: {bare_wall / wall:.3f} by the wall clock, ", end="")
    print(f"{bare_processor / processor:.3f} by processor time")
    for name, seconds in sorted(used.items(), key=lambda item: -item[1]):
        print(f"  {name:12} {seconds / partitions * 1e3:8.1f} ms a partition")


def files_of(scratch: Path, kind: str, log_size: int) -> tuple[Path, Path]:
    circuit = make_circuit(scratch, "bn254", kind, log_size)
    return circuit.zkey, circuit.wtns


def bare_loop(zkey: Path, wtns: Path, partitions: int) -> tuple[float, float]:
    """Wall and processor seconds of the device's part alone, the key resident, all threads."""
    key, device = read_zkey(str(zkey)), open_device("host")
    witness = read_witness(wtns, key.curve, key.variable_count).values
    a, b = evaluate(key.curve, key.coefficients, witness, key.domain_size, 0)
    prove_sums(device, key, witness, a, b)
    started, used = time.monotonic(), time.process_time()
    for _ in range(partitions):
        prove_sums(device, key, witness, a, b)
    return time.monotonic() - started, time.process_time() - used


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["api", "jobs", "throughput"])
    parser.add_argument("--seconds", type=float, default=10.0, help="api: of each measurement")
    parser.add_argument("--jobs", type=int, default=100)
    parser.add_argument("--partitions", type=int, default=64)
    parser.add_argument("--kind", default="dense", help="throughput: dense, bits or mix")
    parser.add_argument("--size", type=int, default=16, help="throughput: log2 of the constraints")
    parser.add_argument("--made", type=Path, help="throughput: NAME of a NAME.zkey and NAME.wtns that exist")
    options = parser.parse_args()
    if options.what == "api":
        measure_api(options.seconds)
    elif options.what == "jobs":
        measure_jobs(options.jobs)
    else:
        measure_throughput(options.partitions, options.kind, options.size, options.made)
    return 0


if __name__ == "__main__":
    sys.exit(main())
