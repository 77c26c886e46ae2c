"""The watcher of the acceptance tests sees the faults that it is there to see."""

from tests.support.watcher import faults


def reading(*, worker_state: str, job: str | None, partition_state: str, consistent: bool = True) -> dict:
    busy = 1.0 if job else None
    return {
        "consistent": consistent,
        "gpu_workers": [
            {
                "name": "gpu0@h",
                "state": worker_state,
                "current_job": job,
                "current_partition": 0 if job else None,
                "busy_secs": busy,
            }
        ],
        "pipelines": [
            {
                "job_id": "job",
                "partitions": [{"index": 0, "state": partition_state, "worker": "gpu0@h"}],
            }
        ],
    }


def test_true_readings_pass() -> None:
    assert faults(reading(worker_state="proving", job="job", partition_state="gpu")) == []
    assert faults(reading(worker_state="idle", job=None, partition_state="synth_done")) == []


def test_untrue_readings_do_not() -> None:
    assert faults(reading(worker_state="idle", job=None, partition_state="gpu"))
    assert faults(reading(worker_state="proving", job="job", partition_state="finalizing"))
    assert faults(reading(worker_state="proving", job="another", partition_state="gpu"))
    assert faults(reading(worker_state="idle", job="job", partition_state="synth_done"))
    assert faults(reading(worker_state="idle", job=None, partition_state="done", consistent=False))
