"""The status as one owner may see it: their own jobs whole, those of others as load without a name.

That a device is busy, how much memory is taken and how much waits are everybody's business; whose work it is,
what it is called and which circuit it is for are not.
"""

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from proving.tracker.snapshot import Snapshot


@dataclass(frozen=True, slots=True)
class Viewer:
    """Someone who may see what is their own: `owner` as in `JobSpec`, and the ids of their circuits."""

    owner: str
    circuits: frozenset[str] = frozenset()

    def owns(self, owner: str) -> bool:
        return owner == self.owner


def narrowed(document: dict[str, Any], snapshot: "Snapshot", viewer: Viewer) -> dict[str, Any]:
    """The same document without what tells of others; its pipelines are the viewer's own already."""
    own = _own_jobs(snapshot, viewer)
    if "order" in document:
        document["order"] = [job_id for job_id in document["order"] if job_id in own]
    for worker in [*document["gpu_workers"], *document["workers"]]:
        if worker["current_job"] not in own:
            worker["current_job"] = worker["current_partition"] = None
    for worker in document["gpu_workers"]:
        worker["recent"] = [
            spell if spell[0] in own else [None, None, *spell[2:]] for spell in worker["recent"]
        ]
        worker["resident_keys"] = [name for name in worker["resident_keys"] if name in viewer.circuits]
        for occupant in worker["memory"]["occupants"]:
            if occupant["circuit_id"] not in viewer.circuits:
                occupant["circuit_id"] = None
    for host in document["memory"]["hosts"]:
        host["occupants"] = _told_apart(host["occupants"], own)
    document["allocations"] = {
        kind: [line for line in lines if line["circuit_id"] in viewer.circuits]
        for kind, lines in document["allocations"].items()
    }
    document["others"] = _others(snapshot, viewer)
    return document


def _own_jobs(snapshot: "Snapshot", viewer: Viewer) -> set[str]:
    """The viewer's jobs, those among them that are over but still in a device's history included."""
    live = {job.record.spec.job_id for job in snapshot.jobs if viewer.owns(job.record.spec.owner)}
    return live | {
        spell.job for worker in snapshot.workers for spell in worker.recent if viewer.owns(spell.owner)
    }


def _told_apart(occupants: list[dict[str, Any]], own: set[str]) -> list[dict[str, Any]]:
    """One line a job of the viewer's, one for everybody else."""
    found = [occupant for occupant in occupants if occupant["job_id"] in own]
    rest = sum(occupant["bytes"] for occupant in occupants if occupant["job_id"] not in own)
    return [*found, {"kind": "partitions", "job_id": None, "bytes": rest}] if rest else found


def _others(snapshot: "Snapshot", viewer: Viewer) -> dict[str, Any]:
    foreign = [job for job in snapshot.jobs if not viewer.owns(job.record.spec.owner)]
    counts: Counter[str] = Counter()
    for job in foreign:
        counts.update(job.counts.phases)
    return {"jobs": len(foreign), "counts": dict(counts)}
