#!/usr/bin/env python3
"""Sums and transforms beside gnark-crypto's, in turns: what each costs in CPU seconds, and the ratio.

    tests/benchmarks/kernels.py --gnark PROGRAM [--curve bn254] [--size 16] [--runs 7] [--threads 2] [--json]

PROGRAM is built in tests/benchmarks/gnark (go build). Both sides use random full-width scalars and points of
their own; the key is in memory in each side's format. The transforms go from natural to bit-reversed order,
which is what proofs use. CPU seconds are the least of the runs, because a shared machine only ever adds to
them. Needs the AVX2 engine.
"""

import argparse
import ctypes
import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from kernels.curves import CURVES, Curve, Group, curve_by_name
from kernels.engine import engine_name
from kernels.msm import Bases
from kernels.native import LIB, Words, thread_count
from kernels.points import fixed_base_multiply, from_integers


def main() -> None:
    """Measure every curve and size that was asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--gnark", required=True, metavar="PROGRAM")
    parser.add_argument("--curve", action="append", choices=[curve.name for curve in CURVES])
    parser.add_argument("--size", action="append", type=int, metavar="LOG")
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    rows = [
        row
        for name in options.curve or [curve.name for curve in CURVES]
        for size in options.size or [16]
        for row in compare(curve_by_name(name), size, options)
    ]
    if options.json:
        print(json.dumps({"engine": engine_name(), "runs": options.runs, "rows": rows}, indent=1))
        return
    print(f"{'curve':<12}{'size':>6}{'':>3}{'what':<10}{'ours s':>10}{'gnark s':>10}{'ratio':>8}")
    for row in rows:
        sizes = f"{row['curve']:<12}{'2^' + str(row['log']):>6}{'':>3}{row['what']:<10}"
        print(f"{sizes}{row['ours']:>10.4f}{row['gnark']:>10.4f}{row['ratio']:>8.2f}")


def compare(curve: Curve, log_size: int, options: argparse.Namespace) -> list[dict[str, object]]:
    """One row for each kernel: the least CPU seconds of both sides."""
    ours: dict[str, list[float]] = {}
    theirs: dict[str, list[float]] = {}
    kernels = own_kernels(curve, log_size, options.threads)
    for _ in range(options.runs):
        for what, kernel in kernels.items():
            ours.setdefault(what, []).append(cpu_seconds(kernel))
        for report in ask_gnark(options.gnark, curve, log_size):
            theirs.setdefault(str(report["what"]), []).append(float(str(report["cpu"])))
    return [
        {
            "curve": curve.name,
            "log": log_size,
            "what": what,
            "ours": min(ours[what]),
            "gnark": min(theirs[what]),
            "ratio": min(ours[what]) / min(theirs[what]),
        }
        for what in kernels
    ]


def own_kernels(curve: Curve, log_size: int, threads: int) -> dict[str, Callable[[], None]]:
    """What is measured, by gnark's names."""
    source = np.random.default_rng(1)
    count = 1 << log_size
    scalars = random_scalars(source, curve, count)
    kernels: dict[str, Callable[[], None]] = {}
    for what, group, generator in (("msm_g1", Group.G1, curve.g1), ("msm_g2", Group.G2, curve.g2)):
        base = from_integers(curve, group, generator)
        points = fixed_base_multiply(curve, group, base, random_scalars(source, curve, count), threads)
        kernels[what] = summing(Bases(curve, group, points), scalars, threads)
    kernels["ntt"] = transforming(curve, scalars.copy(), log_size, thread_count(threads))
    return kernels


def transforming(curve: Curve, values: Words, log_size: int, threads: int) -> Callable[[], None]:
    """One transform in place."""
    transform = LIB.cuzk_avx2_transform
    transform.argtypes = (ctypes.c_int, ctypes.c_void_p, ctypes.c_int, ctypes.c_int)
    return lambda: void(transform(curve.index, values.ctypes.data, log_size, threads))


def summing(bases: Bases, scalars: Words, threads: int) -> Callable[[], None]:
    """One sum over bases that stay."""
    return lambda: void(bases.msm(scalars, threads))


def void(_result: object) -> None:
    """A result that nobody wants."""


def random_scalars(source: np.random.Generator, curve: Curve, count: int) -> Words:
    """Plain scalars of one bit less than r has, (count, 4)."""
    words = source.integers(0, 1 << 64, size=(count, 4), dtype=np.uint64)
    words[:, 3] >>= np.uint64(257 - curve.r.bit_length())
    return words


def cpu_seconds(kernel: Callable[[], None]) -> float:
    """Of this process, all threads, for one call."""
    started = time.process_time()
    kernel()
    return time.process_time() - started


def ask_gnark(program: str, curve: Curve, log_size: int) -> list[dict[str, object]]:
    """One run of each of its kernels."""
    command = [program, curve.name, "kernels", str(log_size), "1"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


if __name__ == "__main__":
    main()
