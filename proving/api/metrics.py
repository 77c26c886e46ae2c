"""The snapshot, and what has been counted, as Prometheus reads it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import accumulate
from typing import Any

from proving.services.tallies import BUCKETS, Histogram, Tallies

Sample = tuple[dict[str, str], float]


PARTS = ("total", "used", "available")
FAMILIES: dict[str, tuple[str, str]] = {
    "cuzkweb_uptime_seconds": ("gauge", "Since the service started."),
    "cuzkweb_queue_depth": ("gauge", "Partitions that wait for synthesis or a device."),
    "cuzkweb_partitions": ("gauge", "Partitions of live jobs by state."),
    "cuzkweb_live_jobs": ("gauge", "Jobs that have not ended."),
    "cuzkweb_gpu_workers": ("gauge", "Device workers by state."),
    "cuzkweb_worker_busy": ("gauge", "1 while a device worker proves, else 0."),
    "cuzkweb_worker_silence_seconds": ("gauge", "Since a device worker was last heard of."),
    "cuzkweb_device_memory_bytes": ("gauge", "The memory of a device worker's device."),
    "cuzkweb_resident_keys": ("gauge", "Proving keys that a device worker holds ready."),
    "cuzkweb_host_memory_bytes": ("gauge", "The host budget for synthesized partitions, all hosts together."),
    "cuzkweb_snapshot_consistent": ("gauge", "1 when the last reading of live state agreed with itself."),
    "cuzkweb_completed_total": ("counter", "Jobs done, by proof kind."),
    "cuzkweb_failed_total": ("counter", "Jobs failed, by proof kind."),
    "cuzkweb_stale_writes_total": ("counter", "Calls by actors that no longer held what they wrote to."),
    "cuzkweb_device_faults_total": (
        "counter",
        "Results of a device that were wrong; the host made good ones.",
    ),
    "cuzkweb_device_utilisation": ("gauge", "The share of the last seconds in which a device computed."),
    "cuzkweb_attempts_total": ("counter", "Attempts at partitions that ended, by outcome."),
    "cuzkweb_lease_expiries_total": ("counter", "Attempts that ended because their worker was lost."),
    "cuzkweb_device_seconds_total": ("counter", "Seconds that devices have spent on attempts that ended."),
    "cuzkweb_stage_seconds": ("histogram", "How long attempts stayed in each stage."),
}
"""Every metric: its kind and what it tells."""


def render_metrics(document: Mapping[str, Any], tallies: Tallies | None = None) -> str:
    """The status document and the tallies in the text format, version 0.0.4."""
    found = {**_of_document(document), **_of_tallies(tallies or Tallies())}
    return "".join(_render(name, found[name]) for name in FAMILIES)


def _of_document(document: Mapping[str, Any]) -> dict[str, list[Sample]]:
    counters, memory = document["counters"], document["memory"]
    workers = document["gpu_workers"]
    partitions: Counter[str] = Counter()
    for pipeline in document["pipelines"]:
        partitions.update(pipeline["counts"])
    states = Counter(worker["state"] for worker in workers)
    return {
        "cuzkweb_uptime_seconds": [({}, document["uptime_secs"])],
        "cuzkweb_queue_depth": [({}, counters["queue_depth"])],
        "cuzkweb_partitions": _by("state", dict(partitions)),
        "cuzkweb_live_jobs": [({}, len(document["pipelines"]))],
        "cuzkweb_gpu_workers": _by("state", dict(states)),
        "cuzkweb_host_memory_bytes": _by("part", {part: memory[f"{part}_bytes"] for part in PARTS}),
        "cuzkweb_snapshot_consistent": [({}, int(document.get("consistent", True)))],
        "cuzkweb_completed_total": _by("proof_kind", counters["completed_by_kind"]),
        "cuzkweb_failed_total": _by("proof_kind", counters["failed_by_kind"]),
        "cuzkweb_stale_writes_total": _by("op", counters["stale_writes"]),
        "cuzkweb_device_faults_total": _by("device", counters.get("device_faults", {})),
        **_of_workers([worker for worker in workers if worker.get("name")]),
    }


def _of_workers(workers: list[Mapping[str, Any]]) -> dict[str, list[Sample]]:
    named = [({"worker": str(worker["name"])}, worker) for worker in workers]
    memory = [
        ({**labels, "part": part}, size)
        for labels, worker in named
        for part in ("total", "used")
        if (size := (worker.get("memory") or {}).get(f"{part}_bytes")) is not None
    ]
    return {
        "cuzkweb_worker_busy": [(labels, int(worker["state"] == "proving")) for labels, worker in named],
        "cuzkweb_worker_silence_seconds": [
            (labels, silence)
            for labels, worker in named
            if (silence := worker.get("last_seen_secs_ago")) is not None
        ],
        "cuzkweb_device_memory_bytes": memory,
        "cuzkweb_device_utilisation": [
            (labels, share) for labels, worker in named if (share := worker.get("utilisation")) is not None
        ],
        "cuzkweb_resident_keys": [
            (labels, len(worker.get("resident_keys") or ())) for labels, worker in named
        ],
    }


def _of_tallies(tallies: Tallies) -> dict[str, list[Sample]]:
    device = tallies.stages.get("device")
    return {
        "cuzkweb_attempts_total": _by("outcome", tallies.attempts),
        "cuzkweb_lease_expiries_total": [({}, tallies.attempts.get("lost", 0))],
        "cuzkweb_device_seconds_total": [({}, device.seconds if device else 0)],
        "cuzkweb_stage_seconds": [
            sample for stage, seen in tallies.stages.items() for sample in _histogram(stage, seen)
        ],
    }


def _histogram(stage: str, seen: Histogram) -> Iterator[Sample]:
    """The samples of one stage; the label named "" holds the suffix of the sample's name."""
    bounds = [*(f"{bound:g}" for bound in BUCKETS), "+Inf"]
    for bound, count in zip(bounds, accumulate(seen.counts), strict=True):
        yield {"": "_bucket", "stage": stage, "le": bound}, count
    yield {"": "_sum", "stage": stage}, seen.seconds
    yield {"": "_count", "stage": stage}, sum(seen.counts)


def _by(label: str, values: Mapping[str, float]) -> list[Sample]:
    return [({label: name}, value) for name, value in sorted(values.items())]


def _render(name: str, samples: Iterable[Sample]) -> str:
    kind, help_text = FAMILIES[name]
    lines = [f"# HELP {name} {help_text}", f"# TYPE {name} {kind}"]
    for labels, value in samples:
        full = name + labels.get("", "")
        told = ",".join(f'{label}="{_escape(text)}"' for label, text in labels.items() if label)
        lines.append(f"{full}{{{told}}} {value}" if told else f"{full} {value}")
    return "\n".join(lines) + "\n"


def _escape(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
