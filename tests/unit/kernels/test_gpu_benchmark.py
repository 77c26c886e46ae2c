"""`make gpu` without a GPU says so; what it would measure and write runs on a stand-in, for its shape."""

import json
from pathlib import Path

import pytest

from kernels.cuda.device import CudaDevice
from tests.benchmarks import gpu
from tests.support.device_checks import Bench
from tests.support.stand_in import StandIn


def test_without_a_gpu_it_says_so(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("kernels.cuda.cupy_driver.gpu_is_visible", lambda: False)
    assert gpu.main(["--results", str(tmp_path)]) == gpu.NO_GPU == 2
    assert capsys.readouterr().err == "not run on a GPU: no NVIDIA GPU is visible to this process\n"
    assert list(tmp_path.iterdir()) == []


def test_what_it_writes(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    driver = StandIn()
    monkeypatch.setattr(gpu, "open_driver", lambda ordinal, compiled: driver)
    monkeypatch.setattr(gpu, "CURVES", gpu.CURVES[:1])
    monkeypatch.setattr(
        gpu, "CudaDevice", lambda name, driver: CudaDevice(name, driver, budget_bytes=100_000)
    )
    small = ["--logs", "4", "--kernel-logs", "3", "--blocks", "1", "--repetitions", "2", "--runs", "1"]

    assert gpu.main([*small, "--no-tests", "--results", str(tmp_path)]) == 0

    (path,) = tmp_path.glob("*.json")
    report = json.loads(path.read_text())
    assert [row["name"] for row in report["kernels"]] == [
        "bn254 Fr multiply",
        "bn254 Fq multiply",
        "bn254 quotient 2^3",
        "bn254 G1 sum 2^3",
        "bn254 G2 sum 2^3",
    ]
    assert all(row["seconds"] > 0 and row["floor"] > 0 for row in report["kernels"])
    (proof,) = report["proofs"]
    assert set(proof["stages"]) == {
        *("quotient", "a", "b1", "b2", "c", "h"),
        *("load", "assemble", "verify"),
    }
    assert proof["key_bytes"] > 0
    lines = path.with_suffix(".md").read_text().splitlines()
    assert lines[0].startswith("# stand-in")
    assert len([line for line in lines if line.startswith("| bn254")]) == 6


def test_a_bench_is_attached() -> None:
    assert Bench(StandIn()).place.threads == 512
