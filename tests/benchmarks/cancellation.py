"""How fast a proof that runs lets go: `python -m tests.benchmarks.cancellation [--size 18] [--times 60]`.

A flag is raised at a random moment of a proof, again and again. The points of the key are made up: what they
are does not matter to how long the work takes. See docs/scale.md.
"""

import argparse
import random
import statistics
import sys
import threading
import time
from pathlib import Path

import numpy as np

from kernels import engine
from kernels.curves import BN254, Group
from kernels.device import Cancelled, KeyPoints
from kernels.flag import Flag
from kernels.host import HostDevice
from kernels.points import fixed_base_multiply, from_integers


def scalars(count: int, seed: int) -> np.ndarray:
    """Full-width values below r, (count, 4)."""
    words = np.random.default_rng(seed).integers(0, 1 << 63, (count, 4), dtype=np.uint64)
    words[:, 3] >>= np.uint64(2)
    return words


def key_points(log_size: int) -> KeyPoints:
    """A dense key of that domain: every array holds the same points."""
    size = 1 << log_size
    factors = scalars(size, 1)
    g1 = fixed_base_multiply(BN254, Group.G1, from_integers(BN254, Group.G1, BN254.g1), factors)
    g2 = fixed_base_multiply(BN254, Group.G2, from_integers(BN254, Group.G2, BN254.g2), factors)
    return KeyPoints(BN254, log_size, 1, g1, g1, g2, g1[2:], g1)


def resident_bytes() -> int:
    """Anonymous memory of this process."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("RssAnon:"):
            return int(line.split()[1]) * 1024
    raise OSError("the kernel does not say")


class Proof:
    """One proof on a device that holds the key already."""

    def __init__(self, device: HostDevice, points: KeyPoints) -> None:
        size = 1 << points.log_domain
        self._device, self._points = device, points
        self._witness, self._a, self._b = (scalars(size, seed) for seed in (2, 3, 4))

    def whole(self) -> float:
        """Seconds without a cancel."""
        started = time.monotonic()
        self._device.prove("key", lambda: self._points, self._witness, self._a, self._b)
        return time.monotonic() - started

    def cancelled_after(self, seconds: float) -> float | None:
        """Seconds from the flag to the end of the call; None where the proof was done before."""
        flag = Flag()
        raised: list[float] = []

        def up() -> None:
            flag.up()
            raised.append(time.monotonic())

        timer = threading.Timer(seconds, up)
        timer.start()
        try:
            with flag.watched():
                self._device.prove(
                    "key", lambda: self._points, self._witness, self._a, self._b, cancelled=flag
                )
        except Cancelled:
            ended = time.monotonic()
            timer.join()
            return ended - raised[0]
        finally:
            timer.cancel()
        return None


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=18, help="log2 of the domain")
    parser.add_argument("--times", type=int, default=60)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    chance = random.Random(options.seed)
    device = HostDevice(threads=options.threads)
    proof = Proof(device, key_points(options.size))
    proof.whole()
    whole, before, used = proof.whole(), resident_bytes(), []
    spans = []
    while len(spans) < options.times:
        span = proof.cancelled_after(chance.uniform(0.0, 0.95) * whole)
        if span is not None:
            spans.append(span * 1e3)
            used.append(resident_bytes())
    spans.sort()
    how = f"2^{options.size}, {engine.engine_name()}, {options.threads} threads"
    print(f"{how}: a whole proof takes {whole:.2f} s")
    told = [statistics.median(spans), *(spans[int(share * len(spans))] for share in (0.9, 0.99)), spans[-1]]
    print(f"{len(spans)} cancels at random moments, milliseconds:", end=" ")
    print("median {:.1f}, p90 {:.1f}, p99 {:.1f}, longest {:.1f}".format(*told))
    mebibytes = [before / 2**20, statistics.median(used) / 2**20, used[-1] / 2**20]
    print("anonymous memory: {:.0f} MiB before, {:.0f} in the middle, {:.0f} at the end".format(*mebibytes))
    return 0


if __name__ == "__main__":
    sys.exit(main())
