"""A CPU without AVX never meets an AVX instruction: only the AVX2 engine's own functions lead to one."""

import re
import shutil
import subprocess
from bisect import bisect_right
from dataclasses import dataclass, field

import pytest

from kernels.native import LIBRARY

from .avx2 import needs_avx2

pytestmark = [
    needs_avx2,
    pytest.mark.skipif(shutil.which("objdump") is None, reason="objdump is not installed"),
]

FUNCTION = re.compile(r"^(?P<address>[0-9a-f]+) <(?P<name>.+)>:$")
INSTRUCTION = re.compile(r"^\s*[0-9a-f]+:\t(?P<text>\S.*)$")
TARGET = re.compile(r"(?P<address>[0-9a-f]+) <[^>]+>$")
# VEX encoded: AVX mnemonics begin with v (verr, verw and vm... are old), BMI2 has these.
VECTOR = re.compile(r"(?:v(?!err|erw|m)\w+|mulx|rorx|sarx|shlx|shrx|pdep|pext|bzhi)\s")


@dataclass
class Function:
    address: int
    name: str
    vector: bool = False
    targets: list[int] = field(default_factory=list)

    @property
    def is_of_the_engine(self) -> bool:
        return "avx2" in self.name


@pytest.fixture(scope="module")
def functions() -> list[Function]:
    """The functions of the library by address, with what they call, jump to or take the address of."""
    command = ["objdump", "-d", "--no-show-raw-insn", str(LIBRARY)]
    listing = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    found: list[Function] = []
    for line in listing.splitlines():
        if head := FUNCTION.match(line):
            found.append(Function(int(head["address"], 16), head["name"]))
        elif found and (instruction := INSTRUCTION.match(line)):
            found[-1].vector |= VECTOR.match(instruction["text"]) is not None
            if target := TARGET.search(instruction["text"]):
                found[-1].targets.append(int(target["address"], 16))
    return sorted(found, key=lambda function: function.address)


def engine_range(functions: list[Function]) -> range:
    """Where the engine's object lies: between the vector functions that bear its name, cold parts aside."""
    named = [f.address for f in functions if f.is_of_the_engine and f.vector and ".cold" not in f.name]
    assert len(named) > 20, "the AVX2 engine was not found in the library"
    return range(min(named), max(named) + 1)


def test_portable_code_never_leads_to_avx(functions: list[Function]) -> None:
    addresses, inside = [f.address for f in functions], engine_range(functions)

    def at(address: int) -> Function:
        return functions[max(bisect_right(addresses, address) - 1, 0)]

    portable = [f for f in functions if not (f.address in inside or f.is_of_the_engine or ".cold" in f.name)]
    leads = [
        (caller.name, at(target).name)
        for caller in portable
        for target in caller.targets
        if at(target) is not caller and at(target).vector
    ]
    assert leads == []


def test_portable_functions_have_no_avx(functions: list[Function]) -> None:
    inside = engine_range(functions)
    exported = [f for f in functions if re.fullmatch("cuzk_[a-z_]+", f.name) and not f.is_of_the_engine]
    assert exported
    assert not [f.name for f in exported if f.address in inside]
    assert not [f.name for f in functions if f.vector and f.address not in inside and ".cold" not in f.name]


def test_the_choice_of_the_engine_has_no_avx(functions: list[Function]) -> None:
    entries = ("_GLOBAL__sub_I", "_init", "frame_dummy", "_ZN4cuzk11avx2_engineEv")
    early = [f for f in functions if f.name.startswith(entries)]
    assert any("avx2_engine" in f.name for f in early)
    assert not [f.name for f in early if f.vector]
