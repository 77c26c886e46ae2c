"""Witness generators: WebAssembly that circom makes of a circuit, run in a sandbox."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Self

import numpy as np
import wasmtime
from numpy.typing import NDArray

from kernels.curves import Curve
from proving.formats.errors import FormatError
from proving.formats.wtns import check_values
from proving.synthesis.circom1 import Circom1
from proving.synthesis.circom2 import Circom2
from proving.synthesis.circom2_early import EarlyCircom2
from proving.synthesis.engine import compile_module, default_cache, runtime
from proving.synthesis.errors import SynthesisError, SynthesisErrorKind
from proving.synthesis.inputs import Inputs
from proving.synthesis.sandbox import Limits, Sandbox

MAX_MODULE_BYTES = 512 << 20


def ignore(line: str) -> None:
    """Drop a line of the circuit's log."""


class WitnessGenerator:
    """A compiled witness generator. Threads may share it: each call has an instance of its own."""

    def __init__(
        self, path: Path | str, *, cache_dir: Path | str | None = None, limits: Limits | None = None
    ) -> None:
        """Compile the generator at `path`, or load it from the cache of compiled modules.

        `cache_dir` must be writable by this user alone; without it the user's cache directory is used.
        Raises SynthesisError for a file that is no circom generator, OSError when there is no file.
        """
        self.path = Path(path)
        self.limits = limits or Limits()
        self.runtime = runtime()
        if self.path.stat().st_size > MAX_MODULE_BYTES:
            raise SynthesisError(SynthesisErrorKind.MODULE, f"{path}: larger than {MAX_MODULE_BYTES} bytes")
        cache = Path(cache_dir) if cache_dir is not None else default_cache()
        self.module = compile_module(self.runtime.engine, self.path.read_bytes(), str(path), cache)
        self.generation = choose_generation(self.module, str(path))
        self.curve = self.find_curve()

    @classmethod
    def around(cls, module: wasmtime.Module, file: str, limits: Limits, curve: Curve | None = None) -> Self:
        """A generator that is compiled already, by this process's engine; its curve, where it is known.

        Raises SynthesisError.
        """
        made = cls.__new__(cls)
        made.path, made.limits, made.runtime, made.module = Path(file), limits, runtime(), module
        made.generation = choose_generation(module, file)
        made.curve = curve or made.find_curve()
        return made

    def find_curve(self) -> Curve:
        """The curve whose scalar field the circuit works in."""
        sandbox = Sandbox(self.runtime, self.limits)
        with sandbox.running():
            return self.generation(sandbox, self.module, ignore).start()

    def check(self, inputs: Inputs) -> None:
        """Refuse inputs whose signals or sizes do not fit the circuit, without computing a witness.

        Raises InputError.
        """
        sandbox = Sandbox(self.runtime, self.limits)
        with sandbox.running():
            generator = self.generation(sandbox, self.module, ignore)
            generator.start()
            generator.check_inputs(inputs)

    def generate(self, inputs: Inputs, log: Callable[[str], None] = ignore) -> NDArray[np.uint64]:
        """The witness for some inputs: (n, 4) uint64, plain, canonical, wire 0 is one.

        `inputs` maps signals to their values in row-major order, each in [0, r), as `flatten_inputs` gives
        them. `log` gets the lines that the circuit logs; they may hold secrets.
        Raises InputError for inputs that do not fit the circuit and SynthesisError for all else.
        """
        sandbox = Sandbox(self.runtime, self.limits)
        with sandbox.running():
            generator = self.generation(sandbox, self.module, log)
            generator.start()
            generator.set_inputs(inputs)
            witness = generator.read_witness()
        try:
            check_values(str(self.path), "witness", self.curve, witness)
        except FormatError as error:
            reason = f"the witness generator is broken: {error.place}: {error.reason}"
            raise SynthesisError(SynthesisErrorKind.MODULE, reason) from error
        return witness


def choose_generation(module: wasmtime.Module, file: str) -> type[Circom1 | Circom2]:
    """What runs a module, judged by its exports. Raises SynthesisError for a module that is no generator."""
    return generation_of({export.name for export in module.exports}, file)


def generation_of(exports: set[str], file: str) -> type[Circom1 | Circom2]:
    """What runs a module with these exports. Raises SynthesisError for a module that is no generator."""
    if {
        "getWitness",
        "setInputSignal",
        "readSharedRWMemory",
        "getInputSignalSize",
        "getInputSize",
    } <= exports:
        return Circom2
    if {"getWitness", "setInputSignal", "readSharedRWMemory"} <= exports:
        return EarlyCircom2
    if {"getWitnessBuffer", "setSignal", "getSignalOffset32"} <= exports:
        return Circom1
    raise SynthesisError(SynthesisErrorKind.MODULE, f"{file}: not a witness generator of circom")
