"""The cache of compiled modules."""

import threading

import pytest
import wasmtime

from proving.formats.words import to_integers
from proving.synthesis import engine
from proving.synthesis.wasm import WitnessGenerator

INPUTS = {"a": [3], "b": [11]}


@pytest.fixture
def wasm(fixtures):
    return fixtures / "compiled" / "multiplier.wasm"


@pytest.fixture
def compilations(monkeypatch, wasm):
    """Counts how often the circuit is compiled, not loaded."""
    content = wasm.read_bytes()
    counted = []
    compile_ = wasmtime.Module

    class Counting(compile_):
        def __init__(self, *arguments):
            if arguments[1] == content:
                counted.append(arguments)
            super().__init__(*arguments)

    monkeypatch.setattr(engine.wasmtime, "Module", Counting)
    return counted


def product(wasm, cache):
    return to_integers(WitnessGenerator(wasm, cache_dir=cache).generate(INPUTS))[1]


def test_second_call_loads_what_the_first_compiled(wasm, tmp_path, compilations):
    cache = tmp_path / "cache"
    assert [product(wasm, cache), product(wasm, cache)] == [33, 33]
    assert len(compilations) == 1
    [stored] = cache.iterdir()
    assert stored.stat().st_mode & 0o777 == 0o600
    assert cache.stat().st_mode & 0o777 == 0o700


def test_other_engine_version_compiles_again(wasm, tmp_path, compilations, monkeypatch):
    product(wasm, tmp_path)
    monkeypatch.setattr(engine.importlib.metadata, "version", lambda _: "0.0")
    product(wasm, tmp_path)
    assert len(compilations) == 2
    assert len(list(tmp_path.iterdir())) == 2


def test_file_that_the_engine_refuses_is_replaced(wasm, tmp_path, compilations):
    product(wasm, tmp_path)
    [stored] = tmp_path.iterdir()
    stored.write_bytes(b"written by nobody")
    assert product(wasm, tmp_path) == 33
    assert len(compilations) == 2
    assert stored.stat().st_size > 1000


@pytest.mark.parametrize("mode", [0o770, 0o707, 0o777])
def test_directory_that_others_may_write_to_is_not_trusted(wasm, tmp_path, compilations, mode):
    cache = tmp_path / "cache"
    cache.mkdir()
    cache.chmod(mode)
    assert [product(wasm, cache), product(wasm, cache)] == [33, 33]
    assert len(compilations) == 2
    assert not list(cache.iterdir())


def test_file_that_others_may_write_to_is_not_trusted(wasm, tmp_path, compilations):
    product(wasm, tmp_path)
    [stored] = tmp_path.iterdir()
    stored.chmod(0o666)
    product(wasm, tmp_path)
    assert len(compilations) == 2


def test_cache_that_cannot_be_made_costs_speed_only(wasm, tmp_path):
    (tmp_path / "file").write_bytes(b"")
    assert product(wasm, tmp_path / "file" / "cache") == 33


def test_calls_that_fill_the_cache_at_the_same_time(wasm, tmp_path):
    results = []
    threads = [threading.Thread(target=lambda: results.append(product(wasm, tmp_path))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [33] * 4
    assert len(list(tmp_path.iterdir())) == 1


def test_clock_stops_with_the_last_call(wasm, tmp_path):
    made = WitnessGenerator(wasm, cache_dir=tmp_path)
    made.generate(INPUTS)
    clock = made.runtime.clock
    assert clock.calls == 0
    assert clock.idle.is_set()
