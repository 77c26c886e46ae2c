"""The transition tables run in memory: one job, its workers, and a clock that stands still."""

from proving.tracker import events as e
from proving.tracker.budget import Room, held_changes
from proving.tracker.effects import View
from proving.tracker.outcomes import Refusal
from proving.tracker.records import Assignment, JobRecord, JobState, PartitionRecord, WorkerRecord, WorkerSpec
from proving.tracker.transitions import PARTITION_TABLE, Change, cancel_waiting, stop_job, transition
from tests.support.tracker import job_spec

NOW = 100.0
LEASE = 10.0


class World:
    def __init__(self, total: int, *, budget: int = 0, table=PARTITION_TABLE, **spec) -> None:
        self.job = JobRecord(job_spec(total=total, **spec))
        self.partitions = [PartitionRecord("job", i, self.job.spec.max_attempts) for i in range(total)]
        self.workers: dict[str, WorkerRecord] = {}
        self.budget = budget
        self.held: dict[str, int] = {}
        self.table = table

    def apply(self, index: int, worker: str, event: object) -> Change | Refusal:
        room = Room(self.budget, self.held.get("host", 0))
        view = View(self.job, self.partitions[index], self.workers.get(worker), room)
        change = transition(view, event, NOW, table=self.table)
        if isinstance(change, Refusal):
            return change
        for host, more in held_changes(view.partition, change.partition).items():
            self.held[host] = self.held.get(host, 0) + more
        self.job, self.partitions[index] = change.job, change.partition
        if change.worker is not None:
            self.workers[worker] = change.worker
        if view.job.state is JobState.RUNNING and self.job.state is JobState.CANCELLING:
            self._take(cancel_waiting(self.job, self.partitions, NOW))
        return change

    def stop(self, event: e.Stop) -> Refusal | None:
        stopped = stop_job(self.job, self.partitions, event, NOW)
        if isinstance(stopped, Refusal):
            return stopped
        self._take(stopped)
        return None

    def claim(self, event: e.Claim, index: int) -> Assignment | Refusal:
        spec = WorkerSpec(event.worker, e.CLAIMANT_KIND[type(event)], "host")
        self.workers.setdefault(event.worker, WorkerRecord(spec, 0, seen_at=NOW, idle_since=NOW))
        change = self.apply(index, event.worker, event)
        return change if isinstance(change, Refusal) else change.partition.assignment

    def claim_synthesis(self, worker: str, index: int, attempt: int) -> Assignment | Refusal:
        return self.claim(e.ClaimSynthesis(worker, attempt, LEASE), index)

    def claim_device(self, worker: str, index: int, attempt: int) -> Assignment | Refusal:
        return self.claim(e.ClaimDevice(worker, attempt, LEASE), index)

    def claim_finalize(self, worker: str, index: int, attempt: int) -> Assignment | Refusal:
        return self.claim(e.ClaimFinalize(worker, attempt, LEASE), index)

    def act(self, event: e.Act) -> Change | Refusal:
        return self.apply(event.assignment.partition, event.assignment.worker, event)

    def end_synthesis(self, assignment: Assignment) -> Change | Refusal:
        return self.act(e.EndSynthesis(assignment))

    def hand_off(self, assignment: Assignment) -> Change | Refusal:
        return self.act(e.HandOff(assignment))

    def finish(self, assignment: Assignment) -> Change | Refusal:
        return self.act(e.Finish(assignment))

    def lose(self, assignment: Assignment) -> Change | Refusal:
        return self.act(e.Lose(assignment))

    def release(self, assignment: Assignment) -> Change | Refusal:
        return self.act(e.Release(assignment))

    def fail(self, assignment: Assignment, error: str, *, retry: bool) -> Change | Refusal:
        return self.act(e.Fail(assignment, error, retry))

    def synthesized(self, index: int) -> None:
        self.end_synthesis(self.claim_synthesis(f"synth{index}", index, 1))

    def handed_off(self, index: int, worker: str = "gpu0") -> Assignment:
        self.synthesized(index)
        assignment = self.claim_device(worker, index, 1)
        self.hand_off(assignment)
        return assignment

    def done(self, index: int) -> None:
        self.handed_off(index)
        self.finish(self.claim_finalize(f"final{index}", index, 1))

    def _take(self, stopped: tuple[JobRecord, list[PartitionRecord]]) -> None:
        self.job, changed = stopped
        for partition in changed:
            for host, more in held_changes(self.partitions[partition.index], partition).items():
                self.held[host] = self.held.get(host, 0) + more
            self.partitions[partition.index] = partition
