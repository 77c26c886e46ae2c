"""A store with the fault that cuzkweb exists to rule out, to prove that the tests would see it.

When a finalizer finishes, this one also clears the device worker of that partition, without asking whose
assignment the worker holds by then.
"""

from dataclasses import replace

from proving.tracker import codec
from proving.tracker.outcomes import Finished, Refused
from proving.tracker.records import Assignment
from proving.tracker.store import Store


class BlindStore(Store):
    def finish(self, assignment: Assignment) -> Finished | Refused:
        finished = super().finish(assignment)
        partition = self.partition(assignment.job, assignment.partition)
        if partition is not None and partition.timeline.gpu_worker is not None:
            self._clear_worker(partition.timeline.gpu_worker)
        return finished

    def _clear_worker(self, name: str) -> None:
        worker = self.worker(name)
        if worker is not None:
            idle = replace(worker, assignment=None)
            self.ledger.client.set(self.ledger.keys.worker(name), codec.dump(idle))
