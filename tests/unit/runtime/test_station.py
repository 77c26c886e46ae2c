"""The names under which a worker's threads claim."""

import threading

import pytest

from proving.services import device_stage, station
from proving.services.stage import Report
from proving.services.station import Station
from proving.tracker.records import WorkerKind

GPU = Station(WorkerKind.DEVICE, "gpu3@box", "box", "cuda:3", 3, slots=2)


@pytest.fixture(autouse=True)
def elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a test occupies, it leaves."""
    monkeypatch.setattr(station._Occupied, "station", None)
    monkeypatch.setattr(station._Occupied, "free", station._Occupied.free)


def test_each_slot_has_a_name_of_its_own() -> None:
    assert GPU.claimants == ("gpu3@box", "gpu3.2@box")
    assert Station(WorkerKind.DEVICE, "gpu0@box", "box", "host").claimants == ("gpu0@box",)


def test_threads_never_share_a_name() -> None:
    station.occupy(GPU)
    held, both = [], threading.Barrier(2)

    def claim() -> None:
        with station.claiming() as name:
            both.wait(timeout=10)
            held.append(name)

    threads = [threading.Thread(target=claim) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(held) == ["gpu3.2@box", "gpu3@box"]


def test_one_thread_alone_is_the_first_slot_again_and_again() -> None:
    station.occupy(GPU)
    for _ in range(3):
        with station.claiming() as name:
            assert name == "gpu3@box"


def test_a_name_comes_back_from_a_thread_that_failed() -> None:
    station.occupy(GPU)
    for _ in range(3):
        with pytest.raises(ValueError, match="on the device"), station.claiming():
            raise ValueError("on the device")


def test_a_pool_child_claims_under_its_own_name() -> None:
    station.occupy(Station(WorkerKind.SYNTHESIS, "synthesis@box", "box"))
    station.take_slot(4)
    assert station.here().claimants == ("synthesis.4@box",)
    with station.claiming() as name:
        assert name == "synthesis.4@box"


def test_a_message_out_of_another_devices_queue_goes_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(device_stage, "PAUSE_SECONDS", 0.0)
    station.occupy(GPU)
    for foreign in ("gpu.box.30", "gpu.box.2", "gpu.other.3"):
        assert device_stage.prove("job", 0, 1, foreign) == Report.LATER
    assert not device_stage.is_foreign("gpu")
    assert not device_stage.is_foreign("gpu.box.3")
    assert not device_stage.is_foreign("")
