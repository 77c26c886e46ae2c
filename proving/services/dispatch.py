"""Messages: what a worker is told to look at. They carry ids; whether there is work, the tracker says."""

from celery import current_app

from proving import spool
from proving.models import Circuit, Job
from proving.services import live
from proving.tracker.outcomes import Stopping
from proving.tracker.records import JobSpec, OnFailure, Phase

MESSAGE_PRIORITIES = {1: 9, 2: 6, 3: 3, 4: 0}
"""low, normal, high, critical as the transport counts: 0 is served first."""

TASKS = {Phase.PENDING: "synthesize", Phase.SYNTH_DONE: "prove", Phase.FINALIZING: "finalize"}
"""Which task takes a partition up from each phase in which it waits."""


def enqueue_job(job: Job) -> None:
    """Open a stored job in the tracker and tell the synthesis workers. Doing it twice changes nothing."""
    live.store().open_job(specification(job))
    send_all("synthesize", [(job.id, index, 1) for index in range(job.partition_count)], job.priority)


def cancel_live(job_id: str, reason: str) -> None:
    """End a job's live partitions: waiting ones now, running ones when their worker hears of it."""
    from proving.services.conclude import conclude_if_ended  # noqa: PLC0415 - concluding sends messages too

    outcome = live.store().cancel_job(job_id, reason)
    if isinstance(outcome, Stopping):
        conclude_if_ended(job_id, outcome.job_state)


def reprioritize_live(job_id: str) -> None:
    """Bring a job's place in the lines to the priority that its row has."""
    priority = Job.objects.values_list("priority", flat=True).get(pk=job_id)
    live.store().reprioritize_job(job_id, priority)


def specification(job: Job) -> JobSpec:
    """A stored job as the tracker knows it."""
    circuit = job.circuit
    evaluations = evaluation_bytes(circuit)
    first = job.partitions.order_by("index").first()
    return JobSpec(
        job_id=job.id,
        proof_kind=job.proof_kind,
        circuit_id=circuit.id,
        total_partitions=job.partition_count,
        submitted_at=job.submitted_at.timestamp(),
        priority=job.priority,
        label=job.label,
        deadline=job.deadline.timestamp() if job.deadline else None,
        max_attempts=first.max_attempts if first else 1,
        host_bytes=evaluations + spool.PAGE,
        evaluation_bytes=evaluations,
        on_failure=OnFailure(job.on_failure),
        device_bytes=device_bytes(circuit),
        owner=str(job.owner_id),
        circuit_name=circuit.name,
    )


def evaluation_bytes(circuit: Circuit) -> int:
    """What one partition of a circuit takes between synthesis and device: witness, a and b."""
    return 32 * (circuit.variable_count + 2 * circuit.domain_size)


def device_bytes(circuit: Circuit) -> int:
    """What one partition of a circuit takes on a device: the proving key, and buffers of the quotient."""
    return circuit.proving_key.size + 32 * (circuit.variable_count + 3 * circuit.domain_size)


def send_next(job_id: str, index: int, attempt: int, phase: Phase) -> None:
    """Tell the workers that a partition waits in `phase`."""
    send_all(TASKS[phase], [(job_id, index, attempt)], _priority(job_id))


def send_assemble(job_id: str) -> None:
    """Tell a finalizer that every partition of a job may be done."""
    send_all("assemble", [(job_id,)], _priority(job_id))


def send_all(task: str, places: list[tuple[str, int, int]] | list[tuple[str]], priority: int) -> None:
    """Send one message for each of `places`, over one connection."""
    with current_app.producer_or_acquire() as producer:
        for place in places:
            current_app.send_task(task, args=place, priority=MESSAGE_PRIORITIES[priority], producer=producer)


def _priority(job_id: str) -> int:
    record = live.store().job(job_id)
    return record.spec.priority if record else 2
