"""The product kernels of the AVX2 engine as inline assembly, with a bound on every column.

A kernel adds up the columns of a product row by row; after each row it adds the multiple of the modulus that
makes the lowest column vanish (Montgomery). Generated rather than left to the compiler because the columns,
one multiplier and two temporaries fill the 16 registers exactly: compilers spill when they schedule the
intrinsics themselves.

Every step that is written is also carried out on intervals. Columns may wrap around while they are added up;
what counts is their true value when they are shifted, masked or handed over: it must be in [0, 2^64).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from kernels.csrc.generate.intervals import SIGNED_32, UNSIGNED_64, Interval, exactly, up_to
from kernels.csrc.generate.vector_fields import BIAS, VectorField, fields_of_shape

VECTOR_BYTES = 32
Limbs = Sequence[Interval]


@dataclass(frozen=True, slots=True)
class ConstantTable:
    """Where the constants of a field lie, in vectors, in the table that the assembly is handed."""

    limbs: int

    @property
    def modulus(self) -> int:
        return 0

    @property
    def shifted_modulus(self) -> int:
        return self.limbs

    @property
    def bias(self) -> int:
        return 2 * self.limbs

    @property
    def bias_without_carry(self) -> int:
        return 2 * self.limbs + 1

    @property
    def mask(self) -> int:
        return 2 * self.limbs + 2

    @property
    def quotient_factor(self) -> int:
        return 2 * self.limbs + 3

    @property
    def size(self) -> int:
        return 2 * self.limbs + 4


class Kernel:
    """One kernel being written for the fields of one shape, or for a single one of them."""

    def __init__(self, fields: Sequence[VectorField], operands: dict[str, Limbs]) -> None:
        self.limbs, self.bits = fields[0].limbs, fields[0].bits
        self.carry_bias = fields[0].carry_bias
        self.modulus = self._largest([field.split(field.modulus) for field in fields])
        self.shifted_modulus = self._largest([field.split(field.shifted_modulus) for field in fields])
        self.operands = {
            name: [limb.require(SIGNED_32, f"limb {i} of {name}") for i, limb in enumerate(limbs)]
            for name, limbs in operands.items()
        }
        self.constants = ConstantTable(self.limbs)
        self.lines: list[str] = []
        self.columns = [f"t{i}" for i in range(self.limbs)]
        self.bounds: dict[str, Interval] = {}
        self.temporaries = ["u0", "u1"] if self.limbs < 13 else ["u0"]
        self.turn = 0

    @staticmethod
    def _largest(values: list[list[int]]) -> list[Interval]:
        return [up_to(max(column)) for column in zip(*values, strict=True)]

    def write(self, instruction: str) -> None:
        self.lines.append(instruction)

    def constant(self, index: int) -> str:
        return f"{VECTOR_BYTES * index}(%[k])"

    def register(self, column: int) -> str:
        return f"%[{self.columns[column]}]"

    def multiply_add(self, source: str, column: int, product: Interval) -> None:
        """column += source * q"""
        self.turn = (self.turn + 1) % len(self.temporaries)
        temporary = f"%[{self.temporaries[self.turn]}]"
        self.write(f"vpmuldq {source}, %[q], {temporary}")
        self.write(f"vpaddq {temporary}, {self.register(column)}, {self.register(column)}")
        self.bounds[self.columns[column]] += product

    def multiply_start(self, source: str, column: int, product: Interval, *, lowest: bool) -> None:
        """column = source * q + bias"""
        bias = BIAS if lowest else BIAS - self.carry_bias
        index = self.constants.bias if lowest else self.constants.bias_without_carry
        self.write(f"vpmuldq {source}, %[q], {self.register(column)}")
        self.write(f"vpaddq {self.constant(index)}, {self.register(column)}, {self.register(column)}")
        self.bounds[self.columns[column]] = product + exactly(bias)

    def product_row(self, left: str, right: str, row: int, *, first: bool) -> None:
        """Add limb `row` of `right` times all of `left`."""
        self.write(f"vmovdqa {VECTOR_BYTES * row}(%[{right}]), %[q]")
        for j in range(self.limbs):
            source, product = (
                f"{VECTOR_BYTES * j}(%[{left}])",
                self.operands[left][j] * self.operands[right][row],
            )
            if first:
                self.multiply_start(source, j, product, lowest=j == 0)
            else:
                self.multiply_add(source, j, product)

    def square_row(self, row: int, *, first: bool) -> None:
        """Add limb `row` of `a` times itself and times the higher limbs of `twice`, which is 2 a."""
        self.write(f"vmovdqa {VECTOR_BYTES * row}(%[a]), %[q]")
        factor = self.operands["a"][row]
        for j in range(row, self.limbs):
            diagonal = j == row
            source = "%[q]" if diagonal else f"{VECTOR_BYTES * j}(%[twice])"
            product = factor.squared() if diagonal else factor * self.operands["twice"][j]
            if first:
                self.multiply_start(source, j, product, lowest=j == 0)
            else:
                self.multiply_add(source, j, product)

    def settled(self, column: int) -> Interval:
        """The bound of a column whose true value is about to be used."""
        return self.bounds[self.columns[column]].require(UNSIGNED_64, f"column {column}")

    def carry_lowest(self) -> None:
        self.bounds[self.columns[1]] += self.settled(0) >> self.bits

    def reduce_row(self) -> None:
        """Add q k p with k p = -1 modulo the base: q is the lowest column itself, and the column vanishes."""
        low, quotient = self.register(0), up_to((1 << self.bits) - 1)
        self.write(f"vpand {self.constant(self.constants.mask)}, {low}, %[q]")
        self.write(f"vpsrlq ${self.bits}, {low}, {low}")
        self.write(f"vpaddq {low}, {self.register(1)}, {self.register(1)}")
        self.carry_lowest()
        shifted = self.constants.shifted_modulus
        for j in range(self.limbs - 1):
            self.multiply_add(self.constant(shifted + j), j + 1, quotient * self.shifted_modulus[j])
        last = self.limbs - 1
        self.multiply_start(
            self.constant(shifted + last), 0, quotient * self.shifted_modulus[last], lowest=False
        )
        self.columns = self.columns[1:] + self.columns[:1]

    def reduce_last(self) -> None:
        """Add q p, so that the value ends below a b / R + 2 p."""
        low, quotient = self.register(0), up_to((1 << self.bits) - 1)
        self.write(f"vpmuludq {self.constant(self.constants.quotient_factor)}, {low}, %[q]")
        self.write(f"vpand {self.constant(self.constants.mask)}, %[q], %[q]")
        for j in range(self.limbs):
            self.multiply_add(self.constant(self.constants.modulus + j), j, quotient * self.modulus[j])
            if j == 0:
                self.write(f"vpsrlq ${self.bits}, {low}, {low}")
        self.write(f"vpaddq {low}, {self.register(1)}, {self.register(1)}")
        self.carry_lowest()
        self.columns = self.columns[1:] + self.columns[:1]

    def reduce(self, row: int) -> None:
        if row < self.limbs - 1:
            self.reduce_row()
        else:
            self.reduce_last()

    def column_bounds(self) -> list[Interval]:
        """Bounds of the columns that are handed over: biased, before the last carries."""
        return [self.settled(j) for j in range(self.limbs - 1)]

    def function(self, name: str) -> list[str]:
        """The kernel as a static member function."""
        pointers = list(self.operands)
        registers = [f"t{i}" for i in range(self.limbs)] + ["q", *self.temporaries]
        outputs = ", ".join(f'[{register}] "=&x"({register})' for register in registers)
        inputs = ", ".join(f'[{pointer}] "r"({pointer})' for pointer in [*pointers, "k"])
        # The operands as a whole are inputs too, so that no "memory" clobber is needed.
        memory = ", ".join(f'"m"(*(const __m256i(*)[{self.limbs}]){pointer})' for pointer in pointers)
        arguments = ", ".join(f"const __m256i* {pointer}" for pointer in [*pointers, "k"])
        return [
            f"  [[gnu::always_inline]] static inline void {name}(__m256i* columns, {arguments}) {{",
            f"    __m256i {', '.join(registers)};",
            "    __asm__(",
            *(f'        "{line}\\n\\t"' for line in self.lines),
            f"        : {outputs}",
            f"        : {inputs}, {memory});",
            *(f"    columns[{j}] = {self.columns[j]};" for j in range(self.limbs - 1)),
            "  }",
        ]


def multiply(fields: Sequence[VectorField], a: Limbs, b: Limbs) -> Kernel:
    """a b"""
    kernel = Kernel(fields, {"a": a, "b": b})
    for row in range(kernel.limbs):
        kernel.product_row("a", "b", row, first=row == 0)
        kernel.reduce(row)
    return kernel


def multiply_sum(fields: Sequence[VectorField], a: Limbs, b: Limbs, c: Limbs, d: Limbs) -> Kernel:
    """a b + c d, reduced together"""
    kernel = Kernel(fields, {"a": a, "b": b, "c": c, "d": d})
    for row in range(kernel.limbs):
        kernel.product_row("a", "b", row, first=row == 0)
        kernel.product_row("c", "d", row, first=False)
        kernel.reduce(row)
    return kernel


def square(fields: Sequence[VectorField], a: Limbs) -> Kernel:
    """a^2; the caller hands over 2 a as well"""
    kernel = Kernel(fields, {"a": a, "twice": [limb + limb for limb in a]})
    for row in range(kernel.limbs):
        kernel.square_row(row, first=row == 0)
        kernel.reduce(row)
    return kernel


def even_limbs(limbs: int, bound: Interval) -> Limbs:
    return [bound] * limbs


# What each kernel takes at least, for any field of the shape: limb magnitudes in units of 2^bits.
# Fields with tighter moduli and particular formulas may go further; vector_bounds.py follows those.
DOCUMENTED: dict[str, tuple[Callable[..., Kernel], tuple[int, ...]]] = {
    "multiply": (multiply, (2, 1)),
    "multiply_sum": (multiply_sum, (1, 1, 1, 1)),
    "square": (square, (1,)),
}


def check_kernel(name: str, limbs: int, bits: int, magnitudes: Sequence[int]) -> Kernel:
    """The named kernel of a shape, checked for limbs up to the given magnitudes, in either sign.

    Raises BoundError when a column could leave 64 bits or an operand 32 bits.
    """
    build, documented = DOCUMENTED[name]
    if len(magnitudes) != len(documented):
        raise ValueError(f"{name} takes {len(documented)} operands")
    operands = [even_limbs(limbs, up_to(magnitude).symmetric()) for magnitude in magnitudes]
    return build(fields_of_shape(limbs, bits), *operands)


def kernel_lines(limbs: int, bits: int) -> list[str]:
    """The kernels of one shape."""
    lines = ["template <>", f"struct product_kernels<{limbs}, {bits}> {{"]
    for name, (_, units) in DOCUMENTED.items():
        kernel = check_kernel(name, limbs, bits, [unit << bits for unit in units])
        bounds = " and ".join(
            f"{unit} 2^{bits}" if unit > 1 else f"2^{bits}" for unit in dict.fromkeys(units)
        )
        lines.append(f"  // Limb magnitudes up to {bounds}.")
        lines.extend(kernel.function(name))
    lines.append("};")
    return lines
