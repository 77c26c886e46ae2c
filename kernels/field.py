"""Arithmetic on arrays of field elements.

An array is (n, words) uint64, little-endian words, C-contiguous. "Montgomery" means times R = 2^(64 words)
modulo the field's modulus; every value is below the modulus. Where two operands are taken, one of them may
be a single element, (1, words).
"""

import ctypes
from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from kernels.curves import Curve
from kernels.native import Words, address, call, words


@dataclass(frozen=True, slots=True)
class Field:
    """One of the two fields of a curve."""

    curve: Curve
    scalar: bool

    @property
    def name(self) -> str:
        """ "Fr" or "Fq"."""
        return "Fr" if self.scalar else "Fq"

    @property
    def modulus(self) -> int:
        """How many elements it has."""
        return self.curve.r if self.scalar else self.curve.q

    @property
    def words(self) -> int:
        """64-bit words of one element."""
        return self.curve.fr_words if self.scalar else self.curve.fq_words


class _Operation(IntEnum):
    MULTIPLY = 0
    ADD = 1
    SUBTRACT = 2
    INVERT = 3
    TO_MONTGOMERY = 4
    FROM_MONTGOMERY = 5


def scalar_field(curve: Curve) -> Field:
    """Fr: scalars, witnesses, evaluations."""
    return Field(curve, scalar=True)


def base_field(curve: Curve) -> Field:
    """Fq: coordinates."""
    return Field(curve, scalar=False)


def mul(field: Field, a: Words, b: Words) -> Words:
    """a b, all in Montgomery form. Raises ValueError for arrays of another shape or dtype."""
    return _binary(_Operation.MULTIPLY, field, a, b)


def add(field: Field, a: Words, b: Words) -> Words:
    """a + b, plain or Montgomery. Raises ValueError for arrays of another shape or dtype."""
    return _binary(_Operation.ADD, field, a, b)


def sub(field: Field, a: Words, b: Words) -> Words:
    """a - b, plain or Montgomery. Raises ValueError for arrays of another shape or dtype."""
    return _binary(_Operation.SUBTRACT, field, a, b)


def inverse(field: Field, a: Words) -> Words:
    """1 / a in Montgomery form; the inverse of zero is zero."""
    return _unary(_Operation.INVERT, field, a)


def to_montgomery(field: Field, a: Words) -> Words:
    """a R of plain integers, which need not be below the modulus."""
    return _unary(_Operation.TO_MONTGOMERY, field, a)


def from_montgomery(field: Field, a: Words) -> Words:
    """a / R: the plain integers, below the modulus."""
    return _unary(_Operation.FROM_MONTGOMERY, field, a)


def first_not_canonical(field: Field, a: Words) -> int | None:
    """The index of the first element that is not below the modulus."""
    array = words(a, field.words, "a")
    found = ctypes.c_size_t()
    call(
        "cuzk_field_check",
        *(field.curve.index, int(field.scalar), address(array), len(array), ctypes.byref(found)),
    )
    return None if found.value == len(array) else found.value


def _unary(operation: _Operation, field: Field, a: Words) -> Words:
    array = words(a, field.words, "a")
    out = np.empty_like(array)
    _apply(operation, field, array, None, out)
    return out


def _binary(operation: _Operation, field: Field, a: Words, b: Words) -> Words:
    left, right = words(a, field.words, "a"), words(b, field.words, "b")
    if len(left) != len(right) and 1 not in (len(left), len(right)):
        raise ValueError(f"a and b differ in length: {len(left)} and {len(right)}")
    left, right = (np.ascontiguousarray(operand) for operand in np.broadcast_arrays(left, right))
    out = np.empty_like(left)
    _apply(operation, field, left, right, out)
    return out


def _apply(operation: _Operation, field: Field, a: Words, b: Words | None, out: Words) -> None:
    second = None if b is None else address(b)
    head = (field.curve.index, int(field.scalar), int(operation))
    call("cuzk_field_apply", *head, address(a), second, len(a), address(out))
