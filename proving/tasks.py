"""The four tasks. Each takes ids, calls its service, and puts the message back where it came too early."""

from typing import Any

from celery import shared_task
from celery.exceptions import Reject

from proving.services import assemble_stage, device_stage, finalize_stage, synthesis_stage
from proving.services.stage import Report


@shared_task(name="synthesize")
def synthesize(job_id: str, index: int, attempt: int) -> None:
    """Inputs to witness and evaluations, on a CPU worker."""
    conclude(synthesis_stage.synthesize(job_id, index, attempt))


@shared_task(name="prove", bind=True)
def prove(self: Any, job_id: str, index: int, attempt: int) -> None:
    """Evaluations to raw sums, on the worker's own device."""
    queue = (self.request.delivery_info or {}).get("routing_key", "")
    conclude(device_stage.prove(job_id, index, attempt, queue))


@shared_task(name="finalize")
def finalize(job_id: str, index: int, attempt: int) -> None:
    """Raw sums to a verified, stored proof."""
    conclude(finalize_stage.finalize(job_id, index, attempt))


@shared_task(name="assemble")
def assemble(job_id: str) -> None:
    """All proofs of a job to a finished job."""
    conclude(assemble_stage.assemble(job_id))


def conclude(report: Report) -> None:
    """Acknowledge the message, or put it back at the head of its queue."""
    if report == Report.LATER:
        raise Reject("nothing to do yet", requeue=True)
