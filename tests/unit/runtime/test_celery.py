"""What the transport is told, and what it must never be told."""

from pathlib import Path

from cuzkweb import celery, worker
from proving import tasks

SETTINGS = celery.configuration("unix:///run/v.sock", "main")


def test_only_declared_queues_exist() -> None:
    assert [queue.name for queue in SETTINGS["task_queues"]] == ["synthesis", "gpu", "finalize", "control"]
    assert SETTINGS["task_create_missing_queues"] is False
    routed = {route["queue"] for route in SETTINGS["task_routes"].values()}
    assert routed <= {queue.name for queue in SETTINGS["task_queues"]}


def test_every_task_has_a_route() -> None:
    own = {task.name for task in (tasks.synthesize, tasks.prove, tasks.finalize, tasks.assemble)}
    assert own == set(SETTINGS["task_routes"])


def test_nothing_is_pickled() -> None:
    for name, wanted in SETTINGS.items():
        if name.endswith("_serializer"):
            assert wanted == "json", name
    assert SETTINGS["accept_content"] == SETTINGS["result_accept_content"] == ["json"]


def test_messages_are_acknowledged_late_and_taken_one_at_a_time() -> None:
    assert SETTINGS["task_acks_late"]
    assert SETTINGS["task_reject_on_worker_lost"]
    assert SETTINGS["worker_prefetch_multiplier"] == 1
    assert SETTINGS["task_ignore_result"]
    assert SETTINGS["result_backend"] is None


def test_no_celery_setting_is_misspelt() -> None:
    known = set(celery.app.conf.table(with_defaults=True))
    assert set(SETTINGS) <= known


def test_workers_are_named_after_what_they_are(monkeypatch) -> None:
    monkeypatch.setenv("CUZKWEB_HOST", "box")

    device = worker.device_kind("host", 3)

    assert (device.station.name, device.pool, device.slots) == ("gpu3@box", "threads", 1)
    assert device.queues == ("gpu.box.3", "gpu"), "its own queue comes first"
    assert worker.synthesis_kind(2).station.name == "synthesis@box"
    assert worker.finalize_kind(1).station.name == "finalize@box"
    for kind in (device, worker.synthesis_kind(2), worker.finalize_kind(1)):
        assert "--pool=solo" not in kind.arguments()


def test_tasks_are_thin() -> None:
    lines = Path(tasks.__file__).read_text().splitlines()
    starts = [number for number, line in enumerate(lines) if line.startswith("@shared_task")]
    assert len(starts) == 4
    for start, end in zip(starts, [*starts[1:], len(lines)], strict=True):
        assert end - start <= 15
