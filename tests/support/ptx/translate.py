"""A basic block as one Python function over all lanes that are at it, in numpy.

Registers are rows, as wide as the lanes that run together. `idx` is None where all of them are at the block,
else their numbers. Inside of the function every value is a fresh local variable, so that a product that
mad.lo and mad.hi share is computed once. A value that every lane has alike stays a scalar.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from tests.support.ptx import integer_code, operations
from tests.support.ptx.flow import Block, slot_name
from tests.support.ptx.memory_code import MEMORY_CODE
from tests.support.ptx.parse import Fault, Immediate, Instruction, Operand, Register, Symbol

BlockFunction = Callable[..., Any]

ENDS = {"bra", "brx", "call", "ret", "exit", "bar", "barrier"}
WITHOUT_EFFECT = {"fence", "membar", "prefetch", "prefetchu"}
SPECIALS = ("%tid.", "%ntid.", "%ctaid.", "%nctaid.", "%laneid", "%warpid", "%lanemask_", "%clock")
UNIFORM_SPECIALS = {"%ntid", "%nctaid"}


class Rows:
    """Gives each register and parameter slot of a kernel its row."""

    def __init__(self, aliases: dict[str, str]) -> None:
        self.aliases = aliases
        self.numbers: dict[str, int] = {}

    def row(self, name: str) -> int:
        return self.numbers.setdefault(self.aliases.get(name, name), len(self.numbers))


class Emitter:
    """The text of one block's function while it grows."""

    def __init__(
        self, block: Block, rows: Rows, symbols: dict[str, int], kernel_parameters: dict[str, int]
    ) -> None:
        self.block = block
        self.rows = rows
        self.symbols = symbols
        self.kernel_parameters = kernel_parameters
        self.lines: list[str] = []
        self.names: dict[str, Any] = {"np": np, "o": operations, "U": np.uint64}
        self.values: dict[int, str] = {}
        self.written: dict[int, bool] = {}  # row -> does it outlive the block
        self.borrowed: set[str] = set()  # variables that may be rows themselves
        self.uniform: set[str] = set()
        self.products: dict[tuple[str, str], str] = {}
        self.carry: str | None = None
        self.guard: str | None = None  # the predicate of the instruction at hand
        self.outcome: str | None = None  # what the branch at the end depends on
        self.counter = 0

    # values

    def constant(self, value: int, bits: int = 64) -> str:
        value %= 1 << bits
        return self.bind(f"k{value}", np.uint64(value))

    def bind(self, name: str, value: Any) -> str:
        self.names[name] = value
        self.uniform.add(name)
        return name

    def let(self, expression: str, *inputs: str) -> str:
        """A new variable; it is uniform where all its inputs are."""
        name = self.fresh()
        self.lines.append(f"{name} = {expression}")
        if inputs and all(value in self.uniform for value in inputs):
            self.uniform.add(name)
        return name

    def fresh(self) -> str:
        self.counter += 1
        return f"v{self.counter}"

    def use(self, operand: Operand, bits: int) -> str:
        """The variable that holds an operand's value."""
        match operand:
            case Register(name=name):
                return self.special(name) if name.startswith(SPECIALS) else self.register(self.scoped(name))
            case Immediate(value=value):
                return self.constant(value, bits)
            case Symbol(name=name):
                return self.constant(self.symbol(name))
        raise Fault(f"{operand} is not a value")

    def predicate(self, operand: Operand) -> str:
        if isinstance(operand, Immediate):
            return self.bind("true" if operand.value else "false", np.bool_(operand.value))
        return self.use(operand, 1)

    def symbol(self, name: str) -> int:
        for known in (name, slot_name(self.block.function, name)):
            if known in self.symbols:
                return self.symbols[known]
        raise Fault(f"{name} is not known in {self.block.function.name}")

    def special(self, name: str) -> str:
        uniform = name.rpartition(".")[0] in UNIFORM_SPECIALS
        value = self.let(f"m.special({name!r}, idx)")
        if uniform:
            self.uniform.add(value)
        else:
            self.borrowed.add(value)
        return value

    def scoped(self, name: str) -> str:
        return f"{self.block.function.name}:{name}"

    def register(self, name: str) -> str:
        row = self.rows.row(name)
        if row not in self.values:
            variable = self.let(f"R[{row}] if idx is None else R[{row}][idx]")
            self.borrowed.add(variable)
            self.values[row] = variable
        return self.values[row]

    # results

    def set(self, operand: Operand, value: str) -> None:
        if not isinstance(operand, Register):
            raise Fault(f"{operand} is no register")
        if operand.name == "_":
            return
        self.set_row(self.scoped(operand.name), value, outlives=operand.name in self.block.live_out)

    def set_row(self, name: str, value: str, *, outlives: bool) -> None:
        row = self.rows.row(name)
        if self.guard is not None:
            old = self.register(name)
            value = self.let(f"np.where({self.guard}, {value}, {old})")
        self.values[row] = value
        self.written[row] = outlives

    def finish(self) -> BlockFunction:
        """Compile the function; what outlives the block goes back to its rows."""
        full, some, stored = [], [], set()
        for row, outlives in self.written.items():
            if not outlives:
                continue
            value = self.values[row]
            if value in self.uniform:
                full.append(f"R[{row}] = np.full(m.width, {value})")
            elif value in self.borrowed or value in stored:
                full.append(f"R[{row}] = {value}.copy()")
            else:
                full.append(
                    f"R[{row}] = np.broadcast_to({value}, m.width).copy() if {value}.ndim == 0 else {value}"
                )
            stored.add(value)
            some.append(f"m.row({row}, {value})[idx] = {value}")
        if full:
            self.lines += ["if idx is None:", *(f" {line}" for line in full)]
            self.lines += ["else:", *(f" {line}" for line in some)]
        result = f"return {self.outcome}" if self.outcome else "return None"
        body = "\n ".join([*self.lines, result])
        text = f"def block(R, idx, m):\n {body}\n"
        scope = dict(self.names)
        exec(compile(text, f"<{self.block.function.name}:{self.block.number}>", "exec"), scope)
        return scope["block"]


def translate(
    block: Block, rows: Rows, symbols: dict[str, int], kernel_parameters: dict[str, int]
) -> BlockFunction:
    """The block as a function of (rows, lane numbers or None, lanes); it returns what a branch depends on."""
    emitter = Emitter(block, rows, symbols, kernel_parameters)
    for instruction in block.body:
        _emit(emitter, instruction)
    return emitter.finish()


def _emit(emitter: Emitter, instruction: Instruction) -> None:
    guard = None
    if instruction.guard is not None:
        register, negated = instruction.guard
        guard = emitter.use(register, 1)
        if negated:
            guard = emitter.let(f"~{guard}", guard)
    if instruction.kind in ENDS:
        is_table = instruction.kind == "brx"
        emitter.outcome = emitter.use(instruction.operands[0], 32) if is_table else guard
        return
    if instruction.kind in WITHOUT_EFFECT:
        return
    emitter.guard = guard
    code = integer_code.INTEGER_CODE.get(instruction.kind) or MEMORY_CODE.get(instruction.kind)
    if code is None:
        raise Fault(f"this instruction is not known: {instruction.text}")
    code(emitter, instruction)
    emitter.guard = None
