"""The metrics say what the status document says, in Prometheus' text format."""

from prometheus_client.parser import text_string_to_metric_families

from proving.api.metrics import render_metrics

DOCUMENT = {
    "uptime_secs": 12.5,
    "memory": {"total_bytes": 100, "used_bytes": 30, "available_bytes": 70},
    "pipelines": [{"counts": {"gpu": 1, "pending": 1}}, {"counts": {"pending": 1}}],
    "gpu_workers": [{"state": "proving"}, {"state": "idle"}],
    "counters": {
        "queue_depth": 2,
        "completed_by_kind": {"groth16": 5, 'o"dd\\': 1},
        "failed_by_kind": {},
        "stale_writes": {"finish": 3},
    },
}


def test_every_number_is_found_by_a_prometheus_reader() -> None:
    samples = {
        (sample.name, *sample.labels.values()): sample.value
        for family in text_string_to_metric_families(render_metrics(DOCUMENT))
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
    }
