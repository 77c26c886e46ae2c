"""On the device: evaluations in, raw sums out. The device is this process's own, opened at first need."""

from functools import cache

from kernels.device import Cancelled, Device, ProverSums, open_device
from proving import spool
from proving.groth16.prover import prove_sums
from proving.services import circuits, conclude, dispatch, live, record
from proving.services.pulse import Pulse
from proving.services.stage import Report, refusal, under_lease
from proving.services.station import here
from proving.tracker.outcomes import Applied, Claimed, Refused, Stopped
from proving.tracker.records import Phase


@cache
def device() -> Device:
    """The device that this worker is pinned to. Raises DeviceUnavailable."""
    return open_device(here().device, threads=here().threads)


def prove(job_id: str, index: int, attempt: int) -> Report:
    """Take the first partition in line from `synth_done` to `finalizing`.

    The message names the partition that it was sent for; which one goes first is known only now.
    """
    claim = live.store().take_device(here().claimant)
    if isinstance(claim, Refused):
        return refusal(claim, "prove", job_id, index, attempt)
    done = under_lease(claim.assignment, lambda pulse: _work(claim, pulse))
    if done is None:
        return Report.LET_GO
    return _hand_off(claim)


def _work(claim: Claimed, pulse: Pulse) -> bool:
    job_id, index = claim.assignment.job, claim.assignment.partition
    record.device_started(claim.assignment, here().device)
    key = circuits.proving_key(circuits.circuit_of(job_id))
    found = spool.map_evaluations(job_id, index, claim.source_attempt)
    sums: ProverSums = prove_sums(device(), key, found.witness, found.a, found.b, cancelled=pulse.stopped)
    if pulse.stopped():
        raise Cancelled
    spool.store_sums(job_id, index, claim.assignment.attempt, sums)
    return True


def _hand_off(claim: Claimed) -> Report:
    assignment = claim.assignment
    match live.store().hand_off(assignment):
        case Applied():
            record.device_ended(assignment)
            dispatch.send_next(assignment.job, assignment.partition, assignment.attempt, Phase.FINALIZING)
            return Report.DONE
        case Stopped(job_state):
            conclude.conclude_if_ended(assignment.job, job_state)
        case _:
            pass
    return Report.LET_GO
