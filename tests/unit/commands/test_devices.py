"""Which workers a host's devices get, and under which names."""

import argparse
from pathlib import Path

import pytest

from cuzkweb.commands import up, worker
from cuzkweb.commands.refusals import Refused
from cuzkweb.supervisor import plan
from cuzkweb.supervisor.child import Program
from cuzkweb.supervisor.supervisor import Stopped
from kernels import device
from kernels.cuda import cupy_driver
from kernels.device import DeviceUnavailable


def parsed(command: object, *arguments: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser(exit_on_error=False)
    command.add_arguments(parser)
    return parser.parse_args(arguments)


@pytest.fixture
def three_gpus(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cupy_driver, "device_count", lambda: 3)


@pytest.fixture
def no_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cupy_driver, "device_count", lambda: 0)


def test_gpus_keep_their_numbers_and_the_host_takes_one_that_is_left(tmp_path: Path) -> None:
    programs = plan.device_workers(tmp_path, ("host", "cuda:2", "cuda:0", "host"), {})
    told = {program.name: program.argv[program.argv.index("--device") :][:4] for program in programs}
    assert told == {
        "gpu1": ("--device", "host", "--ordinal", "1"),
        "gpu2": ("--device", "cuda:2", "--ordinal", "2"),
        "gpu0": ("--device", "cuda:0", "--ordinal", "0"),
        "gpu3": ("--device", "host", "--ordinal", "3"),
    }


def test_hosts_alone_are_numbered_as_they_come(tmp_path: Path) -> None:
    programs = plan.device_workers(tmp_path, ("host", "host"), {})
    assert [program.name for program in programs] == ["gpu0", "gpu1"]


@pytest.mark.parametrize(
    ("arguments", "devices"),
    [
        ((), ("host",)),
        (("--device", "host", "--device", "host"), ("host", "host")),
        (("--devices", "cuda:0,cuda:1"), ("cuda:0", "cuda:1")),
        (("--device", "host", "--devices", "all"), ("host", "cuda:0", "cuda:1", "cuda:2")),
    ],
)
def test_the_devices_of_up(three_gpus: None, arguments: tuple[str, ...], devices: tuple[str, ...]) -> None:
    assert up.devices_of(parsed(up, *arguments)) == devices


def test_a_gpu_has_one_worker(three_gpus: None) -> None:
    with pytest.raises(Refused, match="cuda:1 is named twice"):
        up.devices_of(parsed(up, "--device", "cuda:1", "--devices", "all"))


def test_all_of_no_gpu_is_refused(no_gpu: None) -> None:
    with pytest.raises(Refused, match="no NVIDIA GPU is visible"):
        up.devices_of(parsed(up, "--devices", "all"))
    with pytest.raises(Refused, match="no NVIDIA GPU is visible"):
        worker.run(parsed(worker, "--device", "all"))


def test_all_is_one_kept_process_for_each_gpu(
    three_gpus: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("CUZKWEB_HOME", str(tmp_path))
    started: list[str] = []

    class Kept:
        def __init__(self, home: Path, screen: object) -> None:
            assert home == tmp_path

        def listen_to_signals(self) -> None:
            started.append("signals")

        def start(self, programs: list[Program]) -> None:
            assert (tmp_path / "run" / "ready").is_dir()
            started.extend(program.argv[-5] for program in programs)

        def run(self) -> None:
            raise Stopped

        def stop(self) -> None:
            started.append("stop")

    monkeypatch.setattr("cuzkweb.supervisor.supervisor.Supervisor", Kept)
    assert worker.run(parsed(worker, "--device", "all")) == 0
    assert started == ["signals", "cuda:0", "cuda:1", "cuda:2", "stop"]


def test_a_gpu_loads_one_partition_while_it_computes_another() -> None:
    assert {name: worker.slots_of(name) for name in ("cuda:3", "host")} == {"cuda:3": 2, "host": 1}
    assert worker.ordinal_of("cuda:3") == 3


def test_gpus_are_counted_as_devices(three_gpus: None) -> None:
    assert device.visible_devices() == ["cuda:0", "cuda:1", "cuda:2"]


def test_a_gpu_that_cannot_be_used_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken() -> int:
        raise DeviceUnavailable("CuPy cannot be imported")

    monkeypatch.setattr(cupy_driver, "device_count", broken)
    with pytest.raises(DeviceUnavailable, match="CuPy"):
        up.devices_of(parsed(up, "--devices", "all"))
