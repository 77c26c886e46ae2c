"""Finalizing: blind, assemble, verify, store. What the circuit's own key does not accept is no proof."""

import logging
from dataclasses import dataclass

from django.conf import settings

from kernels.device import ProverSums, open_device
from proving import spool
from proving.formats.snarkjs import proof_to_json, public_to_json
from proving.formats.words import to_integers
from proving.groth16.assembly import assemble, draw_scalar
from proving.groth16.objects import Proof
from proving.groth16.prover import prove_sums, public_signals
from proving.groth16.proving_key import ProvingKey
from proving.groth16.verifier import Verdict, verify
from proving.models import Circuit
from proving.services import circuits, conclude, device_faults, dispatch, live, record, tracing
from proving.services.artefact_cache import DamagedArtefact
from proving.services.pulse import Pulse
from proving.services.stage import BadInput, Report, refusal, under_lease
from proving.services.station import here
from proving.tracker.outcomes import Claimed, Finished, Refusal, Refused

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Checked:
    """A proof that verifies, and what was found wrong with the device's sums before it did."""

    proof: Proof
    public: tuple[int, ...]
    fault: str = ""


@dataclass(frozen=True, slots=True)
class Made:
    """What an attempt's synthesis made. The evaluations are large and mostly not needed here."""

    job_id: str
    index: int
    attempt: int

    def public(self, key: ProvingKey) -> tuple[int, ...]:
        """The public signals."""
        kept = spool.read_public(self.job_id, self.index, self.attempt)
        if kept is None:
            return public_signals(key, self.evaluations().witness)
        return tuple(to_integers(kept))

    def evaluations(self) -> spool.Evaluations:
        """All of it."""
        return spool.map_evaluations(self.job_id, self.index, self.attempt)


def finalize(job_id: str, index: int, attempt: int) -> Report:
    """Take a partition from `finalizing` to `done`; the last one of a job calls for its assembly.

    A message that comes again after a crash finds the partition done, and only calls for the assembly.
    """
    claim = live.store().claim_finalize(here().claimant, job_id, index, attempt)
    if isinstance(claim, Refused):
        if claim.reason == Refusal.ALREADY_DONE:
            dispatch.send_assemble(job_id)
        return refusal(claim, "finalize", job_id, index, attempt)
    with tracing.stage_span("finalize", claim.assignment, "wait for a finalizer"):
        done = under_lease(claim.assignment, lambda pulse: _work(claim, pulse))
    return Report.LET_GO if done is None else _finish(claim)


def _work(claim: Claimed, pulse: Pulse) -> bool:
    job_id, index = claim.assignment.job, claim.assignment.partition
    if record.is_proved(job_id, index):
        return True
    record.finalize_started(claim.assignment)
    circuit = circuits.circuit_of(job_id)
    made = Made(job_id, index, claim.evaluations_attempt)
    sums = spool.read_sums(job_id, index, claim.source_attempt)
    checked = _checked(circuit, sums, made, pulse)
    stored = record.proved(
        claim.assignment, proof_to_json(checked.proof), public_to_json(checked.public), fault=checked.fault
    )
    if not stored:
        raise BadInput("ended", "the partition had ended before its proof was stored")
    if checked.fault:
        device_faults.mark(job_id, index, checked.fault)
    return True


def _checked(circuit: Circuit, sums: ProverSums, made: Made, pulse: Pulse) -> Checked:
    """A verified proof: from the device's sums, else, once, from sums that the host makes itself."""
    key = circuits.proving_key(circuit)
    public = made.public(key)
    proof, verdict = _blinded(circuit, key, sums, public)
    if verdict.valid:
        return Checked(proof, public)
    found = made.evaluations()
    host = open_device("host", threads=here().threads)
    try:
        again = prove_sums(host, key, found.witness, found.a, found.b, cancelled=pulse.stopped)
    finally:
        host.close()
    proof, second = _blinded(circuit, key, again, public)
    if not second.valid:
        if found_damaged := circuits.damaged(circuit):
            raise DamagedArtefact(f"the circuit's {found_damaged[0]} is damaged on this host")
        raise BadInput("unsatisfied_witness", "the witness does not satisfy the circuit")
    fault = f"a proof from this device's sums failed its check: {verdict.reason}"
    logger.error("device fault: %s", fault)
    return Checked(proof, public, fault)


def _blinded(
    circuit: Circuit, key: ProvingKey, sums: ProverSums, public: tuple[int, ...]
) -> tuple[Proof, Verdict]:
    proof = assemble(key, sums, draw_scalar(key.curve), draw_scalar(key.curve))
    return proof, verify(circuits.verifying_key(circuit), proof, public)


def _finish(claim: Claimed) -> Report:
    assignment = claim.assignment
    answer = live.store().finish(assignment)
    if not isinstance(answer, Finished):
        logger.warning("%s: finished late, %s", assignment.token(), answer.reason)
        return Report.REFUSED
    keep_input = settings.CUZKWEB_KEEP_INPUTS_SECONDS > 0
    spool.clear_partition(assignment.job, assignment.partition, keep_input=keep_input)
    if answer.remaining == 0:
        dispatch.send_assemble(assignment.job)
    conclude.conclude_if_ended(assignment.job, answer.job_state)
    return Report.DONE
