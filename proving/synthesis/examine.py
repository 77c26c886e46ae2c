"""Whether a file is a witness generator, and for which curve, without compiling it.

A module is validated, its imports and exports are looked at, and the prime that lies among its constants says
which field it computes in. Compiling a large generator takes seconds; this takes hundredths of one.
"""

from __future__ import annotations

from pathlib import Path

import wasmtime

from kernels.curves import Curve
from proving.formats.errors import FormatError
from proving.formats.wasm_module import find_curve, read_names
from proving.synthesis.engine import runtime
from proving.synthesis.errors import SynthesisError, SynthesisErrorKind
from proving.synthesis.host import FUNCTIONS, MODULE
from proving.synthesis.wasm import MAX_MODULE_BYTES, generation_of

PROVIDED = frozenset({"env.memory", *(f"{MODULE}.{name}" for name in FUNCTIONS)})


def examine_generator(path: Path | str) -> Curve | None:
    """The curve of a generator; None where only running it can tell.

    Raises SynthesisError for a file that is no circom generator, OSError when there is no file.
    """
    file = str(path)
    if Path(path).stat().st_size > MAX_MODULE_BYTES:
        raise refusal(f"{file}: larger than {MAX_MODULE_BYTES} bytes")
    return examine_content(file, Path(path).read_bytes())


def examine_content(file: str, content: bytes) -> Curve | None:
    """As `examine_generator`, for the content of a file. Raises SynthesisError."""
    try:
        names = read_names(file, content)
        wasmtime.Module.validate(runtime().engine, content)
    except FormatError as error:
        raise refusal(str(error)) from error
    except wasmtime.WasmtimeError as error:
        reason = str(error).strip().splitlines()[-1].strip()[:200]
        raise refusal(f"{file}: not a WebAssembly module: {reason}") from error
    generation_of(set(names.exports), file)
    for name in names.imports:
        if name not in PROVIDED:
            raise refusal(f"{file}: the witness generator imports {name}, which no circom known here needs")
    return find_curve(content)


def refusal(reason: str) -> SynthesisError:
    """An error about the module itself."""
    return SynthesisError(SynthesisErrorKind.MODULE, reason)
