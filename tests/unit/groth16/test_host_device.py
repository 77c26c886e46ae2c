"""The CPU as a device: keys stay resident within the budget, those in use never leave."""

import threading

import numpy as np
import pytest

from kernels.constraints import evaluate
from kernels.curves import BN254
from kernels.device import DeviceUnavailable, KeyPoints, Stage, open_device
from kernels.host import HostDevice
from proving.groth16.proving_key import ProvingKey
from proving.groth16.setup import setup
from tests.unit.groth16.reference import product_chain, words

WITNESS = words(product_chain(BN254, 20)[1])


@pytest.fixture(scope="module")
def key() -> ProvingKey:
    return setup(product_chain(BN254, 20)[0])


class Loader:
    """Counts how often a key was loaded."""

    def __init__(self, key: ProvingKey) -> None:
        self.key, self.calls = key, 0

    def __call__(self) -> KeyPoints:
        self.calls += 1
        return self.key.points


def prove(device: HostDevice, key_id: str, loader: Loader, **listeners):
    a, b = evaluate(BN254, loader.key.coefficients, WITNESS, loader.key.domain_size, 1)
    return device.prove(key_id, loader, WITNESS, a, b, **listeners)


def held(device: HostDevice) -> list[str]:
    return [resident.key_id for resident in device.resident_keys()]


@pytest.fixture(scope="module")
def key_bytes(key: ProvingKey) -> int:
    device = HostDevice(threads=1)
    prove(device, "k", Loader(key))
    return device.resident_keys()[0].bytes


def test_a_resident_key_is_not_loaded_again_and_gives_the_same_sums(key: ProvingKey) -> None:
    device, loader = HostDevice(threads=1), Loader(key)
    first, second = prove(device, "k", loader), prove(device, "k", loader)
    assert loader.calls == 1
    for name in ("a", "b1", "b2", "c", "h"):
        assert np.array_equal(getattr(first, name), getattr(second, name))


def test_the_least_recently_used_key_leaves_first(key: ProvingKey, key_bytes: int) -> None:
    device = HostDevice(threads=1, budget_bytes=2 * key_bytes)
    loaders = {name: Loader(key) for name in ("x", "y", "z")}
    for name in ("x", "y", "x", "z"):
        prove(device, name, loaders[name])
    assert held(device) == ["x", "z"]
    prove(device, "y", loaders["y"])
    assert held(device) == ["z", "y"]
    assert loaders["y"].calls == 2
    assert device.memory().used_bytes <= 2 * key_bytes


def test_a_key_larger_than_the_budget_proves_and_leaves(key: ProvingKey) -> None:
    device = HostDevice(threads=1, budget_bytes=1)
    prove(device, "k", Loader(key))
    assert held(device) == []
    assert device.memory().used_bytes == 0
    assert device.memory().free_bytes == 1


def test_a_key_in_use_is_never_dropped(key: ProvingKey) -> None:
    device = HostDevice(threads=1, budget_bytes=1)
    seen: list[tuple[list[str], bool, int]] = []

    def listen(stage: Stage, _seconds: float) -> None:
        if stage is Stage.A:
            prove(device, "other", Loader(key))
            resident = device.resident_keys()
            seen.append((held(device), resident[0].in_use, device.memory().free_bytes))

    prove(device, "k", Loader(key), report=listen)
    assert seen == [(["k"], True, 0)]
    assert held(device) == []


def test_two_threads_load_a_key_once(key: ProvingKey) -> None:
    device, loader = HostDevice(threads=1), Loader(key)
    together = threading.Barrier(4)
    results: list[bytes] = []

    def work() -> None:
        together.wait(timeout=10)
        results.append(prove(device, "k", loader).b2.tobytes())

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert loader.calls == 1
    assert len(results) == 4
    assert len(set(results)) == 1


def test_a_failed_load_leaves_nothing_behind(key: ProvingKey) -> None:
    device = HostDevice(threads=1)

    def broken() -> KeyPoints:
        raise OSError("the key's file is gone")

    values = np.zeros((key.domain_size, 4), dtype=np.uint64)
    with pytest.raises(OSError, match="gone"):
        device.prove("k", broken, WITNESS, values, values)
    assert held(device) == []
    loader = Loader(key)
    prove(device, "k", loader)
    assert held(device) == ["k"]


def test_arrays_of_another_size_are_refused(key: ProvingKey) -> None:
    device = HostDevice(threads=1)
    right = np.zeros((key.domain_size, 4), dtype=np.uint64)
    with pytest.raises(ValueError, match=f"witness has 3 values, key wants {key.variable_count}"):
        device.prove("k", Loader(key), WITNESS[:3], right, right)
    with pytest.raises(ValueError, match="b has 8 evaluations, key wants 32"):
        device.prove("k", Loader(key), WITNESS, right, right[:8])


def test_close_releases_everything(key: ProvingKey) -> None:
    device = HostDevice(threads=1)
    prove(device, "k", Loader(key))
    device.close()
    assert held(device) == []
    assert device.memory().used_bytes == 0


def test_what_a_device_is_called() -> None:
    device = open_device("host", budget_bytes=123)
    assert device.name == "host"
    assert device.model
    assert device.memory().total_bytes == 123
    assert open_device("host").memory().total_bytes > 1 << 28


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("cuda:0", "no NVIDIA GPU is visible"),
        ("cuda:x", "host or cuda"),
        ("tpu", "host or cuda"),
        ("", "host or cuda"),
    ],
)
def test_a_device_that_is_not_here_says_why(name: str, reason: str) -> None:
    with pytest.raises(DeviceUnavailable, match=reason):
        open_device(name)
