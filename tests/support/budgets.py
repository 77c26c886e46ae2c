"""What the compiled kernels take of the hardware, held against what was recorded.

`python -m tests.support.budgets` compiles every module for every target and compares; with `--record` it
writes the record anew. Compiling all of them takes many minutes the first time, seconds afterwards.
"""

import argparse
import hashlib
import json
import os
import re
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path

from kernels import nvrtc
from kernels.modules import Module
from tests.support import device_code

RECORD = Path(__file__).parents[1] / "unit" / "kernels" / "budgets.json"
LOOPS = ("repeat_fr", "repeat_fq", "accumulate_entries")

_ENTRY = re.compile(r"Compiling entry function '(\w+)'")
_FRAME = re.compile(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads")
_REGISTERS = re.compile(r"Used (\d+) registers")
_STACK = re.compile(r"(\d+) bytes cumulative stack size")


@dataclass(frozen=True, slots=True)
class Usage:
    """What one kernel takes a thread; `loop` is the instructions of its loop, where it is little else.

    Those are one product in `repeat_F`, and one mixed addition with all its cases in `accumulate_entries`.
    """

    registers: int
    stack_bytes: int
    spill_bytes: int
    loop: int | None = None


Rows = dict[str, dict[str, dict[str, Usage]]]  # by module, target and kernel


def usage(log: str) -> dict[str, Usage]:
    """What the assembler's own log says of each kernel; the functions that it calls count with it."""
    parts = _ENTRY.split(log)[1:]
    return {name: _usage_of(text) for name, text in zip(parts[::2], parts[1::2], strict=True)}


def _usage_of(text: str) -> Usage:
    frames = [tuple(map(int, frame)) for frame in _FRAME.findall(text)]
    stack = _STACK.search(text)
    registers = _REGISTERS.search(text)
    if registers is None or not frames:
        raise ValueError(f"the assembler's log has changed: {text[:200]!r}")
    return Usage(
        registers=int(registers.group(1)),
        stack_bytes=int(stack.group(1)) if stack else frames[0][0],
        spill_bytes=sum(stores + loads for _, stores, loads in frames),
    )


def loop_length(cubin: bytes, kernel: str) -> int:
    """The instructions of the kernel's longest loop, by NVIDIA's disassembler."""
    lines = _disassembled(cubin, kernel)
    places = {line[:-1]: number for number, line in enumerate(lines) if line.endswith(":")}
    longest = 0
    for number, line in enumerate(lines):
        jump = re.search(r"BRA\b.*`\((\.L_x_\d+)\)", line)
        if jump and places.get(jump.group(1), number) < number:
            body = lines[places[jump.group(1)] : number + 1]
            longest = max(longest, sum(line.startswith("/*") for line in body))
    return longest


def _disassembled(cubin: bytes, kernel: str) -> list[str]:
    tool = Path(sysconfig.get_path("purelib")) / "nvidia" / "cu13" / "bin" / "nvdisasm"
    with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
        file.write(cubin)
        file.flush()
        done = subprocess.run([tool, "-c", file.name], capture_output=True, text=True, check=True)
    section = done.stdout.partition(f"\n.text.{kernel}:")[2].partition("\n//-----")[0]
    return [line.strip() for line in section.splitlines()]


def measured(module: Module, target: str) -> dict[str, Usage]:
    """What each kernel of the module takes on the target; compiles it where that was not done before."""
    compiled = device_code.compiled(module, target)
    found = usage(compiled.log)
    for name in LOOPS:
        if name in found:
            plain = found[name]
            length = loop_length(compiled.image, name)
            found[name] = Usage(plain.registers, plain.stack_bytes, plain.spill_bytes, length)
    return dict(sorted(found.items()))


def text_digest(module: Module) -> str:
    """A hash of the module's texts and options, whatever their comments and line breaks are.

    The shim for g++ does not count: NVRTC never reads it.
    """
    program = device_code.program(module)
    headers = [text for name, text in sorted(program.headers.items()) if "shim" not in name]
    texts = [program.text, *headers, *program.options]
    bare = [" ".join(re.sub(r"//[^\n]*|/\*.*?\*/", " ", text, flags=re.DOTALL).split()) for text in texts]
    return hashlib.sha256("\n".join(bare).encode()).hexdigest()[:16]


def overruns(wanted: dict[str, dict[str, int]], found: dict[str, Usage]) -> list[str]:
    """Where a kernel takes more than was recorded, or is not in the record."""
    told = []
    for kernel, taken in found.items():
        if kernel not in wanted:
            told.append(f"{kernel} is not in the record")
            continue
        for what, amount in asdict(taken).items():
            limit = wanted[kernel].get(what)
            if amount is not None and (limit is None or amount > limit):
                told.append(f"{kernel}: {amount} {what}, {limit} recorded")
    told += [f"{kernel} is in the record only" for kernel in wanted if kernel not in found]
    return told


def read_record() -> dict[str, dict[str, dict[str, dict[str, int]]]]:
    """The recorded usage by module, target and kernel."""
    modules = json.loads(RECORD.read_text())["modules"]
    return {name: module["targets"] for name, module in modules.items()}


def recorded_digests() -> dict[str, str]:
    """The digest of each module's text when it was recorded."""
    modules = json.loads(RECORD.read_text())["modules"]
    return {name: module["text"] for name, module in modules.items()}


def _write_record(rows: Rows, digests: dict[str, str]) -> None:
    """One line a kernel, so that a difference reads well."""
    lines = ["{", f' "nvrtc": {json.dumps(nvrtc.version())},', ' "modules": {']
    for module, targets in rows.items():
        lines += [
            f"  {json.dumps(module)}: {{",
            f'   "text": {json.dumps(digests[module])},',
            '   "targets": {',
        ]
        for target, kernels in targets.items():
            entries = [f"     {json.dumps(name)}: {_as_json(taken)}" for name, taken in kernels.items()]
            lines += [f"    {json.dumps(target)}: {{", ",\n".join(entries), "    },"]
        lines[-1] = "    }"
        lines += ["   }", "  },"]
    lines[-1] = "  }"
    RECORD.write_text("\n".join([*lines, " }", "}", ""]))


def _as_json(taken: Usage) -> str:
    return json.dumps({what: amount for what, amount in asdict(taken).items() if amount is not None})


def main(arguments: Iterable[str]) -> int:
    """Compare all with the record, or record it; 1 where something takes more."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--record", action="store_true", help="write the record anew")
    record = parser.parse_args(list(arguments)).record
    modules = device_code.all_modules()
    digests = {module.name: text_digest(module) for module in modules}
    rows = _measure_all(modules)
    if record:
        _write_record(rows, digests)
        return 0
    known = read_record()
    worse = [
        f"{name} {target} {line}"
        for name, targets in rows.items()
        for target, found in targets.items()
        for line in overruns(known.get(name, {}).get(target, {}), found)
    ]
    print("\n".join(worse))
    return 1 if worse else 0


def _measure_all(modules: list[Module]) -> Rows:
    """What all kernels take, several modules compiled at a time; the order is the table's."""
    rows: Rows = {module.name: {} for module in modules}
    pairs = [(module, target) for module in modules for target in device_code.TARGETS]
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        for (module, target), found in zip(pairs, pool.map(lambda pair: measured(*pair), pairs), strict=True):
            rows[module.name][target] = found
            most = max(taken.registers for taken in found.values())
            spilled = sum(taken.spill_bytes for taken in found.values())
            print(
                f"{module.name:20} {target:7} {most:4} registers at most, {spilled} bytes spilled", flush=True
            )
    return rows


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
