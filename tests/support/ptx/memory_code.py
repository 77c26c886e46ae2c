"""How loads, stores, atomics, parameters, address conversions and warp operations are written down."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from tests.support.ptx.flow import slot_name
from tests.support.ptx.memory import TAG_SHIFT, WINDOWS, Access
from tests.support.ptx.operations import UPDATES
from tests.support.ptx.parse import Address, Fault, Instruction, Operand, Register, Symbol, Vector, type_bits
from tests.support.ptx.warps import Shuffle

if TYPE_CHECKING:
    from tests.support.ptx.translate import Emitter

Code = Callable[["Emitter", Instruction], None]

SPACES = {"global", "shared", "local", "const"}
CACHE_HINTS = {"ca", "cg", "cs", "cv", "lu", "wb", "wt", "v2", "v4", "v8", "weak", "nc"}
SHARED_BY_ALL = {"volatile", "relaxed", "acquire", "release", "acq_rel", "mmio"}

MEMORY_CODE: dict[str, Code] = {}


def _code(*kinds: str) -> Callable[[Code], Code]:
    def register(function: Code) -> Code:
        for kind in kinds:
            MEMORY_CODE[kind] = function
        return function

    return register


def _space(instruction: Instruction) -> str:
    for part in instruction.parts[1:]:
        space = part.split("-")[0]
        if space in SPACES:
            return space
    return "generic"


def _access_kind(instruction: Instruction) -> str:
    if SHARED_BY_ALL & set(instruction.parts):
        return "atomic"
    if "nc" in instruction.parts:
        return "constant"
    return "read" if instruction.kind in {"ld", "ldu"} else "write"


def _address(e: "Emitter", operand: Operand) -> str:
    if not isinstance(operand, Address):
        raise Fault(f"{operand} is no address")
    base = e.use(operand.base, 64)
    if operand.offset == 0:
        return base
    return e.let(f"{base} + {e.constant(operand.offset)}", base)


def _parts(operand: Operand) -> tuple[Operand, ...]:
    return operand.parts if isinstance(operand, Vector) else (operand,)


@_code("ld", "ldu")
def _load(e: "Emitter", instruction: Instruction) -> None:
    target, source = instruction.operands
    size = type_bits(instruction.type) // 8
    if (
        "param" in instruction.parts
        or "param-entry" in instruction.parts
        or "param-func" in instruction.parts
    ):
        _load_parameter(e, target, source, size)
        return
    access = e.bind(
        f"a{len(e.names)}",
        Access(_space(instruction), size, len(_parts(target)), _access_kind(instruction), instruction.text),
    )
    address = _address(e, source)
    value = e.let(f"m.load({address}, {access}, idx, {e.guard})")
    for number, part in enumerate(_parts(target)):
        element = e.let(f"{value}[{number}]")
        if instruction.type[0] == "s" and isinstance(part, Register) and part.bits > 8 * size:
            element = e.let(f"o.signed({element}, {8 * size}) & o.mask({part.bits})")
        e.set(part, element)


@_code("st")
def _store(e: "Emitter", instruction: Instruction) -> None:
    target, source = instruction.operands
    bits = type_bits(instruction.type)
    if "param" in instruction.parts or "param-func" in instruction.parts:
        _store_parameter(e, target, source, bits)
        return
    values = [e.use(part, bits) for part in _parts(source)]
    access = e.bind(
        f"a{len(e.names)}",
        Access(_space(instruction), bits // 8, len(values), _access_kind(instruction), instruction.text),
    )
    address = _address(e, target)
    e.lines.append(f"m.store({address}, {access}, ({', '.join(values)},), idx, {e.guard})")


# parameters: a kernel's are the same for all lanes, a function's are slots of four bytes at most


def _parameter_place(operand: Operand) -> tuple[str, int]:
    if not isinstance(operand, Address) or not isinstance(operand.base, Symbol):
        raise Fault(f"parameters through a pointer are not known: {operand}")
    return operand.base.name, operand.offset


def _load_parameter(e: "Emitter", target: Operand, source: Operand, size: int) -> None:
    name, offset = _parameter_place(source)
    for number, part in enumerate(_parts(target)):
        at = offset + number * size
        if e.block.function.is_entry and name in e.kernel_parameters:
            value = e.let(f"m.parameter({e.kernel_parameters[name] + at}, {size})", e.constant(0))
        else:
            value = _read_slots(e, name, at, size)
        e.set(part, value)


def _slots(e: "Emitter", name: str, offset: int, size: int) -> list[str]:
    variable = slot_name(e.block.function, name)
    variable = e.rows.aliases.get(variable, variable)
    return [f"{variable}+{offset + at}" for at in range(0, size, 4)]


def _read_slots(e: "Emitter", name: str, offset: int, size: int) -> str:
    words = [e.register(slot) for slot in _slots(e, name, offset, size)]
    if len(words) == 1:
        return words[0]
    return e.let(f"{words[0]} | ({words[1]} << {e.constant(32)})", *words)


def _store_parameter(e: "Emitter", target: Operand, source: Operand, bits: int) -> None:
    name, offset = _parameter_place(target)
    for number, part in enumerate(_parts(source)):
        value = e.use(part, bits)
        slots = _slots(e, name, offset + number * bits // 8, bits // 8)
        if len(slots) == 1:
            e.set_row(slots[0], value, outlives=True)
        else:
            e.set_row(slots[0], e.let(f"{value} & {e.constant(0xFFFFFFFF)}", value), outlives=True)
            e.set_row(slots[1], e.let(f"{value} >> {e.constant(32)}", value), outlives=True)


# addresses


@_code("cvta")
def _convert_address(e: "Emitter", instruction: Instruction) -> None:
    target, source = instruction.operands
    window = WINDOWS.get(_space(instruction), 0)
    address = e.use(source, 64)
    if instruction.parts[1] == "to":
        value = e.let(f"m.untag({address}, {window}, {instruction.text!r})", address)
    else:
        value = e.let(f"{address} | {e.constant(window << TAG_SHIFT)}", address)
    e.set(target, value)


@_code("isspacep")
def _is_of_space(e: "Emitter", instruction: Instruction) -> None:
    address = e.use(instruction.operands[1], 64)
    window = e.constant(WINDOWS.get(_space(instruction), 0))
    e.set(instruction.operands[0], e.let(f"({address} >> {e.constant(TAG_SHIFT)}) == {window}", address))


# atomics


@_code("atom", "red")
def _atomic(e: "Emitter", instruction: Instruction) -> None:
    name = next(part for part in instruction.parts[1:] if part in UPDATES)
    bits = type_bits(instruction.type)
    operands = list(instruction.operands)
    target = operands.pop(0) if instruction.kind == "atom" else None
    address = _address(e, operands[0])
    values = [e.use(operand, bits) for operand in operands[1:]]
    is_signed = instruction.type[0] == "s" and name in {"min", "max"}
    access = Access(_space(instruction), bits // 8, 1, "atomic", instruction.text, name, is_signed)
    bound = e.bind(f"a{len(e.names)}", access)
    old = e.let(f"m.update({address}, {bound}, ({', '.join(values)},), idx, {e.guard})")
    if target is not None:
        e.set(target, old)


# warps: these stand at the start of their block, so that what they read is in its row


@_code("shfl")
def _shuffle(e: "Emitter", instruction: Instruction) -> None:
    target, source, lane, clamp, members = instruction.operands
    if not isinstance(source, Register) or e.guard is not None:
        raise Fault(f"this instruction is not known: {instruction.text}")
    row = e.rows.row(e.scoped(source.name))
    how = e.bind(f"s{len(e.names)}", Shuffle(instruction.parts[2], row, instruction.text))
    step, top, named = e.use(lane, 32), e.use(clamp, 32), e.use(members, 32)
    value = e.let(f"m.shuffle({how}, {step}, {top}, {named}, idx)")
    for number, part in enumerate(_parts(target)):
        e.set(part, e.let(f"{value}[{number}]"))


@_code("vote")
def _vote(e: "Emitter", instruction: Instruction) -> None:
    target, source, members = instruction.operands
    value = e.predicate(source)
    e.set(target, e.let(f"m.vote({instruction.parts[2]!r}, {value}, {e.use(members, 32)}, idx)"))


@_code("match")
def _match(e: "Emitter", instruction: Instruction) -> None:
    target, source, members = instruction.operands
    if instruction.parts[1] != "any":
        raise Fault(f"this instruction is not known: {instruction.text}")
    value = e.use(source, type_bits(instruction.type))
    e.set(target, e.let(f"m.match({value}, {e.use(members, 32)}, idx)"))


@_code("activemask")
def _active(e: "Emitter", instruction: Instruction) -> None:
    e.set(instruction.operands[0], e.let("m.active(idx)"))


@_code("trap")
def _trap(e: "Emitter", instruction: Instruction) -> None:
    e.lines.append(f"m.trap({e.guard}, {instruction.text!r})")
