"""Short ways to bring the tracker into a state that a test starts from."""

from proving.tracker.outcomes import Applied, Claimed, Finished, Opened, Registered
from proving.tracker.records import Assignment, JobSpec, WorkerKind, WorkerSpec
from proving.tracker.store import Store


def job_spec(job_id: str = "job", total: int = 2, **changes) -> JobSpec:
    given = {"proof_kind": "groth16", "circuit_id": "circuit", "submitted_at": 1_000.0, **changes}
    return JobSpec(job_id=job_id, total_partitions=total, **given)


def device(name: str = "gpu0@host", pid: int = 1, **changes) -> WorkerSpec:
    host = name.rpartition("@")[2]
    return WorkerSpec(name, WorkerKind.DEVICE, host, device="host", pid=pid, **changes)


class Driver:
    """Takes partitions through the phases, each step asserted."""

    def __init__(self, store: Store) -> None:
        self.store = store

    def open(self, job_id: str = "job", total: int = 2, **changes) -> JobSpec:
        spec = job_spec(job_id, total, **changes)
        assert self.store.open_job(spec) == Opened(job_id)
        return spec

    def register(self, name: str = "gpu0@host", pid: int = 1, **changes) -> int:
        registered = self.store.register_worker(device(name, pid, **changes))
        assert isinstance(registered, Registered)
        return registered.worker_id

    def synthesizing(self, index: int = 0, job: str = "job", attempt: int = 1) -> Assignment:
        return self.claimed(self.store.claim_synthesis(f"synth-{job}-{index}@host", job, index, attempt))

    def synthesized(self, index: int = 0, job: str = "job", attempt: int = 1) -> None:
        assert isinstance(self.store.synthesized(self.synthesizing(index, job, attempt)), Applied)

    def on_device(
        self, index: int = 0, job: str = "job", worker: str = "gpu0@host", attempt: int = 1
    ) -> Assignment:
        """Synthesizes first where that is still to do."""
        partition = self.store.partition(job, index)
        if partition is not None and partition.phase == "pending":
            self.synthesized(index, job, attempt)
        return self.claimed(self.store.claim_device(worker, job, index, attempt))

    def handed_off(
        self, index: int = 0, job: str = "job", worker: str = "gpu0@host", attempt: int = 1
    ) -> Assignment:
        assignment = self.on_device(index, job, worker, attempt)
        assert isinstance(self.store.hand_off(assignment), Applied)
        return assignment

    def finalizing(self, index: int = 0, job: str = "job", attempt: int = 1) -> Assignment:
        """Of a partition that was handed off."""
        return self.claimed(self.store.claim_finalize(f"final-{job}-{index}@host", job, index, attempt))

    def done(self, index: int = 0, job: str = "job", worker: str = "gpu0@host", attempt: int = 1) -> None:
        self.handed_off(index, job, worker, attempt)
        assert isinstance(self.store.finish(self.finalizing(index, job, attempt)), Finished)

    @staticmethod
    def claimed(outcome: object) -> Assignment:
        assert isinstance(outcome, Claimed), outcome
        return outcome.assignment
