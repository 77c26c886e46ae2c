"""Everything that is to be shown on a GPU, in one go: `make gpu`, or `python -m tests.benchmarks.gpu`.

The tests first, then multiply rates, which decide the floors, then sums and quotients against them, then
whole proofs. Results go to tests/benchmarks/results. Without a GPU it says so and leaves with status 2.

It wants numpy, CuPy, NVRTC, pytest and the native library, and nothing else of the service.
"""

import argparse
import json
import os
import platform
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from kernels.cuda.cupy_driver import open_driver
from kernels.cuda.device import CudaDevice
from kernels.cuda.images import compiled_images
from kernels.curves import CURVES, Group
from kernels.device import DeviceUnavailable
from tests.benchmarks.gpu_measures import (
    Proofs,
    Timing,
    multiply_rate,
    proofs_time,
    quotient_time,
    sum_time,
)
from tests.support.device_checks import Bench

ROOT = Path(__file__).resolve().parents[2]
RESULTS = Path(__file__).with_name("results")
NO_GPU = 2
GOALS = {("bn254", 20): 0.060, ("bls12-381", 20): 0.120}
"""Seconds of a dense proof with a resident key, on an H200."""


def main(arguments: Sequence[str] | None = None) -> int:
    options = parsed(arguments)
    try:
        driver = open_driver(options.device, compiled_images())
    except DeviceUnavailable as reason:
        print(f"not run on a GPU: {reason}", file=sys.stderr)
        return NO_GPU
    tests = 0 if options.no_tests else run_tests(options.device)
    bench = Bench(driver)
    micro, rates = measure_kernels(bench, options)
    device = CudaDevice(f"cuda:{options.device}", driver)
    proofs = [
        proofs_time(device, curve, log, rates, options.runs) for curve in CURVES for log in options.logs
    ]
    report = described(driver.model, tests, micro, proofs)
    path = write(report, options.results)
    print(path.with_suffix(".md").read_text())
    return 1 if tests or device.take_faults() else 0


def parsed(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", type=int, default=0, help="the number of the GPU")
    parser.add_argument("--logs", type=numbers, default=[16, 18, 20, 22], help="constraints of whole proofs")
    parser.add_argument("--kernel-logs", type=numbers, default=[16, 18, 20, 22], help="sums and quotients")
    parser.add_argument("--blocks", type=int, default=132 * 16, help="of the multiply rates")
    parser.add_argument("--repetitions", type=int, default=10_000, help="of the multiply rates")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--no-tests", action="store_true")
    parser.add_argument("--results", type=Path, default=RESULTS)
    return parser.parse_args(arguments)


def numbers(text: str) -> list[int]:
    return [int(part) for part in text.split(",")]


def run_tests(device: int) -> int:
    """The exit status of the tests on the device; without the service's own settings of pytest."""
    alone = ("-c", os.devnull, "--rootdir", str(ROOT), "--import-mode=importlib", "-p", "no:cacheprovider")
    command = [sys.executable, "-m", "pytest", "-q", *alone, "-p", "no:randomly", str(ROOT / "tests" / "gpu")]
    environment = {**os.environ, "CUZKWEB_TEST_DEVICE": f"cuda:{device}", "PYTHONPATH": str(ROOT)}
    return subprocess.run(command, env=environment, cwd=ROOT, check=False).returncode


def measure_kernels(bench: Bench, options: argparse.Namespace) -> tuple[list[Timing], dict[str, float]]:
    """Rates by field, and every kernel's timing."""
    found: list[Timing] = []
    rates: dict[str, float] = {}
    for curve in CURVES:
        for scalar, name in ((True, "Fr"), (False, "Fq")):
            timing = multiply_rate(
                bench,
                curve,
                scalar=scalar,
                blocks=options.blocks,
                repetitions=options.repetitions,
                runs=options.runs,
            )
            rates[f"{curve.name} {name}"] = timing.rate
            found.append(timing)
        in_fr, in_fq = rates[f"{curve.name} Fr"], rates[f"{curve.name} Fq"]
        for log in options.kernel_logs:
            found.append(quotient_time(bench, curve, log, in_fr, options.runs))
            found += [sum_time(bench, curve, group, log, rate=in_fq, runs=options.runs) for group in Group]
    return found, rates


def described(model: str, tests: int, kernels: list[Timing], proofs: list[Proofs]) -> dict[str, Any]:
    return {
        "taken_at": datetime.now(UTC).isoformat(timespec="seconds"),
        "device": model,
        "host": platform.processor() or platform.machine(),
        "python": platform.python_version(),
        "tests_failed": bool(tests),
        "kernels": [{**asdict(timing), "floor": timing.floor} for timing in kernels],
        "proofs": [asdict(proof) for proof in proofs],
    }


def write(report: dict[str, Any], folder: Path) -> Path:
    """The report as JSON, and as a page beside it."""
    name = "-".join(report["device"].lower().split())
    path = folder / f"{report['taken_at'][:10]}-gpu-{name}.json"
    path.write_text(json.dumps(report, indent=1) + "\n")
    path.with_suffix(".md").write_text("\n".join(page(report)) + "\n")
    return path


def page(report: dict[str, Any]) -> Iterator[str]:
    yield f"# {report['device']}, {report['taken_at'][:10]}"
    yield ""
    yield f"Tests on the device: {'FAILED' if report['tests_failed'] else 'passed'}. Medians, milliseconds."
    yield ""
    yield "| operation | time | multiplications alone | share of the floor | G multiplications/s |"
    yield "| --- | --- | --- | --- | --- |"
    for row in report["kernels"]:
        share = f"{row['floor'] / row['seconds']:.0%}" if row["floor"] else ""
        rate = f"{row['multiplications'] / row['seconds'] / 1e9:.1f}" if row["multiplications"] else ""
        yield f"| {row['name']} | {ms(row['seconds'])} | {ms(row['floor'])} | {share} | {rate} |"
    yield ""
    yield "Whole proofs of dense circuits, verified, the CPU's part included. The first one loads the key."
    yield ""
    stages = list(dict.fromkeys(stage for proof in report["proofs"] for stage in proof["stages"]))
    yield "| curve | constraints | first | later | floor | goal | " + " | ".join(stages) + " | key MiB |"
    yield "|" + " --- |" * (7 + len(stages))
    for proof in report["proofs"]:
        goal = GOALS.get((proof["curve"], proof["log_constraints"]))
        cells = [
            proof["curve"],
            f"2^{proof['log_constraints']}",
            *(ms(proof[name]) for name in ("first", "later", "floor")),
            ms(goal) if goal else "",
            *(ms(proof["stages"].get(stage, 0.0)) for stage in stages),
            f"{proof['key_bytes'] / 2**20:.0f}",
        ]
        yield "| " + " | ".join(cells) + " |"


def ms(seconds: float) -> str:
    return f"{1000 * seconds:.2f}"


if __name__ == "__main__":
    sys.exit(main())
