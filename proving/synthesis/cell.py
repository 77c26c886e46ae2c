"""What a cell does: one thing with one witness generator, behind walls, and then it ends.

A cell is a process of its own, forked by the nursery for one request. It has the files that came with the
request and nothing else of this machine. What it finds it tells in lines of JSON, and a witness in a file
in memory. Nobody believes it: whoever asked looks at the witness before using it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import wasmtime

from kernels.curves import curve_by_name
from proving.synthesis.engine import runtime
from proving.synthesis.errors import InputError, SynthesisError, SynthesisErrorKind
from proving.synthesis.examine import examine_content
from proving.synthesis.inputs import Inputs
from proving.synthesis.sandbox import Limits
from proving.synthesis.wasm import WitnessGenerator, choose_generation

Answer = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Request:
    """What a cell is asked for. `reply`, `module`, `given` and `result` are open files.

    `module` holds WebAssembly to be examined or compiled, compiled code for everything else; `given` holds
    inputs as JSON; `result` takes compiled code or a witness.
    """

    task: str
    file: str
    curve: str | None
    limits: Limits
    reply: int
    module: int
    given: int
    result: int


def work(request: Request) -> None:
    """Do what is asked and tell what came of it."""
    try:
        answer = TASKS[request.task](request)
    except InputError as error:
        answer = {"problems": [[problem.path, problem.reason] for problem in error.problems]}
    except SynthesisError as error:
        answer = {"error": error.kind, "message": error.message}
    except MemoryError:
        answer = {"error": SynthesisErrorKind.MEMORY, "message": "the witness generator ran out of memory"}
    tell(request, answer)


def tell(request: Request, answer: Answer) -> None:
    """Write one line to whoever asked."""
    rest = memoryview(json.dumps(answer).encode() + b"\n")
    while rest:
        rest = rest[os.write(request.reply, rest) :]


def examine(request: Request) -> Answer:
    """WebAssembly -> its curve, where the file tells it."""
    curve = examine_content(request.file, content_of(request.module))
    return {"curve": curve.name if curve else None}


def compile_module(request: Request) -> Answer:
    """WebAssembly -> compiled code, in `result`."""
    engine = runtime().engine
    try:
        module = wasmtime.Module(engine, content_of(request.module))
    except wasmtime.WasmtimeError as error:
        reason = str(error).strip().splitlines()[-1].strip()[:200]
        message = f"{request.file}: not a WebAssembly module: {reason}"
        raise SynthesisError(SynthesisErrorKind.MODULE, message) from error
    choose_generation(module, request.file)
    return {"bytes": put(request.result, module.serialize())}


def find_curve(request: Request) -> Answer:
    """Compiled code -> the curve that the generator computes on."""
    return {"curve": opened(request).curve.name}


def check(request: Request) -> Answer:
    """Inputs of several partitions -> what is wrong with the first of them that is wrong."""
    generator = opened(request)
    for place, inputs in enumerate(json.loads(content_of(request.given))):
        try:
            generator.check(inputs)
        except InputError as error:
            return {
                "place": place,
                "problems": [[problem.path, problem.reason] for problem in error.problems],
            }
    return {}


def generate(request: Request) -> Answer:
    """Inputs -> a witness, in `result`; what the circuit logs is told on the way."""
    inputs: Inputs = json.loads(content_of(request.given))
    witness = opened(request).generate(inputs, logging_to(request))
    return {"bytes": put(request.result, witness.tobytes())}


TASKS: dict[str, Callable[[Request], Answer]] = {
    "examine": examine,
    "compile": compile_module,
    "curve": find_curve,
    "check": check,
    "generate": generate,
}


def opened(request: Request) -> WitnessGenerator:
    """The generator whose compiled code came with the request."""
    try:
        module = wasmtime.Module.deserialize(runtime().engine, content_of(request.module))
    except wasmtime.WasmtimeError as error:  # another build of the engine wrote it
        raise SynthesisError(SynthesisErrorKind.MODULE, STALE) from error
    curve = curve_by_name(request.curve) if request.curve else None
    return WitnessGenerator.around(module, request.file, request.limits, curve)


STALE = "the compiled code is not this engine's"


def logging_to(request: Request) -> Callable[[str], None]:
    """Tells each line that the circuit logs."""
    return lambda line: tell(request, {"log": line})


def content_of(descriptor: int) -> bytes:
    """All of a file."""
    return os.pread(descriptor, os.lseek(descriptor, 0, os.SEEK_END), 0)


def put(descriptor: int, content: bytes | bytearray) -> int:
    """Write to a file's beginning. Returns the bytes written."""
    rest = memoryview(content)
    while rest:
        rest = rest[os.write(descriptor, rest) :]
    return len(content)
