"""The snapshot as Prometheus reads it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Metric:
    """One metric family: its samples are (labels, value)."""

    name: str
    kind: str
    help: str
    samples: list[tuple[dict[str, str], float]]


def render_metrics(document: Mapping[str, Any]) -> str:
    """The status document's counters and gauges in the text format, version 0.0.4."""
    return "".join(_render(metric) for metric in _metrics(document))


def _metrics(document: Mapping[str, Any]) -> Iterable[Metric]:
    counters, memory = document["counters"], document["memory"]
    partitions: Counter[str] = Counter()
    for pipeline in document["pipelines"]:
        partitions.update(pipeline["counts"])
    workers = Counter(worker["state"] for worker in document["gpu_workers"])
    yield Metric(
        "cuzkweb_uptime_seconds", "gauge", "Since the service started.", [({}, document["uptime_secs"])]
    )
    yield Metric("cuzkweb_queue_depth", "gauge", "Partitions that wait.", [({}, counters["queue_depth"])])
    yield Metric(
        "cuzkweb_partitions", "gauge", "Partitions of live jobs by state.", _by("state", dict(partitions))
    )
    yield Metric("cuzkweb_gpu_workers", "gauge", "Device workers by state.", _by("state", dict(workers)))
    yield Metric(
        "cuzkweb_host_memory_bytes",
        "gauge",
        "The host budget for synthesized partitions.",
        _by("part", {part: memory[f"{part}_bytes"] for part in ("total", "used", "available")}),
    )
    for name, key, help_text in (
        ("cuzkweb_completed_total", "completed_by_kind", "Jobs done, by proof kind."),
        ("cuzkweb_failed_total", "failed_by_kind", "Jobs failed, by proof kind."),
        (
            "cuzkweb_stale_writes_total",
            "stale_writes",
            "Calls by actors that no longer held what they wrote to.",
        ),
    ):
        label = "op" if key == "stale_writes" else "proof_kind"
        yield Metric(name, "counter", help_text, _by(label, counters[key]))


def _by(label: str, values: Mapping[str, float]) -> list[tuple[dict[str, str], float]]:
    return [({label: name}, value) for name, value in sorted(values.items())]


def _render(metric: Metric) -> str:
    lines = [f"# HELP {metric.name} {metric.help}", f"# TYPE {metric.name} {metric.kind}"]
    for labels, value in metric.samples:
        named = ",".join(f'{name}="{_escape(text)}"' for name, text in labels.items())
        lines.append(f"{metric.name}{{{named}}} {value}" if named else f"{metric.name} {value}")
    return "\n".join(lines) + "\n"


def _escape(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
