"""When a job will be done: the server knows who comes first and how long such work took so far. Pure.

Work is taken in order by slots that are all alike. What a phase takes is its mean over all partitions of the
circuit so far; a circuit of which nothing was proved yet has no estimate, nor has whatever comes after it.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from proving.tracker.records import JobState, Phase, WorkerKind

if TYPE_CHECKING:
    from proving.tracker.snapshot import LiveJob, Snapshot


@dataclass(frozen=True, slots=True)
class Pace:
    """Mean seconds of a circuit's phases."""

    synthesis: float
    device: float
    finalize: float


def arrivals(snapshot: "Snapshot") -> Iterator[float | None]:
    """When each job of the snapshot will be done, on the server's clock; None where nobody knows."""
    devices = _slots(snapshot, WorkerKind.DEVICE)
    synthesizers = max(1, snapshot.limits.synthesis_slots, _slots(snapshot, WorkerKind.SYNTHESIS))
    synthesis = device = 0.0
    known = devices > 0
    paces = {circuit: _pace(snapshot.pace, circuit) for circuit in _circuits(snapshot)}
    for job in snapshot.jobs:
        if job.record.state is not JobState.RUNNING:
            yield None
            continue
        pace = paces[job.record.spec.circuit_id]
        if pace is None or not known:
            known = False
            yield None
            continue
        synthesis += _to_synthesize(job, pace, snapshot.generated_at) / synthesizers
        device += _to_prove(job, pace, snapshot.generated_at) / devices
        waits = job.counts.get(Phase.PENDING, 0) + job.counts.get(Phase.SYNTHESIZING, 0)
        ready = max(device, synthesis + pace.device) if waits else device
        yield snapshot.generated_at + ready + pace.finalize


def _circuits(snapshot: "Snapshot") -> set[str]:
    return {job.record.spec.circuit_id for job in snapshot.jobs}


def _slots(snapshot: "Snapshot", kind: WorkerKind) -> int:
    return sum(w.record.spec.kind is kind and not w.record.draining for w in snapshot.workers)


def _pace(pace: Mapping[str, float], circuit_id: str) -> Pace | None:
    means = []
    for phase in (Phase.SYNTHESIZING, Phase.GPU, Phase.FINALIZING):
        count = pace.get(f"{circuit_id}:{phase}:count", 0)
        if not count:
            return None
        means.append(pace.get(f"{circuit_id}:{phase}:seconds", 0.0) / count)
    return Pace(*means)


def _to_synthesize(job: "LiveJob", pace: Pace, now: float) -> float:
    """Seconds of one slot."""
    waiting = job.counts.get("pending", 0) * pace.synthesis
    if not job.counts.get("synthesizing"):
        return waiting
    started = [p.timeline.synth_started_at for p in job.partitions if p.phase is Phase.SYNTHESIZING]
    return waiting + _left(started, pace.synthesis, now)


def _to_prove(job: "LiveJob", pace: Pace, now: float) -> float:
    """Seconds of one device."""
    counts = job.counts
    waiting = counts.get("pending", 0) + counts.get("synthesizing", 0) + counts.get("synth_done", 0)
    if not counts.get("gpu"):
        return waiting * pace.device
    started = [p.timeline.gpu_started_at for p in job.partitions if p.phase is Phase.GPU]
    return waiting * pace.device + _left(started, pace.device, now)


def _left(started: list[float | None], usual: float, now: float) -> float:
    """What is left of phases that have begun, should they take as long as usual."""
    return sum(max(0.0, usual - (now - (start or now))) for start in started)
