"""On the device: evaluations in, raw sums out. The device is this process's own, opened at first need."""

import logging
import os
import signal
import time
from functools import cache

from kernels.device import Cancelled, Device, ProverSums, open_device
from proving import spool
from proving.groth16.prover import prove_sums
from proving.services import circuits, conclude, dispatch, live, record, tracing
from proving.services.pulse import Pulse
from proving.services.stage import PAUSE_SECONDS, Report, refusal, under_lease
from proving.services.station import claiming, here
from proving.tracker.outcomes import Applied, Claimed, Refused, Stopped
from proving.tracker.records import Phase

logger = logging.getLogger(__name__)

OWN_QUEUES = "gpu."
"""What the name of every device's own queue begins with; host and ordinal follow."""


@cache
def device() -> Device:
    """The device that this worker is pinned to. Raises DeviceUnavailable."""
    return open_device(here().device, threads=here().threads)


def prove(job_id: str, index: int, attempt: int, queue: str = "") -> Report:
    """Take the first partition in line from `synth_done` to `finalizing`.

    The message names the partition that it was sent for; which one goes first is known only now. One out of
    the `queue` of another device goes back: a worker that reconnects has been seen to consume foreign queues.
    """
    if is_foreign(queue):
        logger.warning("a message of %s is not for this device: put back", queue)
        time.sleep(PAUSE_SECONDS)
        return Report.LATER
    with claiming() as claimant:
        claim = live.store().take_device(claimant)
        if isinstance(claim, Refused):
            return refusal(claim, "prove", job_id, index, attempt)
        with tracing.stage_span("prove", claim.assignment, "wait for a device"):
            done = under_lease(claim.assignment, lambda pulse: _work(claim, pulse))
        if done is None:
            return Report.LET_GO
        return _hand_off(claim)


def is_foreign(queue: str) -> bool:
    """Whether a queue is the own one of a device that is not this worker's."""
    own = f"{OWN_QUEUES}{here().host}.{here().ordinal}"
    return queue.startswith(OWN_QUEUES) and queue != own


def _work(claim: Claimed, pulse: Pulse) -> bool:
    job_id, index = claim.assignment.job, claim.assignment.partition
    record.device_started(claim.assignment, here().device)
    key = circuits.proving_key(circuits.circuit_of(job_id))
    found = spool.map_evaluations(job_id, index, claim.source_attempt)
    own = device()
    a, b = (None, None) if own.evaluates else (found.a, found.b)
    try:
        sums: ProverSums = prove_sums(
            own, key, found.witness, a, b, cancelled=pulse.stopped, report=tracing.device_stage
        )
    finally:
        _tell_faults(own)
    if pulse.stopped():
        raise Cancelled
    spool.store_sums(job_id, index, claim.assignment.attempt, sums)
    return True


def _tell_faults(own: Device) -> None:
    """Note what was wrong with the device's own results. One that is past use leaves: what starts its
    process again gives it a fresh one."""
    for fault in own.take_faults():
        logger.error("device fault of %s: %s", own.name, fault)
        live.store().mark_fault(f"{here().host}/{own.name}", fault)
    if not own.usable:
        logger.error("%s can only be used by a new process: this one stops", own.name)
        os.kill(os.getpid(), signal.SIGTERM)


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
