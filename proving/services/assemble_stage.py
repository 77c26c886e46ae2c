"""The end of a job: every partition is done, its proofs are checked once more together, it is published."""

import logging

from proving.formats.snarkjs import proof_from_json, public_from_json
from proving.groth16.verifier import verify_batch
from proving.models import Job, Proof
from proving.services import circuits, conclude, live, record, tracing
from proving.services.stage import Report
from proving.tracker.outcomes import Completed, Refused
from proving.tracker.records import JobState

logger = logging.getLogger(__name__)


def assemble(job_id: str) -> Report:
    """Complete a job, for the one call that finds every partition done and nobody else at it."""
    answer = live.store().assemble(job_id)
    if isinstance(answer, Refused):
        logger.info("assemble of job %s: %s", job_id, answer.reason)
        return Report.REFUSED
    with tracing.job_span("assemble", job_id):
        wrong = _find_wrong(job_id)
    if wrong:
        record.job_failing(job_id, "bad_proof", wrong)
    completed = live.store().complete_job(job_id, JobState.FAILED if wrong else JobState.DONE, wrong or None)
    if isinstance(completed, Completed):
        conclude.conclude_if_ended(job_id, completed.job_state)
    return Report.DONE


def _find_wrong(job_id: str) -> str:
    """What is wrong with the proofs of a job, naming the partitions; nothing for a good one."""
    rows = list(Proof.objects.filter(job_id=job_id).order_by("index"))
    return _find_missing(job_id, rows) or _find_invalid(job_id, rows)


def _find_missing(job_id: str, rows: list[Proof]) -> str:
    """The partitions whose proofs are not there, whatever the tracker says."""
    wanted = set(range(Job.objects.get(pk=job_id).partition_count))
    missing = sorted(wanted - {row.index for row in rows})
    return "; ".join(f"partition {index}: its proof is missing" for index in missing)


def _find_invalid(job_id: str, rows: list[Proof]) -> str:
    """The partitions whose proofs the circuit's own key does not accept."""
    circuit = circuits.circuit_of(job_id)
    proofs = [proof_from_json(row.proof) for row in rows]
    publics = [public_from_json(row.public) for row in rows]
    verdict = verify_batch(circuits.verifying_key(circuit), proofs, publics)
    bad = [f"partition {rows[place].index}: {found.reason}" for place, found in verdict.bad]
    return "; ".join(bad)
