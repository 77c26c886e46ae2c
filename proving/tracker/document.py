"""The status document: cuzk's fields under the same names and types, and ours beside them.

Field by field it follows what cuzk's panel reads; every addition is optional to such a reader.
Durations run on while their phase is open. Times are ISO 8601 in UTC, on the server's clock.
"""

from collections import Counter
from collections.abc import Collection, Iterator
from datetime import UTC, datetime
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from proving.tracker import estimate, narrow
from proving.tracker.faults import DeviceFaults
from proving.tracker.narrow import Viewer
from proving.tracker.records import JobState, PartitionRecord, PastAttempt, Phase, Spell, WorkerKind
from proving.tracker.tally import HELD

if TYPE_CHECKING:
    from proving.tracker.snapshot import LiveJob, LiveWorker, Snapshot

PRIORITIES = {1: "low", 2: "normal", 3: "high", 4: "critical"}
RECENT_SECONDS = 15 * 60.0


def build(
    snapshot: "Snapshot",
    jobs: Collection[str] | None = None,
    since: int | None = None,
    viewer: Viewer | None = None,
) -> dict[str, Any]:
    """`viewer` narrows it to what one owner may see; None is an operator, who sees everything."""
    now = snapshot.generated_at
    counts = snapshot.counts
    devices = [worker for worker in snapshot.workers if worker.record.spec.kind is WorkerKind.DEVICE]
    others = [worker for worker in snapshot.workers if worker.record.spec.kind is not WorkerKind.DEVICE]
    memory = _memory(snapshot)
    active = counts[Phase.SYNTHESIZING]
    pipelines = [
        _pipeline(job, eta, snapshot, memory["hosts"])
        for job, eta in zip(snapshot.jobs, estimate.arrivals(snapshot), strict=True)
        if (jobs is None or job.record.spec.job_id in jobs)
        and (since is None or job.changed > since)
        and (viewer is None or viewer.owns(job.record.spec.owner))
    ]
    found: dict[str, Any] = {
        "rev": snapshot.rev,
        "generated_at": iso(now),
        "consistent": snapshot.consistent,
        "uptime_secs": max(0.0, now - snapshot.started_at) if snapshot.started_at else 0.0,
        "lease_secs": snapshot.limits.lease_seconds,
        "memory": memory,
        "synthesis": {"max_concurrent": max(_synthesis_slots(snapshot), active), "active": active},
        "pipelines": pipelines,
        "gpu_workers": [_device_worker(worker, snapshot) for worker in devices],
        "workers": [_worker(worker, now) for worker in others],
        "allocations": _allocations(snapshot),
        "counters": _counters(snapshot, counts),
        "buffers": _buffers(counts),
    }
    if since is not None:
        found["order"] = [job.record.spec.job_id for job in snapshot.jobs]
    return found if viewer is None else narrow.narrowed(found, snapshot, viewer)


def _synthesis_slots(snapshot: "Snapshot") -> int:
    """The slots that there are, on all hosts; what is configured here, until one has registered."""
    registered = sum(w.record.spec.kind is WorkerKind.SYNTHESIS for w in snapshot.workers)
    return registered or snapshot.limits.synthesis_slots


@lru_cache(maxsize=16384)
def iso(at: float | None) -> str | None:
    """Milliseconds, with the Z that says UTC."""
    if at is None:
        return None
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _pipeline(
    job: "LiveJob", eta: float | None, snapshot: "Snapshot", hosts: list[dict[str, Any]]
) -> dict[str, Any]:
    record, spec, now = job.record, job.record.spec, snapshot.generated_at
    return {
        "job_id": spec.job_id,
        "proof_kind": spec.proof_kind,
        "started_secs_ago": max(0.0, now - spec.submitted_at),
        "total_partitions": spec.total_partitions,
        "partitions_done": record.done,
        "partitions": [_partition(partition, now) for partition in job.partitions],
        "counts": job.counts.phases,
        "state": str(record.state),
        "priority": PRIORITIES[spec.priority],
        "label": spec.label,
        "circuit_id": spec.circuit_id,
        "circuit_name": spec.circuit_name,
        "submitted_at": iso(spec.submitted_at),
        "deadline": iso(spec.deadline),
        "eta_at": None if eta is None else iso(round(eta)),
        "waiting_for": _waiting_for(job, snapshot, hosts),
        "error": record.error,
    }


def _waiting_for(job: "LiveJob", snapshot: "Snapshot", hosts: list[dict[str, Any]]) -> dict[str, Any] | None:
    """What a job lacks, not counting its turn: room on a host, a device at all, or a device large enough."""
    if job.record.state is not JobState.RUNNING:
        return None
    if job.counts.get(Phase.SYNTH_DONE):
        return _lacks_device(job, snapshot)
    if job.counts.get(Phase.PENDING) and job.record.spec.host_bytes:
        return _lacks_host_memory(job.record.spec.host_bytes, hosts)
    return None


def _lacks_device(job: "LiveJob", snapshot: "Snapshot") -> dict[str, Any] | None:
    devices = [w.record.spec for w in snapshot.workers if w.record.spec.kind is WorkerKind.DEVICE]
    if not devices:
        return {"resource": "device", "host": None, "needs_bytes": None, "free_bytes": None}
    needed = job.record.spec.device_bytes
    free = {
        spec.place: max(0, spec.memory_bytes - snapshot.held_bytes.get(spec.place, 0)) for spec in devices
    }
    if not needed or any(not spec.memory_bytes or free[spec.place] >= needed for spec in devices):
        return None
    best = max(devices, key=lambda spec: (spec.memory_bytes >= needed, free[spec.place]))
    return _lack("device_memory", best.place, needed, free[best.place])


def _lacks_host_memory(needed: int, hosts: list[dict[str, Any]]) -> dict[str, Any] | None:
    limited = [host for host in hosts if host["total_bytes"]]
    if not limited or any(host["available_bytes"] >= needed for host in limited):
        return None
    best = max(limited, key=lambda host: host["available_bytes"])
    return _lack("host_memory", best["host"], needed, best["available_bytes"])


def _lack(resource: str, host: str, needed: int, free: int) -> dict[str, Any]:
    return {"resource": resource, "host": host, "needs_bytes": needed, "free_bytes": free}


def _partition(partition: PartitionRecord, now: float) -> dict[str, Any]:
    """What stands still is made once for a record; only the phases that are open are counted on."""
    known = _KNOWN.get(id(partition))
    if known is None or known[0] is not partition:
        if len(_KNOWN) >= KNOWN_PARTITIONS:
            _KNOWN.clear()
        known = _KNOWN[id(partition)] = (partition, _still(partition), _open_spans(partition))
    return {**known[1], **{name: max(0, round((now - start) * 1000)) for name, start in known[2].items()}}


KNOWN_PARTITIONS = 8192
_KNOWN: dict[int, tuple[PartitionRecord, dict[str, Any], dict[str, float]]] = {}


def _spans(partition: PartitionRecord) -> dict[str, tuple[float | None, float | None]]:
    """From when to when each phase lasted; what the partition's end has cut short ends with it."""
    line, ended = partition.timeline, partition.timeline.finished_at
    return {
        "queued_ms": (line.queued_at, line.synth_started_at or ended),
        "synth_ms": (line.synth_started_at, line.synth_ended_at or ended),
        "wait_ms": (line.wait_started_at, line.gpu_started_at or ended),
        "gpu_ms": (line.gpu_started_at, line.gpu_ended_at or ended),
        "finalize_ms": (line.gpu_ended_at if line.gpu_attempt else None, ended),
    }


def _open_spans(partition: PartitionRecord) -> dict[str, float]:
    return {
        name: start for name, (start, end) in _spans(partition).items() if start is not None and end is None
    }


def _still(partition: PartitionRecord) -> dict[str, Any]:
    line = partition.timeline
    spans = {
        name: None if start is None or end is None else max(0, round((end - start) * 1000))
        for name, (start, end) in _spans(partition).items()
    }
    return {
        "index": partition.index,
        "state": str(partition.phase),
        **spans,
        "attempt": partition.attempt,
        "max_attempts": partition.max_attempts,
        "worker": partition.worker,
        "queued_at": iso(line.queued_at),
        "synth_started_at": iso(line.synth_started_at),
        "synth_ended_at": iso(line.synth_ended_at),
        "wait_started_at": iso(line.wait_started_at),
        "gpu_started_at": iso(line.gpu_started_at),
        "gpu_ended_at": iso(line.gpu_ended_at),
        "finalize_started_at": iso(line.finalize_started_at),
        "finished_at": iso(line.finished_at),
        "finalizer": line.finalizer,
        "error": partition.error,
        "history": [_past_attempt(past) for past in partition.history],
    }


def _past_attempt(past: PastAttempt) -> dict[str, Any]:
    line = past.timeline
    return {
        "attempt": past.attempt,
        "outcome": str(past.end),
        "phase": str(past.phase),
        "worker": past.worker,
        "queued_at": iso(line.queued_at),
        "synth_started_at": iso(line.synth_started_at),
        "synth_ended_at": iso(line.synth_ended_at),
        "gpu_started_at": iso(line.gpu_started_at),
        "gpu_ended_at": iso(line.gpu_ended_at),
        "ended_at": iso(past.ended_at),
        "error": past.error,
    }


def _device_worker(worker: "LiveWorker", snapshot: "Snapshot") -> dict[str, Any]:
    now, record, spec = snapshot.generated_at, worker.record, worker.record.spec
    current = record.assignment
    since = _busy_since(worker, snapshot)
    return {
        "worker_id": record.worker_id,
        "gpu_ordinal": spec.ordinal,
        "state": "proving" if current else "idle",
        "current_job": current.job if current else None,
        "current_partition": current.partition if current else None,
        "busy_secs": None if since is None else max(0.0, now - since),
        "name": spec.name,
        "device": spec.device,
        "model": spec.model,
        "host": spec.host,
        "version": spec.version,
        "last_seen_secs_ago": max(0.0, now - record.seen_at),
        "idle_since": None if current else iso(record.idle_since),
        "draining": record.draining,
        "resident_keys": [key.circuit_id for key in record.resident_keys if key.kind == "srs"],
        "memory": _device_memory(worker, snapshot.held_bytes.get(spec.place, 0)),
        "utilisation": record.utilisation,
        "faults": _faults(snapshot.device_faults.get(spec.place, DeviceFaults())),
        "recent": [_spell(spell) for spell in worker.recent if spell.ended_at >= now - RECENT_SECONDS],
    }


def _faults(faults: DeviceFaults) -> dict[str, Any]:
    return {
        "count": faults.count,
        "last_at": iso(faults.last_at),
        "last_reason": faults.last_reason or None,
    }


def _busy_since(worker: "LiveWorker", snapshot: "Snapshot") -> float | None:
    current = worker.record.assignment
    partition = snapshot.held.get(current) if current else None
    return partition.timeline.gpu_started_at if partition else None


def _device_memory(worker: "LiveWorker", reserved: int) -> dict[str, Any]:
    """`used_bytes` is what the worker says, `reserved_bytes` what partitions on the device may take."""
    memory, keys = worker.record.memory, worker.record.resident_keys
    occupants: list[dict[str, Any]] = [
        {"kind": "key", "circuit_id": key.circuit_id, "bytes": key.bytes} for key in keys
    ]
    work = memory.used_bytes - sum(key.bytes for key in keys)
    if work > 0:
        occupants.append({"kind": "work", "circuit_id": None, "bytes": work})
    total = memory.total_bytes or worker.record.spec.memory_bytes
    return {
        "total_bytes": total,
        "used_bytes": memory.used_bytes,
        "reserved_bytes": reserved,
        "occupants": occupants,
    }


def _spell(spell: Spell) -> list[Any]:
    return [
        spell.job,
        spell.partition,
        spell.attempt,
        iso(spell.started_at),
        iso(spell.ended_at),
        str(spell.end),
    ]


def _worker(worker: "LiveWorker", now: float) -> dict[str, Any]:
    record, spec, current = worker.record, worker.record.spec, worker.record.assignment
    return {
        "name": spec.name,
        "kind": str(spec.kind),
        "host": spec.host,
        "version": spec.version,
        "state": "working" if current else "idle",
        "current_job": current.job if current else None,
        "current_partition": current.partition if current else None,
        "idle_since": None if current else iso(record.idle_since),
        "last_seen_secs_ago": max(0.0, now - record.seen_at),
        "draining": record.draining,
    }


def _memory(snapshot: "Snapshot") -> dict[str, Any]:
    budget = snapshot.limits.host_budget_bytes
    held = {place: held for place, held in snapshot.held_bytes.items() if "/" not in place}
    names = {w.record.spec.host for w in snapshot.workers if w.record.spec.kind is not WorkerKind.FINALIZE}
    names |= {host for host, held_bytes in held.items() if held_bytes}
    hosts = [
        {
            "host": name,
            "total_bytes": budget,
            "used_bytes": held.get(name, 0),
            "available_bytes": max(0, budget - held.get(name, 0)),
            "occupants": list(_occupants(snapshot, name)),
        }
        for name in sorted(names)
    ]
    total, used = budget * max(1, len(hosts)), sum(held.values())
    return {
        "total_bytes": total,
        "used_bytes": used,
        "available_bytes": max(0, total - used),
        "hosts": hosts,
    }


def _occupants(snapshot: "Snapshot", host: str) -> Iterator[dict[str, Any]]:
    for job in snapshot.jobs:
        held = job.counts.places.get(host)
        if held:
            yield {"kind": "partitions", "job_id": job.record.spec.job_id, "bytes": held}


def _allocations(snapshot: "Snapshot") -> dict[str, list[dict[str, Any]]]:
    """What workers said they keep in memory, one line a circuit: bytes summed, the latest use.

    The slots of one process tell the same.
    """
    now = snapshot.generated_at
    found: dict[str, dict[str, dict[str, Any]]] = {"srs": {}, "pce": {}}
    processes = {
        worker.record.spec.incarnation or worker.record.spec.name: worker for worker in snapshot.workers
    }
    for worker in processes.values():
        since = max(0.0, now - worker.record.reported_at)
        for key in worker.record.resident_keys:
            used = since + key.last_used_secs_ago
            line = found.setdefault(key.kind, {}).setdefault(
                key.circuit_id,
                {"circuit_id": key.circuit_id, "bytes": 0, "last_used_secs_ago": used, "evictable": True},
            )
            line["bytes"] += key.bytes
            line["last_used_secs_ago"] = min(line["last_used_secs_ago"], used)
            line["evictable"] = line["evictable"] and not key.in_use
    return {kind: [lines[name] for name in sorted(lines)] for kind, lines in found.items()}


def _counters(snapshot: "Snapshot", counts: Counter[str]) -> dict[str, Any]:
    ended: dict[str, dict[str, int]] = {"done": {}, "failed": {}, "cancelled": {}}
    for name, count in snapshot.counters.items():
        state, _, kind = name.partition(":")
        ended[state][kind] = count
    return {
        "total_completed": sum(ended["done"].values()),
        "total_failed": sum(ended["failed"].values()),
        "completed_by_kind": ended["done"],
        "failed_by_kind": ended["failed"],
        "queue_depth": counts[Phase.PENDING] + counts[Phase.SYNTH_DONE],
        "total_cancelled": sum(ended["cancelled"].values()),
        "stale_writes_total": sum(snapshot.stale_writes.values()),
        "stale_writes": dict(snapshot.stale_writes),
        "device_faults": {place: faults.count for place, faults in snapshot.device_faults.items()},
    }


def _buffers(counts: Counter[str]) -> dict[str, int]:
    """Partitions that hold something between two stages, in cuzk's words: evaluations being made, evaluations
    ready or on a device, sums being finalized, sums that no finalizer has taken yet."""
    claimed = max(0, counts[HELD] - counts[Phase.SYNTHESIZING] - counts[Phase.GPU])
    return {
        "synth_in_flight": counts[Phase.SYNTHESIZING],
        "provers_in_flight": counts[Phase.SYNTH_DONE] + counts[Phase.GPU],
        "aux_in_flight": counts[Phase.FINALIZING],
        "shells_in_flight": claimed,
        "pending_handles": counts[Phase.FINALIZING] - claimed,
    }
