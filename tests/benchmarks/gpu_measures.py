"""What is measured on a GPU, and the floor that the measured rate of multiplications sets under each."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
from statistics import median

import numpy as np

from kernels import modules, points, polynomial_launches
from kernels.cuda.device import CudaDevice
from kernels.cuda.key import KeySizes, fill_tables, make_room_for_domain
from kernels.cuda.msm import Adder, Sorter
from kernels.cuda.proof import Arrived, quotient
from kernels.curves import Curve, Group
from kernels.field import Field
from kernels.launches import launch
from kernels.quotient import QuotientBasis
from kernels.sum_launches import Recoding, choose_width
from proving.groth16.prover import prove
from proving.groth16.setup import setup
from proving.synthesis.chain import dense_chain
from tests.support.device_checks import Bench, random_elements

MIXED_ADDITION, FULL_ADDITION = 10, 14
"""Multiplications of Fq in one addition into a bucket, and between two sums (XYZZ)."""

EXTENSION = 3
"""Multiplications of Fq in one of Fq2."""

TRANSFORMS = 6
"""In the quotient of a zkey's proof: there and back for A, B and C."""


@dataclass(frozen=True, slots=True)
class Timing:
    """Seconds of one operation, the median of its runs, and multiplications that it cannot do without."""

    name: str
    seconds: float
    multiplications: float = 0.0
    rate: float = 0.0

    @property
    def floor(self) -> float:
        """Seconds that the multiplications alone take at the measured rate; 0 where there is none."""
        return self.multiplications / self.rate if self.rate else 0.0


@dataclass(frozen=True, slots=True)
class Proofs:
    """One size of circuit: seconds of the first proof, which loads the key, and of later ones, by stage."""

    curve: str
    log_constraints: int
    first: float
    later: float
    stages: dict[str, float] = field(default_factory=dict)
    key_bytes: int = 0
    floor: float = 0.0


def timed(bench: Bench, work: Callable[[], object], runs: int) -> float:
    """The median seconds of work that is queued and then waited for, after once that does not count."""
    seconds = []
    for _ in range(runs + 1):
        bench.place.wait()
        started = time.monotonic()
        work()
        bench.place.wait()
        seconds.append(time.monotonic() - started)
    return median(seconds[1:])


def multiply_rate(
    bench: Bench, curve: Curve, *, scalar: bool, blocks: int, repetitions: int, runs: int
) -> Timing:
    """Multiplications a second, with every multiprocessor busy with nothing else."""
    one, count = Field(curve, scalar=scalar), 128 * blocks
    values = random_elements(one, count, Random(1))
    kernel = "repeat_fr" if scalar else "repeat_fq"
    with bench.arena() as arena:
        x, y = bench.put(arena, values), bench.put(arena, values[::-1].copy())
        once = launch(modules.arithmetic(curve), kernel, blocks, x, y, repetitions)
        seconds = timed(bench, lambda: bench.place.run([once]), runs)
    done = float(count * repetitions)
    return Timing(f"{curve.name} {one.name} multiply", seconds, done, done / seconds)


def quotient_time(bench: Bench, curve: Curve, log_n: int, rate: float, runs: int) -> Timing:
    """The scalars of the H query from evaluations that are there."""
    sizes = KeySizes(curve, log_n, 0, 1, 1 << log_n, QuotientBasis.ODD_COSET)
    with bench.arena() as arena:
        domain = make_room_for_domain(sizes, arena)
        fill_tables(sizes, domain, bench.place, arena)
        values = arena.allocate(3 * 32 << log_n)
        bench.driver.clear(values.address, values.nbytes, bench.place.stream)
        arrived = Arrived(0, values.address)
        seconds = timed(bench, lambda: quotient(bench.place, sizes, domain, arrived), runs)
    return Timing(f"{curve.name} quotient 2^{log_n}", seconds, quotient_multiplications(log_n), rate)


def quotient_multiplications(log_n: int) -> float:
    """Butterflies of the transforms, and what stands between them."""
    return (1 << log_n) * (TRANSFORMS * log_n / 2 + 5)


def sum_time(bench: Bench, curve: Curve, group: Group, log_n: int, *, rate: float, runs: int) -> Timing:
    """One multi-scalar multiplication of random scalars: sort, add, reduce."""
    count, random = 1 << log_n, np.random.default_rng(2)
    bits = curve.r.bit_length()
    recoding = Recoding(bits, max(8, choose_width(count, bits)))
    scalars = random.integers(0, 2**62, size=(count, 4), dtype=np.uint64)
    scalars[:, 3] >>= np.uint64(2)
    generator = points.from_integers(curve, group, curve.g1 if group is Group.G1 else curve.g2)
    few = min(count, 1 << 12)
    logarithms = polynomial_launches.plain_words(curve, list(range(1, few + 1)))
    base = np.tile(points.fixed_base_multiply(curve, group, generator, logarithms), (count // few, 1))
    with bench.arena() as arena:
        scalars_at, points_at = bench.put(arena, scalars), bench.put(arena, base)
        sorter = Sorter(bench.place, arena, recoding, count)

        def work() -> None:
            with bench.arena() as scratch:
                sorter.sort(scalars_at, count, count)
                adder = Adder(bench.place, scratch, curve, group, recoding)
                adder.add(points_at, sorter)
                adder.sums()

        seconds = timed(bench, work, runs)
    needed = sum_multiplications(recoding, count, group)
    return Timing(f"{curve.name} {group.name} sum 2^{log_n}", seconds, needed, rate)


def sum_multiplications(recoding: Recoding, count: int, group: Group) -> float:
    """An addition for each digit, two for each bucket."""
    each = MIXED_ADDITION * recoding.windows * count
    each += 2 * FULL_ADDITION * recoding.sets * recoding.buckets
    return float(each * (EXTENSION if group is Group.G2 else 1))


def proofs_time(
    device: CudaDevice, curve: Curve, log_constraints: int, rates: dict[str, float], runs: int
) -> Proofs:
    """Whole verified proofs of a dense circuit; what the CPU does around the device is counted."""
    system, made = dense_chain(curve, (1 << log_constraints) - 8, Random(3))
    key, witness = setup(system), made.values
    stages: dict[str, list[float]] = {}

    def note(stage: object, seconds: float) -> None:
        stages.setdefault(str(stage), []).append(seconds)

    started = time.monotonic()
    prove(device, key, witness)
    first = time.monotonic() - started
    later = []
    for _ in range(runs):
        started = time.monotonic()
        prove(device, key, witness, report=note)
        later.append(time.monotonic() - started)
    (kept,) = [kept for kept in device.resident_keys() if kept.key_id == key.key_id] or [None]
    return Proofs(
        curve.name,
        log_constraints,
        first,
        median(later),
        {stage: median(seconds) for stage, seconds in stages.items()},
        kept.bytes if kept else 0,
        proof_floor(curve, len(witness), key.log_domain, rates),
    )


def proof_floor(curve: Curve, wires: int, log_n: int, rates: dict[str, float]) -> float:
    """Seconds that a dense proof's multiplications take, without multiples of the points."""
    bits = curve.r.bit_length()
    witness = Recoding(bits, max(8, choose_width(wires, bits)))
    h = Recoding(bits, max(8, choose_width(1 << log_n, bits)))
    in_fq = 3 * sum_multiplications(witness, wires, Group.G1)
    in_fq += sum_multiplications(witness, wires, Group.G2)
    in_fq += sum_multiplications(h, 1 << log_n, Group.G1)
    return in_fq / rates[f"{curve.name} Fq"] + quotient_multiplications(log_n) / rates[f"{curve.name} Fr"]
