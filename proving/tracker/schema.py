"""docs/status.schema.json: what the status document looks like, as JSON Schema (2020-12).

`python -m proving.tracker.schema > docs/status.schema.json` writes it anew. cuzk's fields come first and are
marked as such; whatever it does not name is refused, so that the page cannot lag behind the document.
"""

import json
import sys
from typing import Any

from proving.tracker.records import AttemptEnd, JobState, Phase, WorkerKind

Schema = dict[str, Any]

DIALECT = "https://json-schema.org/draft/2020-12/schema"


def _typed(kind: str, description: str = "", **more: Any) -> Schema:
    return {"type": kind, **({"description": description} if description else {}), **more}


def text(description: str = "") -> Schema:
    return _typed("string", description)


def one_of(values: Any, description: str = "") -> Schema:
    return _typed("string", description, enum=[str(value) for value in values])


def count(description: str = "") -> Schema:
    return _typed("integer", description, minimum=0)


def seconds(description: str = "") -> Schema:
    return _typed("number", description, minimum=0)


def moment(description: str = "") -> Schema:
    return _typed("string", description, format="date-time")


def flag(description: str = "") -> Schema:
    return _typed("boolean", description)


def optional(schema: Schema) -> Schema:
    """The same, or null."""
    found = {**schema, "type": [schema["type"], "null"]}
    return {**found, "enum": [*found["enum"], None]} if "enum" in found else found


def array(items: Schema, description: str = "") -> Schema:
    return _typed("array", description, items=items)


def counts(description: str = "") -> Schema:
    return _typed("object", description, additionalProperties=count())


def record(fields: dict[str, Schema], description: str = "", *, absent: tuple[str, ...] = ()) -> Schema:
    required = [name for name in fields if name not in absent]
    return _typed("object", description, properties=fields, required=required, additionalProperties=False)


TIMES = {
    "queued_at": optional(moment()),
    "synth_started_at": optional(moment()),
    "synth_ended_at": optional(moment()),
    "gpu_started_at": optional(moment()),
    "gpu_ended_at": optional(moment()),
}
PAST_ATTEMPT = record(
    {
        "attempt": count(),
        "outcome": one_of(AttemptEnd),
        "phase": one_of(Phase, "where it ended"),
        "worker": optional(text()),
        **TIMES,
        "ended_at": moment(),
        "error": optional(text()),
    }
)
PARTITION = record(
    {
        "index": count("cuzk"),
        "state": one_of(Phase, "cuzk"),
        "synth_ms": optional(count("cuzk; runs on while the phase is open")),
        "gpu_ms": optional(count("cuzk; runs on while the phase is open")),
        "attempt": count("from 1; every one has its own spool files and its own history"),
        "max_attempts": count("the last attempt that there would be; grows when work is handed back"),
        "worker": optional(text("the device's worker once there is one, else the synthesizer")),
        "queued_ms": optional(count("waiting for synthesis")),
        "wait_ms": optional(count("waiting for the device")),
        "finalize_ms": optional(count("from hand-off to the end")),
        **TIMES,
        "wait_started_at": optional(moment()),
        "finalize_started_at": optional(moment()),
        "finished_at": optional(moment()),
        "finalizer": optional(text()),
        "error": optional(text()),
        "history": array(PAST_ATTEMPT, "earlier attempts, the oldest first"),
    }
)
WAITING_FOR = record(
    {
        "resource": one_of(["host_memory", "device", "device_memory"]),
        "host": optional(text("the host or device with the most room")),
        "needs_bytes": optional(count()),
        "free_bytes": optional(count()),
    },
    "what a job lacks, not counting its turn",
)
PIPELINE = record(
    {
        "job_id": text("cuzk"),
        "proof_kind": text("cuzk"),
        "started_secs_ago": seconds("cuzk; since it was submitted"),
        "total_partitions": count("cuzk"),
        "partitions_done": count("cuzk"),
        "partitions": array(PARTITION, "cuzk; empty for a job that only waits, past a size limit"),
        "counts": counts("partitions by state"),
        "state": one_of(JobState),
        "priority": one_of(["low", "normal", "high", "critical"]),
        "label": text(),
        "circuit_id": text(),
        "circuit_name": text("as its owner called it when the job was submitted"),
        "submitted_at": moment(),
        "deadline": optional(moment()),
        "eta_at": optional(moment("an estimate; null while nothing of the circuit was proved yet")),
        "waiting_for": optional(WAITING_FOR),
        "error": optional(text()),
    }
)
KEY = {"circuit_id": optional(text()), "bytes": count()}
DEVICE_WORKER = record(
    {
        "worker_id": count("cuzk"),
        "gpu_ordinal": count("cuzk"),
        "state": one_of(["idle", "proving"], "cuzk; read off the assignment, never stored"),
        "current_job": optional(text("cuzk")),
        "current_partition": optional(count("cuzk")),
        "busy_secs": optional(seconds("cuzk")),
        "name": text(),
        "device": text(),
        "model": text(),
        "host": text(),
        "version": text("of cuzkweb"),
        "last_seen_secs_ago": seconds("at generated_at"),
        "idle_since": optional(moment()),
        "draining": flag(),
        "resident_keys": array(text("circuit")),
        "memory": record(
            {
                "total_bytes": count(),
                "used_bytes": count("as the worker said"),
                "reserved_bytes": count("what partitions on this device may take"),
                "occupants": array(record({"kind": one_of(["key", "work"]), **KEY})),
            }
        ),
        "utilisation": optional(
            _typed("number", "the share of the last seconds in which it computed", minimum=0, maximum=1)
        ),
        "faults": record(
            {
                "count": count("results of the device that were wrong; the host made good ones"),
                "last_at": optional(moment()),
                "last_reason": optional(text()),
            }
        ),
        "recent": array(
            _typed(
                "array",
                prefixItems=[
                    optional(text()),
                    optional(count()),
                    count(),
                    moment(),
                    moment(),
                    one_of(AttemptEnd),
                ],
                minItems=6,
                maxItems=6,
            ),
            "job, partition, attempt, from, to, outcome; the last 15 minutes, the oldest first; job and "
            "partition are null where they are another owner's",
        ),
    }
)
OTHER_WORKER = record(
    {
        "name": text(),
        "kind": one_of([WorkerKind.SYNTHESIS, WorkerKind.FINALIZE]),
        "host": text(),
        "version": text("of cuzkweb"),
        "state": one_of(["idle", "working"]),
        "current_job": optional(text()),
        "current_partition": optional(count()),
        "idle_since": optional(moment()),
        "last_seen_secs_ago": seconds("at generated_at"),
        "draining": flag(),
    }
)
BUDGET = {"total_bytes": count("cuzk"), "used_bytes": count("cuzk"), "available_bytes": count("cuzk")}
HOST = record(
    {
        "host": text(),
        "total_bytes": count("0: no limit"),
        "used_bytes": count(),
        "available_bytes": count(),
        "occupants": array(
            record({"kind": one_of(["partitions"]), "job_id": optional(text()), "bytes": count()}),
            "job_id is null for all jobs of other owners together",
        ),
    }
)
ALLOCATION = record(
    {
        "circuit_id": text("cuzk"),
        "bytes": count("cuzk"),
        "last_used_secs_ago": seconds("cuzk"),
        "evictable": flag("cuzk"),
    }
)
COUNTERS = record(
    {
        "total_completed": count("cuzk; jobs"),
        "total_failed": count("cuzk; jobs"),
        "completed_by_kind": counts("cuzk"),
        "failed_by_kind": counts("cuzk"),
        "queue_depth": count("cuzk; partitions that wait for synthesis or for a device"),
        "total_cancelled": count("jobs"),
        "stale_writes_total": count("calls of late, duplicate or foreign actors, all of them refused"),
        "stale_writes": counts("the same by operation"),
        "device_faults": counts("results that were wrong, by device; the host made good ones"),
    }
)
BUFFERS = record(
    {
        name: count("cuzk")
        for name in (
            "synth_in_flight",
            "provers_in_flight",
            "aux_in_flight",
            "shells_in_flight",
            "pending_handles",
        )
    }
)
STATUS = record(
    {
        "rev": count("the version of the live state, and the ETag"),
        "generated_at": moment(),
        "consistent": flag("workers, partitions, tallies, leases and budgets agree"),
        "uptime_secs": seconds("cuzk"),
        "lease_secs": seconds("a worker that is silent for longer is lost"),
        "memory": record({**BUDGET, "hosts": array(HOST)}),
        "synthesis": record({"max_concurrent": count("cuzk"), "active": count("cuzk")}),
        "pipelines": array(PIPELINE, "cuzk; by priority, then by age"),
        "gpu_workers": array(DEVICE_WORKER, "cuzk; by number"),
        "workers": array(OTHER_WORKER),
        "allocations": record({"srs": array(ALLOCATION, "cuzk"), "pce": array(ALLOCATION, "cuzk")}),
        "counters": COUNTERS,
        "buffers": BUFFERS,
        "order": array(text(), "all live jobs; only in an answer to ?since="),
        "others": record(
            {"jobs": count(), "counts": counts("their partitions by state")},
            "the load of other owners; only for a reader who may not see their jobs",
        ),
    },
    "All live state of a cuzkweb deployment at one instant. Fields marked cuzk are cuzk's own.",
    absent=("order", "others"),
)


def render() -> str:
    """The whole page."""
    whole = {"$schema": DIALECT, "$id": "urn:cuzkweb:status", "title": "cuzkweb status", **STATUS}
    return json.dumps(whole, indent=1) + "\n"


if __name__ == "__main__":
    sys.stdout.write(render())
