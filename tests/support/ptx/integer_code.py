"""How each integer instruction is written down in numpy."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from tests.support.ptx import operations
from tests.support.ptx.parse import Fault, Immediate, Instruction, Operand, Register, Vector, type_bits

if TYPE_CHECKING:
    from tests.support.ptx.translate import Emitter

Code = Callable[["Emitter", Instruction], None]

INTEGER_CODE: dict[str, Code] = {}


def _code(*kinds: str) -> Callable[[Code], Code]:
    def register(function: Code) -> Code:
        for kind in kinds:
            INTEGER_CODE[kind] = function
        return function

    return register


def _unknown(instruction: Instruction) -> Fault:
    return Fault(f"this instruction is not known: {instruction.text}")


def _masked(e: "Emitter", expression: str, bits: int, *inputs: str) -> str:
    if bits == 64:
        return e.let(expression, *inputs)
    return e.let(f"({expression}) & {e.constant((1 << bits) - 1)}", *inputs)


def _sources(e: "Emitter", instruction: Instruction, bits: int) -> list[str]:
    return [e.use(operand, bits) for operand in instruction.operands[1:]]


# sums with carries


def _add_with_carry(e: "Emitter", bits: int, a: str, b: str, *, takes: bool, gives: bool) -> str:
    carry = _taken_carry(e, takes=takes)
    inputs = (a, b, *carry)
    if bits == 32:
        total = e.let(" + ".join(inputs), *inputs)
        if gives:
            e.carry = e.let(f"{total} >> {e.constant(32)}", total)
        return e.let(f"{total} & {e.constant(0xFFFFFFFF)}", total)
    partial = e.let(f"{a} + {b}", a, b)
    total = e.let(f"{partial} + {carry[0]}", partial, *carry) if carry else partial
    if gives:
        overflow = f"({partial} < {a})" + (f" | ({total} < {partial})" if carry else "")
        e.carry = e.let(f"({overflow}).astype(U)", *inputs)
    return total


def _subtract_with_borrow(e: "Emitter", bits: int, a: str, b: str, *, takes: bool, gives: bool) -> str:
    borrow = _taken_carry(e, takes=takes)
    inputs = (a, b, *borrow)
    if bits == 32:
        total = e.let(" - ".join(inputs), *inputs)
        if gives:
            e.carry = e.let(f"{total} >> {e.constant(63)}", total)
        return e.let(f"{total} & {e.constant(0xFFFFFFFF)}", total)
    partial = e.let(f"{a} - {b}", a, b)
    total = e.let(f"{partial} - {borrow[0]}", partial, *borrow) if borrow else partial
    if gives:
        underflow = f"({a} < {b})" + (f" | ({partial} < {total})" if borrow else "")
        e.carry = e.let(f"({underflow}).astype(U)", *inputs)
    return total


def _taken_carry(e: "Emitter", *, takes: bool) -> tuple[str, ...]:
    if not takes:
        return ()
    if e.carry is None:
        raise Fault(f"a carry is taken that nothing in this block of {e.block.function.name} gave")
    return (e.carry,)


@_code("add", "addc", "sub", "subc")
def _sum(e: "Emitter", instruction: Instruction) -> None:
    bits = type_bits(instruction.type)
    a, b = _sources(e, instruction, bits)
    takes, gives = instruction.kind.endswith("c"), "cc" in instruction.parts
    if gives and e.guard is not None:
        raise _unknown(instruction)
    is_addition = instruction.kind.startswith("add")
    if takes or gives:
        chain = _add_with_carry if is_addition else _subtract_with_borrow
        value = chain(e, bits, a, b, takes=takes, gives=gives)
    else:
        value = _masked(e, f"{a} {'+' if is_addition else '-'} {b}", bits, a, b)
    e.set(instruction.operands[0], value)


# products


def _product(e: "Emitter", instruction: Instruction, bits: int, a: str, b: str) -> str:
    """The product's part that the instruction names: lo, hi, or wide (all of it)."""
    part, is_signed = instruction.parts[1], instruction.type[0] == "s"
    if bits == 64:
        if part == "lo":
            return e.let(f"{a} * {b}", a, b)
        name = "multiply_high_64_signed" if is_signed else "multiply_high_64"
        return e.let(f"o.{name}({a}, {b})", a, b)
    if part == "lo" or not is_signed:
        whole = _whole_product(e, a, b)
    else:
        whole = e.let(f"o.signed({a}, {bits}) * o.signed({b}, {bits})", a, b)
    if part == "wide":
        return whole if bits == 32 else _masked(e, whole, 2 * bits, whole)
    return _masked(e, whole if part == "lo" else f"{whole} >> {e.constant(bits)}", bits, whole)


def _whole_product(e: "Emitter", a: str, b: str) -> str:
    known = e.products.get((a, b)) or e.products.get((b, a))
    if known is None:
        known = e.products[a, b] = e.let(f"{a} * {b}", a, b)
    return known


@_code("mul")
def _multiply(e: "Emitter", instruction: Instruction) -> None:
    bits = type_bits(instruction.type)
    a, b = _sources(e, instruction, bits)
    e.set(instruction.operands[0], _product(e, instruction, bits, a, b))


@_code("mad", "madc")
def _multiply_add(e: "Emitter", instruction: Instruction) -> None:
    bits = type_bits(instruction.type)
    wide = instruction.parts[1] == "wide"
    a, b = (e.use(operand, bits) for operand in instruction.operands[1:3])
    width = 2 * bits if wide else bits
    c = e.use(instruction.operands[3], width)
    product = _product(e, instruction, bits, a, b)
    takes, gives = instruction.kind == "madc", "cc" in instruction.parts
    if (gives and e.guard is not None) or (wide and (takes or gives)):
        raise _unknown(instruction)
    if takes or gives:
        value = _add_with_carry(e, bits, product, c, takes=takes, gives=gives)
    else:
        value = _masked(e, f"{product} + {c}", width, product, c)
    e.set(instruction.operands[0], value)


@_code("div", "rem")
def _divide(e: "Emitter", instruction: Instruction) -> None:
    bits = type_bits(instruction.type)
    a, b = _sources(e, instruction, bits)
    name = {"div": "divide", "rem": "remainder"}[instruction.kind]
    is_signed = instruction.type[0] == "s"
    e.set(instruction.operands[0], e.let(f"o.{name}({a}, {b}, {bits}, is_signed={is_signed})", a, b))


# bits


@_code("and", "or", "xor")
def _combine(e: "Emitter", instruction: Instruction) -> None:
    sign = {"and": "&", "or": "|", "xor": "^"}[instruction.kind]
    a, b = _bit_sources(e, instruction)
    e.set(instruction.operands[0], e.let(f"{a} {sign} {b}", a, b))


def _bit_sources(e: "Emitter", instruction: Instruction) -> list[str]:
    if instruction.type == "pred":
        return [e.predicate(operand) for operand in instruction.operands[1:]]
    return _sources(e, instruction, type_bits(instruction.type))


@_code("not")
def _not(e: "Emitter", instruction: Instruction) -> None:
    (a,) = _bit_sources(e, instruction)
    bits = 64 if instruction.type == "pred" else type_bits(instruction.type)
    e.set(instruction.operands[0], _masked(e, f"~{a}", bits, a))


@_code("neg")
def _negate(e: "Emitter", instruction: Instruction) -> None:
    bits = type_bits(instruction.type)
    (a,) = _sources(e, instruction, bits)
    e.set(instruction.operands[0], _masked(e, f"{e.constant(0)} - {a}", bits, a))


@_code("abs")
def _absolute(e: "Emitter", instruction: Instruction) -> None:
    bits = type_bits(instruction.type)
    (a,) = _sources(e, instruction, bits)
    value = f"np.where({a} & o.sign({bits}), {e.constant(0)} - {a}, {a})"
    e.set(instruction.operands[0], _masked(e, value, bits, a))


@_code("shl", "shr")
def _shift(e: "Emitter", instruction: Instruction) -> None:
    bits, count = type_bits(instruction.type), instruction.operands[2]
    a, n = e.use(instruction.operands[1], bits), e.use(count, 32)
    if instruction.kind == "shr" and instruction.type[0] == "s":
        value = e.let(f"o.shift_right_signed({a}, {n}, {bits})", a, n)
    elif isinstance(count, Immediate) and 0 <= count.value < bits:
        value = e.let(f"{a} >> {n}", a) if instruction.kind == "shr" else _masked(e, f"{a} << {n}", bits, a)
    else:
        name = {"shl": "shift_left", "shr": "shift_right"}[instruction.kind]
        value = e.let(f"o.{name}({a}, {n}, {bits})", a, n)
    e.set(instruction.operands[0], value)


@_code("shf")
def _funnel_shift(e: "Emitter", instruction: Instruction) -> None:
    low, high, count = _sources(e, instruction, 32)
    left, wraps = instruction.parts[1] == "l", instruction.parts[2] == "wrap"
    value = f"o.funnel({low}, {high}, {count}, left={left}, wraps={wraps})"
    e.set(instruction.operands[0], e.let(value, low, high, count))


@_code("bfe")
def _extract(e: "Emitter", instruction: Instruction) -> None:
    bits, is_signed = type_bits(instruction.type), instruction.type[0] == "s"
    a, start, length = _sources(e, instruction, bits)
    value = f"o.extract_bits({a}, {start}, {length}, {bits}, is_signed={is_signed})"
    e.set(instruction.operands[0], e.let(value, a, start, length))


@_code("bfi")
def _insert(e: "Emitter", instruction: Instruction) -> None:
    bits = type_bits(instruction.type)
    inputs = _sources(e, instruction, bits)
    e.set(instruction.operands[0], e.let(f"o.insert_bits({', '.join(inputs)}, {bits})", *inputs))


@_code("popc", "clz", "brev", "bfind")
def _count(e: "Emitter", instruction: Instruction) -> None:
    bits = type_bits(instruction.type)
    (a,) = _sources(e, instruction, bits)
    is_signed, from_top = instruction.type[0] == "s", "shiftamt" in instruction.parts
    value = {
        "popc": f"o.population({a})",
        "clz": f"o.leading_zeros({a}, {bits})",
        "brev": f"o.reverse_bits({a}, {bits})",
        "bfind": f"o.find_highest({a}, {bits}, is_signed={is_signed}, from_top={from_top})",
    }[instruction.kind]
    e.set(instruction.operands[0], e.let(value, a))


@_code("prmt")
def _permute(e: "Emitter", instruction: Instruction) -> None:
    if len(instruction.parts) > 2:
        raise _unknown(instruction)
    inputs = _sources(e, instruction, 32)
    e.set(instruction.operands[0], e.let(f"o.permute_bytes({', '.join(inputs)})", *inputs))


@_code("lop3")
def _logic(e: "Emitter", instruction: Instruction) -> None:
    table = instruction.operands[4]
    if not isinstance(table, Immediate):
        raise _unknown(instruction)
    inputs = [e.use(operand, 32) for operand in instruction.operands[1:4]]
    e.set(instruction.operands[0], e.let(f"o.logic3({', '.join(inputs)}, {table.value})", *inputs))


# choices


@_code("min", "max")
def _extreme(e: "Emitter", instruction: Instruction) -> None:
    bits = type_bits(instruction.type)
    a, b = _sources(e, instruction, bits)
    name = {"min": "smaller", "max": "larger"}[instruction.kind]
    e.set(instruction.operands[0], e.let(f"o.{name}({a}, {b}, {_flip(e, instruction)})", a, b))


def _flip(e: "Emitter", instruction: Instruction) -> str:
    """What turns the order of signed numbers into that of unsigned ones."""
    return e.constant(1 << (type_bits(instruction.type) - 1) if instruction.type[0] == "s" else 0)


@_code("setp")
def _compare(e: "Emitter", instruction: Instruction) -> None:
    bits, comparison = type_bits(instruction.type), operations.COMPARISONS[instruction.parts[1]]
    a, b = (e.use(operand, bits) for operand in instruction.operands[1:3])
    if instruction.type[0] == "s" and instruction.parts[1] not in {"eq", "ne"}:
        flip = _flip(e, instruction)
        value = e.let(f"({a} ^ {flip}) {comparison} ({b} ^ {flip})", a, b)
    else:
        value = e.let(f"{a} {comparison} {b}", a, b)
    opposite = None
    if isinstance(instruction.operands[0], Vector):
        opposite = e.let(f"~{value}", value)
    if len(instruction.operands) == 4:
        sign = {"and": "&", "or": "|", "xor": "^"}[instruction.parts[2]]
        other = e.predicate(instruction.operands[3])
        value = e.let(f"{value} {sign} {other}", value, other)
        opposite = opposite and e.let(f"{opposite} {sign} {other}", opposite, other)
    _set_all(e, instruction.operands[0], [value, opposite] if opposite else [value])


@_code("selp")
def _select(e: "Emitter", instruction: Instruction) -> None:
    bits = type_bits(instruction.type)
    a, b = (e.use(operand, bits) for operand in instruction.operands[1:3])
    choice = e.predicate(instruction.operands[3])
    e.set(instruction.operands[0], e.let(f"np.where({choice}, {a}, {b})", a, b, choice))


def _set_all(e: "Emitter", operand: Operand, values: list[str]) -> None:
    parts = operand.parts if isinstance(operand, Vector) else (operand,)
    for part, value in zip(parts, values, strict=True):
        e.set(part, value)


# moves


@_code("mov")
def _move(e: "Emitter", instruction: Instruction) -> None:
    target, source = instruction.operands
    if instruction.type == "pred":
        e.set(target, e.predicate(source))
        return
    bits = type_bits(instruction.type)
    if isinstance(target, Vector):
        part = bits // len(target.parts)
        whole = e.use(source, bits)
        values = [
            _masked(e, f"{whole} >> {e.constant(part * i)}", part, whole) for i in range(len(target.parts))
        ]
        _set_all(e, target, values)
    elif isinstance(source, Vector):
        part = bits // len(source.parts)
        pieces = [e.use(piece, part) for piece in source.parts]
        e.set(
            target,
            e.let(
                " | ".join(f"{piece} << {e.constant(part * i)}" for i, piece in enumerate(pieces)), *pieces
            ),
        )
    else:
        e.set(target, e.use(source, bits))


@_code("cvt")
def _convert(e: "Emitter", instruction: Instruction) -> None:
    if len(instruction.parts) != 3 or "f" in instruction.parts[1][0] + instruction.parts[2][0]:
        raise _unknown(instruction)
    to, source = instruction.parts[1:]
    target = instruction.operands[0]
    if not isinstance(target, Register):
        raise _unknown(instruction)
    a = e.use(instruction.operands[1], type_bits(source))
    value = a
    if not (source[0] != "s" and type_bits(source) <= type_bits(to) and type_bits(source) >= 32):
        value = _narrow(e, value, source)
    bits = type_bits(to)
    narrowed = _masked(e, value, bits, value) if bits < 64 else value
    if to[0] == "s" and bits < target.bits:
        narrowed = _masked(e, f"o.signed({narrowed}, {bits})", target.bits, narrowed)
    e.set(target, narrowed)


def _narrow(e: "Emitter", value: str, source: str) -> str:
    """The value as its type reads it, extended to 64 bits."""
    bits = type_bits(source)
    if bits == 64:
        return value
    low = _masked(e, value, bits, value)
    return e.let(f"o.signed({low}, {bits})", low) if source[0] == "s" else low
