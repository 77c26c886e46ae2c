"""The status document: cuzk's fields under the same names and types, and ours beside them.

Field by field it follows what cuzk's panel reads; every addition is optional to such a reader.
Durations run on while their phase is open. Times are ISO 8601 in UTC, on the server's clock.
"""

from collections import Counter
from collections.abc import Collection, Iterator
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from proving.tracker.records import JobState, PartitionRecord, PastAttempt, Phase, Spell, WorkerKind

if TYPE_CHECKING:
    from proving.tracker.snapshot import LiveJob, LiveWorker, Snapshot

PRIORITIES = {1: "low", 2: "normal", 3: "high", 4: "critical"}
RECENT_SECONDS = 15 * 60.0


def build(snapshot: "Snapshot", jobs: Collection[str] | None = None) -> dict[str, Any]:
    now = snapshot.generated_at
    partitions = [partition for job in snapshot.jobs for partition in job.partitions]
    phases = Counter(partition.phase for partition in partitions)
    devices = [worker for worker in snapshot.workers if worker.record.spec.kind is WorkerKind.DEVICE]
    others = [worker for worker in snapshot.workers if worker.record.spec.kind is not WorkerKind.DEVICE]
    memory = _memory(snapshot)
    active = phases[Phase.SYNTHESIZING]
    shown = [job for job in snapshot.jobs if jobs is None or job.record.spec.job_id in jobs]
    return {
        "rev": snapshot.rev,
        "generated_at": iso(now),
        "consistent": snapshot.consistent,
        "uptime_secs": max(0.0, now - snapshot.started_at) if snapshot.started_at else 0.0,
        "memory": memory,
        "synthesis": {"max_concurrent": max(snapshot.limits.synthesis_slots, active), "active": active},
        "pipelines": [_pipeline(job, now, memory["hosts"]) for job in shown],
        "gpu_workers": [_device_worker(worker, snapshot) for worker in devices],
        "workers": [_worker(worker, now) for worker in others],
        "allocations": _allocations(snapshot),
        "counters": _counters(snapshot, phases),
        "buffers": _buffers(partitions, phases),
    }


def iso(at: float | None) -> str | None:
    """Milliseconds, with the Z that says UTC."""
    if at is None:
        return None
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _pipeline(job: "LiveJob", now: float, hosts: list[dict[str, Any]]) -> dict[str, Any]:
    record, spec = job.record, job.record.spec
    return {
        "job_id": spec.job_id,
        "proof_kind": spec.proof_kind,
        "started_secs_ago": max(0.0, now - spec.submitted_at),
        "total_partitions": spec.total_partitions,
        "partitions_done": record.done,
        "partitions": [_partition(partition, now) for partition in job.partitions],
        "state": str(record.state),
        "priority": PRIORITIES[spec.priority],
        "label": spec.label,
        "circuit_id": spec.circuit_id,
        "submitted_at": iso(spec.submitted_at),
        "deadline": iso(spec.deadline),
        "eta_at": None,
        "waiting_for": _waiting_for(job, hosts),
        "error": record.error,
    }


def _waiting_for(job: "LiveJob", hosts: list[dict[str, Any]]) -> dict[str, Any] | None:
    """The budget that holds a job's synthesis up: something of it waits, and it fits on no host now."""
    needed = job.record.spec.host_bytes
    waits = any(partition.phase is Phase.PENDING for partition in job.partitions)
    if not waits or job.record.state is not JobState.RUNNING or not needed:
        return None
    limited = [host for host in hosts if host["total_bytes"]]
    if not limited or any(host["available_bytes"] >= needed for host in limited):
        return None
    best = max(limited, key=lambda host: host["available_bytes"])
    return {
        "resource": "host_memory",
        "host": best["host"],
        "needs_bytes": needed,
        "free_bytes": best["available_bytes"],
    }


def _partition(partition: PartitionRecord, now: float) -> dict[str, Any]:
    line, ended = partition.timeline, partition.timeline.finished_at
    handed_off = line.gpu_ended_at if line.gpu_attempt else None
    return {
        "index": partition.index,
        "state": str(partition.phase),
        "synth_ms": _span(line.synth_started_at, line.synth_ended_at, ended, now),
        "gpu_ms": _span(line.gpu_started_at, line.gpu_ended_at, ended, now),
        "attempt": partition.attempt,
        "max_attempts": partition.max_attempts,
        "worker": partition.worker,
        "queued_ms": _span(line.queued_at, line.synth_started_at, ended, now),
        "wait_ms": _span(line.wait_started_at, line.gpu_started_at, ended, now),
        "finalize_ms": _span(handed_off, ended, None, now),
        "queued_at": iso(line.queued_at),
        "synth_started_at": iso(line.synth_started_at),
        "synth_ended_at": iso(line.synth_ended_at),
        "wait_started_at": iso(line.wait_started_at),
        "gpu_started_at": iso(line.gpu_started_at),
        "gpu_ended_at": iso(line.gpu_ended_at),
        "finalize_started_at": iso(line.finalize_started_at),
        "finished_at": iso(ended),
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


def _span(start: float | None, end: float | None, closed: float | None, now: float) -> int | None:
    """Milliseconds from `start` to its end, to the partition's end, or until now while it is open."""
    if start is None:
        return None
    until = end if end is not None else closed if closed is not None else now
    return max(0, round((until - start) * 1000))


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
        "last_seen_secs_ago": max(0.0, now - record.seen_at),
        "idle_since": None if current else iso(record.idle_since),
        "draining": record.draining,
        "resident_keys": [key.circuit_id for key in record.resident_keys if key.kind == "srs"],
        "memory": _device_memory(worker),
        "recent": [_spell(spell) for spell in worker.recent if spell.ended_at >= now - RECENT_SECONDS],
    }


def _busy_since(worker: "LiveWorker", snapshot: "Snapshot") -> float | None:
    current = worker.record.assignment
    partition = snapshot.held.get(current) if current else None
    return partition.timeline.gpu_started_at if partition else None


def _device_memory(worker: "LiveWorker") -> dict[str, Any]:
    memory, keys = worker.record.memory, worker.record.resident_keys
    occupants: list[dict[str, Any]] = [
        {"kind": "key", "circuit_id": key.circuit_id, "bytes": key.bytes} for key in keys
    ]
    work = memory.used_bytes - sum(key.bytes for key in keys)
    if work > 0:
        occupants.append({"kind": "work", "circuit_id": None, "bytes": work})
    return {"total_bytes": memory.total_bytes, "used_bytes": memory.used_bytes, "occupants": occupants}


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
        "state": "working" if current else "idle",
        "current_job": current.job if current else None,
        "current_partition": current.partition if current else None,
        "idle_since": None if current else iso(record.idle_since),
        "last_seen_secs_ago": max(0.0, now - record.seen_at),
        "draining": record.draining,
    }


def _memory(snapshot: "Snapshot") -> dict[str, Any]:
    budget, held = snapshot.limits.host_budget_bytes, snapshot.held_bytes
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
        held = sum(p.held_bytes for p in job.partitions if p.host == host)
        if held:
            yield {"kind": "partitions", "job_id": job.record.spec.job_id, "bytes": held}


def _allocations(snapshot: "Snapshot") -> dict[str, list[dict[str, Any]]]:
    """What workers said they keep in memory, one line a circuit: bytes summed, the latest use."""
    now = snapshot.generated_at
    found: dict[str, dict[str, dict[str, Any]]] = {"srs": {}, "pce": {}}
    for worker in snapshot.workers:
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


def _counters(snapshot: "Snapshot", phases: Counter[Phase]) -> dict[str, Any]:
    ended: dict[str, dict[str, int]] = {"done": {}, "failed": {}, "cancelled": {}}
    for name, count in snapshot.counters.items():
        state, _, kind = name.partition(":")
        ended[state][kind] = count
    return {
        "total_completed": sum(ended["done"].values()),
        "total_failed": sum(ended["failed"].values()),
        "completed_by_kind": ended["done"],
        "failed_by_kind": ended["failed"],
        "queue_depth": phases[Phase.PENDING] + phases[Phase.SYNTH_DONE],
        "total_cancelled": sum(ended["cancelled"].values()),
        "stale_writes_total": sum(snapshot.stale_writes.values()),
        "stale_writes": dict(snapshot.stale_writes),
    }


def _buffers(partitions: list[PartitionRecord], phases: Counter[Phase]) -> dict[str, int]:
    """Partitions that hold something between two stages, in cuzk's words: evaluations being made, evaluations
    ready or on a device, sums being finalized, sums that no finalizer has taken yet."""
    unclaimed = sum(p.phase is Phase.FINALIZING and p.assignment is None for p in partitions)
    return {
        "synth_in_flight": phases[Phase.SYNTHESIZING],
        "provers_in_flight": phases[Phase.SYNTH_DONE] + phases[Phase.GPU],
        "aux_in_flight": phases[Phase.FINALIZING],
        "shells_in_flight": phases[Phase.FINALIZING] - unclaimed,
        "pending_handles": unclaimed,
    }
