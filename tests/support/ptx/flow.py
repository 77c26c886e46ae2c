"""Functions cut into basic blocks, and which registers a block takes and must leave behind."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from tests.support.ptx.parse import (
    Address,
    Fault,
    Function,
    Instruction,
    Module,
    Operand,
    Register,
    Symbol,
    Vector,
)

WARP_SYNCHRONOUS = {"shfl", "vote", "match"}
LEAVING = {"ret", "exit"}


def is_warp_synchronous(instruction: Instruction) -> bool:
    """Must the lanes that its mask names be at it together?"""
    parts = instruction.parts
    return parts[0] in WARP_SYNCHRONOUS or parts[:2] in {("bar", "warp"), ("barrier", "warp")}


def is_barrier(instruction: Instruction) -> bool:
    """Is it a barrier of the whole block?"""
    return instruction.kind in {"bar", "barrier"} and not is_warp_synchronous(instruction)


def ends_block(instruction: Instruction) -> bool:
    return instruction.kind in {"bra", "brx", "call"} | LEAVING or is_barrier(instruction)


@dataclass(slots=True)
class Block:
    """Instructions that run one after another; `number` is its place in the order of scheduling."""

    number: int
    function: Function
    body: list[Instruction]
    start: int
    successors: list[int] = field(default_factory=list)
    targets: list[int] = field(default_factory=list)
    callee: str | None = None
    live_out: set[str] = field(default_factory=set)

    @property
    def last(self) -> Instruction:
        return self.body[-1]

    @property
    def ends_at_barrier(self) -> bool:
        return is_barrier(self.last)


@dataclass(slots=True)
class Flow:
    """Every reachable function of a kernel. Callees come first: lanes inside of one run before those that
    wait for it, so that lanes which went apart meet again."""

    blocks: list[Block]
    entries: dict[str, int]
    aliases: dict[str, str]


def build(module: Module, kernel: str) -> Flow:
    """Cut the kernel and all it calls into blocks. Raises Fault where the kernel is missing or recursive."""
    if kernel not in module.functions or not module.functions[kernel].is_entry:
        raise Fault(f"there is no kernel {kernel}")
    flow = Flow([], {}, {})
    for function in _callees_first(module, kernel, ()):
        if function.name not in flow.entries:
            flow.entries[function.name] = len(flow.blocks)
            blocks = _cut(function, len(flow.blocks))
            _find_live_registers(blocks)
            flow.blocks.extend(blocks)
            flow.aliases.update(_parameter_aliases(function, module))
    return flow


def _callees_first(module: Module, name: str, above: tuple[str, ...]) -> Iterator[Function]:
    if name in above:
        raise Fault(f"{name} calls itself")
    if name not in module.functions:
        raise Fault(f"there is no function {name}")
    function = module.functions[name]
    for instruction in function.body:
        if instruction.kind == "call":
            yield from _callees_first(module, _call_parts(instruction)[1], (*above, name))
    yield function


def _call_parts(call: Instruction) -> tuple[list[str], str, list[str]]:
    """The names of what a call returns into, of the function, and of what it passes."""
    at = 1 if isinstance(call.operands[0], Vector) else 0
    target = call.operands[at]
    if not isinstance(target, Symbol):
        raise Fault(f"calls through a pointer are not known: {call.text}")
    results = _names(call.operands[0]) if at else []
    arguments = _names(call.operands[at + 1]) if len(call.operands) > at + 1 else []
    return results, target.name, arguments


def _names(operand: Operand) -> list[str]:
    if not isinstance(operand, Vector):
        raise Fault(f"{operand} is not a list")
    return [part.name for part in operand.parts if isinstance(part, Symbol | Register)]


def _parameter_aliases(caller: Function, module: Module) -> dict[str, str]:
    """The caller's names of parameter variables to the callee's: both are the same slots."""
    aliases = {}
    for call in caller.body:
        if call.kind == "call":
            results, name, arguments = _call_parts(call)
            callee = module.functions[name]
            formal = [*callee.results, *callee.parameters]
            for actual, variable in zip([*results, *arguments], formal, strict=True):
                aliases[slot_name(caller, actual)] = slot_name(callee, variable.name)
    return aliases


def slot_name(function: Function, variable: str) -> str:
    return f"{function.name}:{variable}"


def _cut(function: Function, first: int) -> list[Block]:
    starts = {0, *function.labels.values()}
    for at, instruction in enumerate(function.body):
        if ends_block(instruction):
            starts.add(at + 1)
        if is_warp_synchronous(instruction):
            starts.add(at)
    starts = {start for start in starts if start < len(function.body)}
    order = sorted(starts)
    number_at = {start: first + place for place, start in enumerate(order)}
    blocks = []
    for place, start in enumerate(order):
        end = order[place + 1] if place + 1 < len(order) else len(function.body)
        block = Block(number_at[start], function, function.body[start:end], start)
        _connect(block, number_at.get(end), number_at)
        blocks.append(block)
    return blocks


def _connect(block: Block, following: int | None, number_at: dict[int, int]) -> None:
    last, function = block.last, block.function
    if last.kind == "bra":
        block.targets = [_target(function, last.operands[0], number_at)]
    elif last.kind == "brx":
        table = last.operands[1]
        if not isinstance(table, Symbol):
            raise Fault(f"cannot read {last.text}")
        block.targets = [_target(function, Symbol(name), number_at) for name in function.tables[table.name]]
    elif last.kind == "call":
        block.callee = _call_parts(last)[1]
    falls_through = last.kind not in {"bra", "brx"} | LEAVING or last.guard is not None
    block.successors = [*block.targets]
    if falls_through:
        if following is None:
            raise Fault(f"{function.name} runs past its end")
        block.successors.append(following)


def _target(function: Function, operand: Operand, number_at: dict[int, int]) -> int:
    if not isinstance(operand, Symbol) or operand.name not in function.labels:
        raise Fault(f"{operand} is not a label of {function.name}")
    return number_at[function.labels[operand.name]]


def registers_in(operand: Operand) -> Iterator[str]:
    match operand:
        case Register(name=name):
            yield name
        case Address(base=base):
            yield from registers_in(base)
        case Vector(parts=parts):
            for part in parts:
                yield from registers_in(part)


STORES = {"st", "red", "bra", "brx", "bar", "barrier", "call", "prefetch"}


def written(instruction: Instruction) -> list[str]:
    """The registers that it sets."""
    if instruction.kind in STORES or not instruction.operands:
        return []
    return list(registers_in(instruction.operands[0]))


def read(instruction: Instruction) -> list[str]:
    """The registers that it takes; those that a guarded instruction sets too, for it may keep them."""
    sources = instruction.operands if instruction.kind in STORES else instruction.operands[1:]
    names = [name for operand in sources for name in registers_in(operand)]
    if instruction.guard is not None:
        names.append(instruction.guard[0].name)
        names.extend(written(instruction))
    return names


def _find_live_registers(blocks: list[Block]) -> None:
    takes, sets = {}, {}
    for block in blocks:
        taken: set[str] = set()
        defined: set[str] = set()
        for instruction in block.body:
            taken.update(name for name in read(instruction) if name not in defined)
            defined.update(written(instruction))
        takes[block.number], sets[block.number] = taken, defined
    live_in = {number: set(names) for number, names in takes.items()}
    changed = True
    while changed:
        changed = False
        for block in reversed(blocks):
            out = {name for number in block.successors for name in live_in[number]}
            block.live_out = out & sets[block.number]
            new = takes[block.number] | (out - sets[block.number])
            if new != live_in[block.number]:
                live_in[block.number] = new
                changed = True
