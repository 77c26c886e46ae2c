"""Limits of a call, and modules that are not what they say."""

import time

import pytest
import wasmtime

from kernels.curves import BN254
from proving.synthesis.errors import SynthesisError, SynthesisErrorKind
from proving.synthesis.sandbox import Limits
from proving.synthesis.wasm import WitnessGenerator

PRIME_DATA = "".join(f"\\{byte:02x}" for byte in BN254.r.to_bytes(32, "little"))
EMPTY = {
    "getFieldNumLen32": "(result i32) i32.const 8",
    "getRawPrime": "",
    "readSharedRWMemory": "(param i32) (result i32) (i32.load (i32.mul (local.get 0) (i32.const 4)))",
    "writeSharedRWMemory": "(param i32 i32)",
    "getMessageChar": "(result i32) i32.const 0",
    "init": "(param i32)",
    "getInputSize": "(result i32) i32.const 0",
    "getInputSignalSize": "(param i32 i32) (result i32) i32.const 0",
    "getWitnessSize": "(result i32) i32.const 4",
    "getWitness": "(param i32)",
    "setInputSignal": "(param i32 i32 i32) (call $exception (i32.const 2))",
}


def module(tmp_path, *, memory="1", imports="", **functions):
    """A generator made of a few functions, written to a file."""
    bodies = "\n".join(f'(func (export "{name}") {body})' for name, body in {**EMPTY, **functions}.items())
    text = f"""(module
      (import "runtime" "exceptionHandler" (func $exception (param i32)))
      {imports}
      (memory (export "memory") {memory})
      (data (i32.const 0) "{PRIME_DATA}")
      {bodies})"""
    path = tmp_path / "made.wasm"
    path.write_bytes(bytes(wasmtime.wat2wasm(text)))
    return path


def failure(path, cache, limits=None):
    with pytest.raises(SynthesisError) as caught:
        WitnessGenerator(path, cache_dir=cache, limits=limits).generate({})
    return caught.value


def test_endless_circuit_is_stopped(fixtures, module_cache):
    made = WitnessGenerator(
        fixtures / "compiled" / "endless.wasm", cache_dir=module_cache, limits=Limits(seconds=0.2)
    )
    started = time.monotonic()
    with pytest.raises(SynthesisError, match=r"ran longer than 0\.2 s") as caught:
        made.generate({"value": [1]})
    assert caught.value.kind == SynthesisErrorKind.TIME
    assert time.monotonic() - started < 20


def test_a_stopped_call_does_not_stop_the_next(fixtures, module_cache):
    path = fixtures / "compiled" / "endless.wasm"
    made = WitnessGenerator(path, cache_dir=module_cache, limits=Limits(seconds=0.2))
    with pytest.raises(SynthesisError):
        made.generate({"value": [1]})
    assert len(made.generate({"value": [0]})) == 2


def test_endless_start_function_is_stopped_too(tmp_path, module_cache):
    path = module(tmp_path, init="(param i32) (loop $again (br $again))")
    assert failure(path, module_cache, Limits(seconds=0.2)).kind == SynthesisErrorKind.TIME


def test_memory_over_the_limit_is_refused_before_it_is_taken(tmp_path, module_cache):
    error = failure(module(tmp_path, memory="1000"), module_cache, Limits(memory_bytes=1 << 20))
    assert error.kind == SynthesisErrorKind.MEMORY
    assert str(1000 << 16) in error.message


def test_growth_over_the_limit_fails_inside(tmp_path, module_cache):
    grow = "(param i32) (if (i32.eq (memory.grow (i32.const 40000)) (i32.const -1)) (then unreachable))"
    error = failure(module(tmp_path, init=grow), module_cache, Limits(memory_bytes=1 << 24))
    assert error.kind == SynthesisErrorKind.TRAP
    assert "unreachable" in error.message


def test_absurd_witness_size_is_refused(tmp_path, module_cache):
    error = failure(module(tmp_path, getWitnessSize="(result i32) i32.const -1"), module_cache)
    assert error.kind == SynthesisErrorKind.MEMORY


def test_unknown_import_is_named(tmp_path, module_cache):
    path = module(tmp_path, imports='(import "runtime" "launchMissiles" (func))')
    error = failure(path, module_cache)
    assert error.kind == SynthesisErrorKind.MODULE
    assert "runtime.launchMissiles" in error.message


def test_other_types_are_refused(tmp_path, module_cache):
    error = failure(module(tmp_path, getWitnessSize="(result f64) f64.const nan"), module_cache)
    assert error.kind == SynthesisErrorKind.MODULE
    assert "getWitnessSize" in error.message


def test_other_field_is_refused(tmp_path, module_cache):
    assert (
        "32 bytes"
        in failure(module(tmp_path, getFieldNumLen32="(result i32) i32.const 2"), module_cache).message
    )
    error = failure(module(tmp_path, getRawPrime="(i32.store (i32.const 0) (i32.const 7))"), module_cache)
    assert "prime" in error.message


def test_witness_that_is_no_witness_is_refused(tmp_path, module_cache):
    error = failure(module(tmp_path), module_cache)
    assert error.kind == SynthesisErrorKind.MODULE
    assert "the constant wire is not 1" in error.message


def test_crash_is_told(tmp_path, module_cache):
    error = failure(module(tmp_path, getWitness="(param i32) unreachable"), module_cache)
    assert (error.kind, error.message) == (
        SynthesisErrorKind.TRAP,
        "the witness generator crashed: unreachable",
    )


@pytest.mark.parametrize("content", [b"", b"\0asm", b"hello", b"\0asm\1\0\0\0"])
def test_file_that_is_no_generator(tmp_path, module_cache, content):
    path = tmp_path / "made.wasm"
    path.write_bytes(content)
    assert failure(path, module_cache).kind == SynthesisErrorKind.MODULE


def test_module_that_does_not_validate(tmp_path, module_cache, fixtures):
    content = bytearray((fixtures / "compiled" / "silent.wasm").read_bytes())
    content[2000] ^= 0xFF
    path = tmp_path / "made.wasm"
    path.write_bytes(content)
    with pytest.raises(SynthesisError):
        WitnessGenerator(path, cache_dir=module_cache).generate({"a": [1], "b": [1], "product": [1]})
