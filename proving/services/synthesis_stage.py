"""Synthesis: an input becomes a witness, a witness the evaluations of the constraint system on it."""

import time
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from kernels.device import Cancelled
from proving import spool
from proving.formats.errors import FormatError
from proving.formats.r1cs import first_unsatisfied
from proving.formats.wtns import read_witness
from proving.groth16.proving_key import ProvingKey
from proving.models import Circuit
from proving.services import circuit_log, circuits, conclude, dispatch, live, record, tracing
from proving.services.pulse import Pulse
from proving.services.stage import BadInput, Report, refusal, under_lease
from proving.services.station import here
from proving.synthesis.constraints import evaluate
from proving.synthesis.errors import InputError, SynthesisError, SynthesisErrorKind
from proving.synthesis.inputs import parse_inputs
from proving.tracker.outcomes import Applied, Claimed, Refusal, Refused, Stopped, Stopping
from proving.tracker.records import Assignment, Phase

PATIENCE_SECONDS = 2.0
"""How long a slot waits for memory before it puts the message back at the head of its queue, so that a
worker that is told to stop does not sit on one."""

POLL_SECONDS = 0.1

INPUT_ERRORS = {
    SynthesisErrorKind.ASSERTION: "assertion_failed",
    SynthesisErrorKind.TIME: "synthesis_time",
    SynthesisErrorKind.MEMORY: "synthesis_memory",
    SynthesisErrorKind.TRAP: "synthesis_trap",
    SynthesisErrorKind.MODULE: "bad_witness_generator",
}


def synthesize(job_id: str, index: int, attempt: int) -> Report:
    """Take the first partition in line from `pending` to `synth_done`, when its host has room for it.

    The message names the partition that it was sent for; which one goes first is known only now.
    """
    claim = _claim()
    if isinstance(claim, Refused):
        if claim.reason == Refusal.OVER_BUDGET and claim.place:
            _refuse_for_size(*claim.place)
        return refusal(claim, "synthesize", job_id, index, attempt)
    with tracing.stage_span("synthesize", claim.assignment, "queued"):
        done = under_lease(claim.assignment, lambda pulse: _work(claim, pulse))
    return Report.LET_GO if done is None else _pass_on(claim)


def _claim() -> Claimed | Refused:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while True:
        answer = live.store().take_synthesis(here().claimant)
        if not (isinstance(answer, Refused) and answer.reason == Refusal.BUDGET_FULL):
            return answer
        if time.monotonic() > deadline:
            return answer
        time.sleep(POLL_SECONDS)


def _work(claim: Claimed, pulse: Pulse) -> bool:
    assignment = claim.assignment
    record.synthesis_started(assignment)
    spool.drop_earlier(assignment.job, assignment.partition, assignment.attempt)
    circuit = circuits.circuit_of(assignment.job)
    key = circuits.proving_key(circuit)
    with circuit_log.kept(assignment.job, assignment.partition, assignment.attempt) as log:
        witness = _witness(circuit, key, assignment, log, pulse)
    if pulse.stopped():
        raise Cancelled
    found = evaluate(key, witness, here().threads)
    if pulse.stopped():
        raise Cancelled
    public = witness[1 : key.public_count + 1]
    spool.store_public(assignment.job, assignment.partition, assignment.attempt, public)
    whole = spool.Evaluations(witness, found.a, found.b)
    spool.write_evaluations(assignment.job, assignment.partition, assignment.attempt, whole)
    return True


def _witness(
    circuit: Circuit, key: ProvingKey, assignment: Assignment, log: Callable[[str], None], pulse: Pulse
) -> NDArray[np.uint64]:
    """The partition's witness, (wires, 4) plain. Raises Cancelled, BadInput where the input is at fault."""
    job_id, index = assignment.job, assignment.partition
    try:
        with spool.witness_upload(job_id, index) as uploaded:
            if uploaded is not None:
                witness = read_witness(uploaded, key.curve, key.variable_count).values
            else:
                witness = _generated(circuit, spool.read_input(job_id, index), key, log, pulse)
    except InputError as error:
        raise BadInput("bad_input", str(error)) from None
    except FormatError as error:
        raise BadInput("bad_witness", f"{error.place}: {error.reason}") from None
    except SynthesisError as error:
        raise BadInput(INPUT_ERRORS[error.kind], _words(error)) from None
    _require_satisfied(circuit, witness)
    return witness


def _words(error: SynthesisError) -> str:
    """What went wrong, without the places of files on this host."""
    if error.kind == SynthesisErrorKind.MODULE:
        return "the circuit's witness generator cannot be run"
    return error.message


def _generated(
    circuit: Circuit, content: bytes, key: ProvingKey, log: Callable[[str], None], pulse: Pulse
) -> NDArray[np.uint64]:
    generator = circuits.witness_generator(circuit)
    if generator is None:
        raise BadInput("no_witness_generator", "the circuit has no witness generator: send witness files")
    witness = generator.generate(parse_inputs(content, key.curve.r), log, pulse.stopped)
    if len(witness) != key.variable_count:
        wanted = f"the generator makes {len(witness)} values, the proving key wants {key.variable_count}"
        raise BadInput("generator_mismatch", wanted)
    return witness


def _require_satisfied(circuit: Circuit, witness: NDArray[np.uint64]) -> None:
    """With a constraint system at hand, a witness that breaks it never reaches a device."""
    system = circuits.r1cs(circuit)
    if system is None:
        return
    broken = first_unsatisfied(system, witness)
    if broken is not None:
        raise BadInput("unsatisfied_witness", f"the witness does not satisfy constraint {broken}")


def _pass_on(claim: Claimed) -> Report:
    assignment = claim.assignment
    match live.store().synthesized(assignment):
        case Applied():
            record.synthesis_ended(assignment)
            dispatch.send_next(assignment.job, assignment.partition, assignment.attempt, Phase.SYNTH_DONE)
            return Report.DONE
        case Stopped(job_state):
            conclude.conclude_if_ended(assignment.job, job_state)
        case Refused():
            pass
    return Report.LET_GO


def _refuse_for_size(job_id: str, index: int) -> None:
    detail = "a partition of this circuit needs more memory than the host's whole budget"
    record.partition_failed(job_id, index, "over_budget", detail)
    answer = live.store().fail_job(job_id, index, detail)
    if isinstance(answer, Stopping):
        conclude.stop_siblings(job_id, answer.job_state)
