"""Without CuPy, without a GPU, or with a CPU for a device, nothing of CUDA is touched."""

import subprocess
import sys
import types
from pathlib import Path

import pytest

from kernels import device
from kernels.cuda import cupy_driver
from kernels.cuda.visible import gpu_is_visible
from kernels.device import DeviceUnavailable, open_device, visible_devices
from tests.conftest import REPOSITORY


class Untouchable(types.ModuleType):
    """A module of which no name may be read."""

    def __getattr__(self, name: str) -> object:
        if name.startswith("__"):
            raise AttributeError(name)
        raise AssertionError(f"cupy.{name} was touched")


@pytest.fixture
def untouchable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cupy", Untouchable("cupy"))


@pytest.fixture
def blind(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cupy_driver, "gpu_is_visible", lambda: False)


@pytest.fixture
def seeing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cupy_driver, "gpu_is_visible", lambda: True)


def test_without_a_gpu_cuda_is_not_called(untouchable: None, blind: None) -> None:
    assert visible_devices() == []
    with pytest.raises(DeviceUnavailable, match="no NVIDIA GPU is visible"):
        open_device("cuda:0")


def test_the_host_is_opened_without_it(untouchable: None, seeing: None) -> None:
    assert device.open_device("host").name == "host"


def test_a_gpu_without_cupy_says_what_to_install(seeing: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cupy", None)
    for call in (visible_devices, lambda: open_device("cuda:0")):
        with pytest.raises(DeviceUnavailable, match=r"install cuzkweb\[cuda13\]"):
            call()


def folder(place: Path, *names: str) -> Path:
    for name in names:
        (place / name).touch()
    return place


@pytest.mark.parametrize(
    ("nodes", "hidden", "visible"),
    [
        ((), None, False),
        (("nvidiactl", "nvidia-uvm"), None, False),
        (("nvidia0",), None, True),
        (("nvidia12",), "1", True),
        (("nvidia0",), "", False),
        (("nvidia0",), "-1", False),
        (("dxg",), None, True),
    ],
)
def test_a_gpu_is_its_device_node(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    nodes: tuple[str, ...],
    hidden: str | None,
    visible: bool,
) -> None:
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    if hidden is not None:
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", hidden)
    assert gpu_is_visible(folder(tmp_path, *nodes)) is visible


def test_what_a_container_was_told_hides_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Engines that put devices in themselves say "void" to the older way of doing it."""
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    monkeypatch.setenv("NVIDIA_VISIBLE_DEVICES", "void")
    assert gpu_is_visible(folder(tmp_path, "nvidia0"))


EVERYTHING = """
import builtins, importlib, os, pkgutil, sys
sys.modules["cupy"] = None  # an import of it raises ImportError
os.environ["DJANGO_SETTINGS_MODULE"] = "cuzkweb.settings"
import django
django.setup()
import cuzkweb, kernels, proving
for package in (kernels, proving, cuzkweb):
    for found in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
        if not found.name.endswith((".__main__", "._native")) and ".csrc" not in found.name:
            importlib.import_module(found.name)
cuda = {"cupy", "cupyx", "cuda"}
loaded = [name for name in sys.modules if name.split(".")[0] in cuda and sys.modules[name]]
assert not loaded, loaded
from kernels.device import open_device
assert open_device("host").memory().total_bytes > 0
print("whole")
"""


def test_the_whole_service_imports_without_cupy(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", EVERYTHING],
        cwd=REPOSITORY,
        env={"PATH": "/usr/bin:/bin", "CUZKWEB_HOME": str(tmp_path), "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout.strip()) == (0, "whole"), done.stderr[-2000:]
