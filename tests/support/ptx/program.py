"""A kernel ready to run: its blocks, translated when first reached, and the places of its variables."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tests.support.ptx import flow
from tests.support.ptx.flow import slot_name
from tests.support.ptx.memory import Bytes, Heap
from tests.support.ptx.parse import Fault, Immediate, Instruction, Module, Register, Variable, type_bits
from tests.support.ptx.translate import Rows, translate

LARGEST_UNIT = 4
ACCESSING = {"ld", "st", "atom", "red", "ldu"}


class State:
    """What a loaded module holds: constant memory, and its global variables in the device's heap."""

    def __init__(self, module: Module, heap: Heap) -> None:
        self.heap = heap
        self.symbols: dict[str, int] = {}
        constants = [variable for variable in module.variables if variable.space == "const"]
        size = _place(constants, self.symbols, 0)
        self.constants = Bytes("const", size, limit=size)
        for variable in constants:
            start = self.symbols[variable.name]
            self.constants.data[start : start + len(variable.data)] = np.frombuffer(variable.data, np.uint8)
        for variable in module.variables:
            if variable.space == "global":
                start = self.symbols[variable.name] = self.heap.reserve(len(variable.data))
                self.heap.data[start : start + len(variable.data)] = np.frombuffer(variable.data, np.uint8)
                self.heap.written[start : start + len(variable.data)] = 1


def _place(variables: Sequence[Variable], symbols: dict[str, int], start: int) -> int:
    """Lay variables one after another, aligned; where the last one ends."""
    for variable in variables:
        start += -start % max(variable.align, 1)
        symbols[variable.name] = start
        start += len(variable.data)
    return start


class Program:
    """One kernel of a module whose variables are where the state says."""

    def __init__(self, module: Module, state: State, kernel: str) -> None:
        self.kernel = kernel
        cut = flow.build(module, kernel)
        self.blocks, self.entries = cut.blocks, cut.entries
        self.entry = cut.entries[kernel]
        self.rows = Rows(cut.aliases)
        self.symbols = dict(state.symbols)
        self.granularity = _smallest_access(instruction for block in cut.blocks for instruction in block.body)
        self._functions: dict[int, Callable[..., Any]] = {}
        self._place_variables(module, {block.function.name for block in cut.blocks})
        self.parameters = module.functions[kernel].parameters
        self.parameter_places: dict[str, int] = {}
        self.parameter_bytes = _place(self.parameters, self.parameter_places, 0)

    def _place_variables(self, module: Module, reachable: set[str]) -> None:
        shared = [variable for variable in module.variables if variable.space == "shared"]
        local = []
        for name in sorted(reachable):
            for variable in module.functions[name].variables:
                inner = Variable(
                    variable.space,
                    slot_name(module.functions[name], variable.name),
                    variable.align,
                    variable.data,
                    variable.dynamic,
                )
                (shared if variable.space == "shared" else local).append(inner)
        fixed = [variable for variable in shared if not variable.dynamic]
        end = _place(fixed, self.symbols, 0)
        self.shared_bytes = end + (-end % 16)
        self.symbols.update({variable.name: self.shared_bytes for variable in shared if variable.dynamic})
        self.local_bytes = _place(local, self.symbols, 0)

    def function(self, number: int) -> Callable[..., Any]:
        """The block as a function of (rows, lanes or None, the lanes' callbacks)."""
        if number not in self._functions:
            places = self.parameter_places
            self._functions[number] = translate(self.blocks[number], self.rows, self.symbols, places)
        return self._functions[number]

    def members(self, number: int) -> int | np.uint64 | None:
        """The mask of the warp operation that the block starts with: a row, a constant, or None."""
        first = self.blocks[number].body[0]
        if not flow.is_warp_synchronous(first):
            return None
        mask = first.operands[-1]
        if isinstance(mask, Register):
            return self.rows.row(slot_name(self.blocks[number].function, mask.name))
        if isinstance(mask, Immediate):
            return np.uint64(mask.value % (1 << 32))
        raise Fault(f"cannot read {first.text}")

    def pack(self, arguments: Sequence[int | bytes]) -> bytes:
        """The arguments as the kernel's parameters lie in memory. Raises Fault where their number differs."""
        if len(arguments) != len(self.parameters):
            raise Fault(f"{self.kernel} takes {len(self.parameters)} arguments, not {len(arguments)}")
        packed = bytearray(self.parameter_bytes)
        for variable, value in zip(self.parameters, arguments, strict=True):
            size, start = len(variable.data), self.parameter_places[variable.name]
            data = value if isinstance(value, bytes) else (value % (1 << 8 * size)).to_bytes(size, "little")
            if len(data) != size:
                raise Fault(f"{variable.name} has {size} bytes, not {len(data)}")
            packed[start : start + size] = data
        return bytes(packed)


def _smallest_access(instructions: Any) -> int:
    """The smallest access in bytes, at most LARGEST_UNIT: the grain in which races are looked for."""

    def size(instruction: Instruction) -> int:
        if instruction.kind not in ACCESSING or {"local", "param", "const"} & set(instruction.parts):
            return LARGEST_UNIT
        return type_bits(instruction.type) // 8

    return min((size(instruction) for instruction in instructions), default=LARGEST_UNIT)


def program_of(module: Module, state: State, kernel: str) -> Program:
    """The kernel's program; it is made once for modules whose variables are at the same places."""
    key = (kernel, tuple(state.symbols.items()))
    if key not in module.programs:
        module.programs[key] = Program(module, state, kernel)
    program: Program = module.programs[key]
    return program
