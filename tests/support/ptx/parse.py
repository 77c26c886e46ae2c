"""PTX text as data: variables, functions, instructions and their operands."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any


class Fault(Exception):  # noqa: N818 - what the hardware calls it
    """The program did what no correct program does, or the text holds what this interpreter does not know."""


@dataclass(frozen=True, slots=True)
class Register:
    name: str
    bits: int  # 1 for a predicate


@dataclass(frozen=True, slots=True)
class Immediate:
    value: int


@dataclass(frozen=True, slots=True)
class Symbol:
    name: str


@dataclass(frozen=True, slots=True)
class Address:
    base: "Register | Symbol | Immediate"
    offset: int


@dataclass(frozen=True, slots=True)
class Vector:
    parts: "tuple[Operand, ...]"


Operand = Register | Immediate | Symbol | Address | Vector


@dataclass(frozen=True, slots=True)
class Instruction:
    """`parts` are the words of the opcode; `guard` is a predicate and whether it is negated."""

    parts: tuple[str, ...]
    operands: tuple[Operand, ...]
    guard: tuple[Register, bool] | None
    text: str

    @property
    def kind(self) -> str:
        return self.parts[0]

    @property
    def type(self) -> str:
        return self.parts[-1]


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable of a state space; `data` is its initial value, zeros where the text gives none."""

    space: str
    name: str
    align: int
    data: bytes
    dynamic: bool = False


@dataclass(slots=True)
class Function:
    name: str
    is_entry: bool
    parameters: list[Variable] = field(default_factory=list)
    results: list[Variable] = field(default_factory=list)
    variables: list[Variable] = field(default_factory=list)
    body: list[Instruction] = field(default_factory=list)
    labels: dict[str, int] = field(default_factory=dict)
    tables: dict[str, list[str]] = field(default_factory=dict)


@dataclass(slots=True, eq=False)
class Module:
    """`programs` keeps what was made of its kernels, for the next machine that runs them."""

    variables: list[Variable] = field(default_factory=list)
    functions: dict[str, Function] = field(default_factory=dict)
    programs: dict[Any, Any] = field(default_factory=dict)


_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_HEADER = re.compile(r"((?:\.(?:visible|weak|extern)\s+)*)\.(entry|func)\b")
_LABEL = re.compile(r"([$\w]+):(?!:)")
_LINE_DIRECTIVE = re.compile(r"\.(?:loc|file|version|target|address_size)\b[^\n;]*;?")
_VARIABLE = re.compile(
    r"(?:\.(?:visible|weak|extern|common)\s+)*\.(global|const|shared|local|param)\s+"
    r"((?:\.\w+(?:\s+\d+)?\s+)*)([$%\w]+)\s*(\[\d*\])?\s*(?:=\s*(.*))?$",
    re.DOTALL,
)
_REGISTERS = re.compile(r"\.reg\s+\.(\w+)\s+(.*)$", re.DOTALL)
_GUARD = re.compile(r"@(!?)\s*(%[\w.]+)\s+")
_ADDRESS = re.compile(r"\[\s*([%$\w.]+)\s*(?:\+\s*(-?\w+)|-\s*(\w+))?\s*\]")
_INTEGER = re.compile(r"-?(0[xX][0-9a-fA-F]+|0[bB][01]+|\d+)U?$")


def type_bits(name: str) -> int:
    """The width of a type as PTX spells it."""
    return 1 if name == "pred" else int(name[1:])


def parse(text: str) -> Module:
    """Read a module. Raises Fault at what it cannot read."""
    text = _COMMENT.sub(" ", text)
    module = Module()
    at = 0
    while at < len(text):
        if text[at].isspace() or text[at] == ";":
            at += 1
        elif found := _LINE_DIRECTIVE.match(text, at):
            at = found.end()
        elif found := _HEADER.match(text, at):
            at = _parse_function(text, found, module)
        else:
            end = text.index(";", at)
            module.variables.append(_parse_variable(text[at:end].strip()))
            at = end + 1
    return module


def _parse_function(text: str, header: re.Match[str], module: Module) -> int:
    end = min(place for place in (text.find("{", header.end()), text.find(";", header.end())) if place >= 0)
    signature = text[header.end() : end]
    groups = re.findall(r"\(([^()]*)\)", signature)
    names = re.findall(r"[$\w]+", re.sub(r"\([^()]*\)", " ", signature))
    has_result = signature.lstrip().startswith("(")
    function = Function(names[0], header.group(2) == "entry")
    parameters = groups[1:] if has_result else groups[:1]
    function.results = _parse_parameters(groups[0]) if has_result else []
    function.parameters = _parse_parameters(parameters[0]) if parameters else []
    if text[end] == ";":
        return end + 1
    end = _BodyReader(text, end, function).read()
    module.functions[function.name] = function
    return end


def _parse_parameters(text: str) -> list[Variable]:
    return [_parse_variable(part.strip()) for part in text.split(",") if part.strip()]


def _parse_variable(text: str) -> Variable:
    found = _VARIABLE.match(text)
    if not found:
        raise Fault(f"cannot read {text[:80]!r}")
    space, words, name, extent, initial = found.groups()
    kinds = re.findall(r"\.(\w+)(?:\s+(\d+))?", words)
    align = next((int(value) for word, value in kinds if word == "align"), 0)
    element = type_bits(next(word for word, _ in kinds if re.fullmatch(r"[busf]\d+", word))) // 8
    values = _initial_values(initial)
    dynamic = extent == "[]" and initial is None
    count = len(values) if extent == "[]" else int(extent[1:-1]) if extent else 1
    data = b"".join((value % (1 << 8 * element)).to_bytes(element, "little") for value in values)
    return Variable(space, name, max(align, element), data.ljust(count * element, b"\0"), dynamic)


def _initial_values(text: str | None) -> list[int]:
    if text is None:
        return []
    return [_integer(part.strip()) for part in text.strip().strip("{}").split(",")]


def _integer(text: str) -> int:
    if not _INTEGER.match(text):
        raise Fault(f"{text!r} is not an integer")
    return int(text.rstrip("U"), 0)


class _BodyReader:
    """Reads one function's statements; registers and parameters declared in an inner scope get a name of
    their own."""

    def __init__(self, text: str, start: int, function: Function) -> None:
        self.text = text
        self.at = start
        self.function = function
        self.scopes: list[dict[str, tuple[str, int]]] = []
        self.ranges: dict[str, int] = {}
        self.opened = 0

    def read(self) -> int:
        while True:
            self._skip_space()
            character = self.text[self.at]
            if character == "{":
                self.scopes.append({})
                self.opened += 1
                self.at += 1
            elif character == "}":
                self.scopes.pop()
                self.at += 1
                if not self.scopes:
                    return self.at
            elif found := _LINE_DIRECTIVE.match(self.text, self.at):
                self.at = found.end()
            elif found := _LABEL.match(self.text, self.at):
                self.at = found.end()
                self._label(found.group(1))
            else:
                self._statement(self._take())

    def _skip_space(self) -> None:
        while self.text[self.at].isspace() or self.text[self.at] == ";":
            self.at += 1

    def _take(self) -> str:
        end = self.text.index(";", self.at)
        statement = " ".join(self.text[self.at : end].split())
        self.at = end + 1
        return statement

    def _label(self, name: str) -> None:
        self._skip_space()
        if self.text.startswith(".branchtargets", self.at):
            targets = self._take().removeprefix(".branchtargets")
            self.function.tables[name] = [target.strip() for target in targets.split(",")]
        else:
            self.function.labels[name] = len(self.function.body)

    def _statement(self, text: str) -> None:
        if text.startswith(".reg"):
            self._declare_registers(text)
        elif text.startswith((".param", ".local", ".shared")):
            variable = _parse_variable(text)
            inner = self._declare(variable.name, 0)
            if variable.space != "param":
                renamed = Variable(variable.space, inner, variable.align, variable.data, variable.dynamic)
                self.function.variables.append(renamed)
        elif not text.startswith(".pragma"):
            self.function.body.append(self._instruction(text))

    def _declare(self, name: str, bits: int) -> str:
        inner = name if len(self.scopes) == 1 else f"{name}@{self.opened}"
        self.scopes[-1][name] = (inner, bits)
        return inner

    def _declare_registers(self, text: str) -> None:
        found = _REGISTERS.match(text)
        if not found:
            raise Fault(f"cannot read {text!r}")
        bits = type_bits(found.group(1))
        for name in found.group(2).split(","):
            ranged = re.fullmatch(r"\s*(%?[$\w]+?)<(\d+)>\s*", name)
            if ranged:
                for number in range(int(ranged.group(2))):
                    self._declare(f"{ranged.group(1)}{number}", bits)
            else:
                self._declare(name.strip(), bits)

    def _instruction(self, text: str) -> Instruction:
        rest, guard = text, None
        if found := _GUARD.match(text):
            guard = (self._register(found.group(2)), found.group(1) == "!")
            rest = text[found.end() :]
        opcode, _, operands = rest.partition(" ")
        return Instruction(
            tuple(opcode.replace("::", "-").split(".")),
            tuple(self._operand(part) for part in _split(operands)),
            guard,
            text,
        )

    def _register(self, name: str) -> Register:
        operand = self._operand(name)
        if not isinstance(operand, Register):
            raise Fault(f"{name} is not a register")
        return operand

    def _operand(self, text: str) -> Operand:
        if text[0] in "{(":
            return Vector(tuple(self._operand(part) for part in _split(text[1:-1])))
        if "|" in text:
            return Vector(tuple(self._operand(part) for part in text.split("|")))
        if text[0] == "[":
            return self._address(text)
        if _INTEGER.match(text):
            return Immediate(_integer(text))
        for scope in reversed(self.scopes):
            if text in scope:
                name, bits = scope[text]
                return Register(name, bits) if bits else Symbol(name)
        return Register(text, 32) if text[0] == "%" else Symbol(text)

    def _address(self, text: str) -> Address:
        found = _ADDRESS.fullmatch(text)
        if not found:
            raise Fault(f"cannot read the address {text!r}")
        base = self._operand(found.group(1))
        if isinstance(base, Address | Vector):
            raise Fault(f"cannot read the address {text!r}")
        up, down = found.group(2), found.group(3)
        return Address(base, _integer(up) if up else -_integer(down) if down else 0)


def _split(text: str) -> list[str]:
    """The operands between the commas that no bracket encloses."""
    return [part.strip() for part in _pieces(text) if part.strip()]


def _pieces(text: Sequence[str]) -> Iterator[str]:
    depth, piece = 0, ""
    for character in text:
        depth += (character in "{[(") - (character in "}])")
        if character == "," and depth == 0:
            yield piece
            piece = ""
        else:
            piece += character
    yield piece
