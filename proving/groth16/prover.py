"""The Groth16 prover: constraint evaluation, the device's stages, assembly, and the proof's own check."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from kernels.constraints import evaluate
from kernels.device import Device, KeyPoints, ProverSums, Stage, never, silent
from proving.groth16.assembly import assemble, draw_scalar
from proving.groth16.objects import Proof
from proving.groth16.proving_key import ProvingKey
from proving.groth16.verifier import Verdict, verify

Words = NDArray[np.uint64]


class Step(StrEnum):
    """The steps of a whole proof around the device's stages; LOAD is making the key resident."""

    EVALUATE = "evaluate"
    LOAD = "load"
    ASSEMBLE = "assemble"
    VERIFY = "verify"


class UnsatisfiedWitnessError(ValueError):
    """The proof made from the witness does not verify: the witness does not satisfy the circuit."""

    def __init__(self, verdict: Verdict) -> None:
        super().__init__(
            f"witness does not satisfy the circuit (the proof made from it fails: {verdict.reason})"
        )
        self.verdict = verdict


def unheard(_step: Stage | Step, _seconds: float) -> None:
    """The `report` of a caller who does not listen."""


@dataclass(frozen=True, slots=True)
class ProvedStatement:
    """A verified proof and the public signals that it is about, in wire order."""

    proof: Proof
    public: tuple[int, ...]


def public_signals(key: ProvingKey, witness: Words) -> tuple[int, ...]:
    """The values of the public wires, 1 to public_count, of a (wires, 4) plain witness."""
    rows = witness[1 : key.public_count + 1]
    return tuple(int.from_bytes(row.astype("<u8").tobytes(), "little") for row in rows)


def prove_sums(
    device: Device,
    key: ProvingKey,
    witness: Words,
    a: Words | None,
    b: Words | None,
    *,
    cancelled: Callable[[], bool] = never,
    report: Callable[[Stage, float], None] = silent,
) -> ProverSums:
    """The device's part of a proof: quotient, A, B1, B2, C, H.

    `witness` is (wires, 4) plain; `a` and `b` are (domain, 4) in Montgomery form and are left as they are,
    or None: then the device evaluates the key's coefficients. Raises kernels.device.Cancelled between stages,
    ValueError where sizes and key do not match.
    """

    def load() -> KeyPoints:
        return replace(key.points, coefficients=key.coefficients)

    return device.prove(key.key_id, load, witness, a, b, cancelled=cancelled, report=report)


def prove(
    device: Device,
    key: ProvingKey,
    witness: Words,
    *,
    threads: int = 0,
    cancelled: Callable[[], bool] = never,
    report: Callable[[Stage | Step, float], None] = unheard,
) -> ProvedStatement:
    """A whole proof, verified with the key's own verifying key before it is returned.

    `witness` is (wires, 4), plain and canonical. `report` hears every step and stage with its wall seconds.
    Raises UnsatisfiedWitnessError where the proof does not verify, ValueError where a size is not the key's.
    """
    if witness.shape != (key.variable_count, 4):
        raise ValueError(f"witness has {len(witness)} values, key wants {key.variable_count}")
    a = b = None
    if not device.evaluates:
        with timed(Step.EVALUATE, report):
            a, b = evaluate(key.curve, key.coefficients, witness, key.domain_size, threads)
    sums = timed_sums(device, key, witness, a, b, cancelled=cancelled, report=report)
    with timed(Step.ASSEMBLE, report):
        proof = assemble(key, sums, draw_scalar(key.curve), draw_scalar(key.curve))
    public = public_signals(key, witness)
    with timed(Step.VERIFY, report):
        verdict = verify(key.verifying_key, proof, public)
    if not verdict.valid:
        raise UnsatisfiedWitnessError(verdict)
    return ProvedStatement(proof, public)


def timed_sums(
    device: Device,
    key: ProvingKey,
    witness: Words,
    a: Words | None,
    b: Words | None,
    *,
    cancelled: Callable[[], bool],
    report: Callable[[Stage | Step, float], None],
) -> ProverSums:
    """The device's part; what it takes beyond its stages is reported as loading the key."""
    in_stages: list[float] = []

    def listen(stage: Stage, seconds: float) -> None:
        in_stages.append(seconds)
        report(stage, seconds)

    started = time.monotonic()
    sums = prove_sums(device, key, witness, a, b, cancelled=cancelled, report=listen)
    report(Step.LOAD, time.monotonic() - started - sum(in_stages))
    return sums


@contextmanager
def timed(step: Step, report: Callable[[Stage | Step, float], None]) -> Iterator[None]:
    """Report the wall time of a step that succeeds."""
    started = time.monotonic()
    yield
    report(step, time.monotonic() - started)
