"""The metrics say what the status document says, in Prometheus' text format."""

import json
import re

import yaml
from prometheus_client.parser import text_string_to_metric_families

from proving.api.metrics import FAMILIES, render_metrics
from proving.services.tallies import Histogram, Tallies
from tests.conftest import REPOSITORY

BOUNDS = ("0.1", "0.3", "1", "3", "10", "30", "100", "300", "900", "+Inf")

DOCUMENT = {
    "uptime_secs": 12.5,
    "memory": {"total_bytes": 100, "used_bytes": 30, "available_bytes": 70},
    "pipelines": [{"counts": {"gpu": 1, "pending": 1}}, {"counts": {"pending": 1}}],
    "gpu_workers": [
        {
            "state": "proving",
            "name": "gpu0@a",
            "last_seen_secs_ago": 0.5,
            "memory": {"total_bytes": 9, "used_bytes": 4},
            "resident_keys": [{"key_id": "k"}],
            "utilisation": 0.75,
        },
        {"state": "idle", "name": "gpu1@a", "last_seen_secs_ago": None, "memory": None, "resident_keys": []},
    ],
    "counters": {
        "queue_depth": 2,
        "completed_by_kind": {"groth16": 5, 'o"dd\\': 1},
        "failed_by_kind": {},
        "stale_writes": {"finish": 3},
        "device_faults": {"a/cuda:0": 2},
    },
}


def test_every_number_is_found_by_a_prometheus_reader() -> None:
    stages = {"device": Histogram((0, 1, 2, 0, 0, 0, 0, 0, 0, 1), 1234.5)}
    text = render_metrics(DOCUMENT, Tallies({"done": 4, "lost": 2}, stages))
    samples = {
        (sample.name, *sample.labels.values()): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }
    assert samples == {
        ("cuzkweb_uptime_seconds",): 12.5,
        ("cuzkweb_queue_depth",): 2,
        ("cuzkweb_partitions", "gpu"): 1,
        ("cuzkweb_partitions", "pending"): 2,
        ("cuzkweb_gpu_workers", "proving"): 1,
        ("cuzkweb_gpu_workers", "idle"): 1,
        ("cuzkweb_host_memory_bytes", "total"): 100,
        ("cuzkweb_host_memory_bytes", "used"): 30,
        ("cuzkweb_host_memory_bytes", "available"): 70,
        ("cuzkweb_completed_total", "groth16"): 5,
        ("cuzkweb_completed_total", 'o"dd\\'): 1,
        ("cuzkweb_stale_writes_total", "finish"): 3,
        ("cuzkweb_device_faults_total", "a/cuda:0"): 2,
        ("cuzkweb_device_utilisation", "gpu0@a"): 0.75,
        ("cuzkweb_live_jobs",): 2,
        ("cuzkweb_snapshot_consistent",): 1,
        ("cuzkweb_worker_busy", "gpu0@a"): 1,
        ("cuzkweb_worker_busy", "gpu1@a"): 0,
        ("cuzkweb_worker_silence_seconds", "gpu0@a"): 0.5,
        ("cuzkweb_device_memory_bytes", "gpu0@a", "total"): 9,
        ("cuzkweb_device_memory_bytes", "gpu0@a", "used"): 4,
        ("cuzkweb_resident_keys", "gpu0@a"): 1,
        ("cuzkweb_resident_keys", "gpu1@a"): 0,
        ("cuzkweb_attempts_total", "done"): 4,
        ("cuzkweb_attempts_total", "lost"): 2,
        ("cuzkweb_lease_expiries_total",): 2,
        ("cuzkweb_device_seconds_total",): 1234.5,
        **{
            ("cuzkweb_stage_seconds_bucket", "device", bound): count
            for bound, count in zip(BOUNDS, (0, 1, 3, 3, 3, 3, 3, 3, 3, 4), strict=True)
        },
        ("cuzkweb_stage_seconds_sum", "device"): 1234.5,
        ("cuzkweb_stage_seconds_count", "device"): 4,
    }


def test_the_dashboard_and_the_alerts_ask_for_metrics_that_there_are() -> None:
    folder = REPOSITORY / "docs" / "monitoring"
    dashboard = json.loads((folder / "grafana.json").read_text())
    alerts = yaml.safe_load((folder / "alerts.yaml").read_text())
    asked = [target["expr"] for panel in dashboard["panels"] for target in panel["targets"]]
    asked += [rule["expr"] for group in alerts["groups"] for rule in group["rules"]]
    known = set(FAMILIES) | {"cuzkweb_stage_seconds_bucket"}
    named = {name for expression in asked for name in re.findall(r"\bcuzkweb_\w+", expression)}
    assert len(named) > 10
    assert named <= known
