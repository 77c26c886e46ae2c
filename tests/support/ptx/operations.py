"""What the integer instructions compute, on arrays of uint64; a 32-bit register is held zero-extended."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from tests.support.ptx.parse import Fault

Values = NDArray[np.uint64]

U = np.uint64
ONE = U(1)


def mask(bits: int) -> np.uint64:
    return U((1 << bits) - 1)


def sign(bits: int) -> np.uint64:
    return U(1 << (bits - 1))


def signed(value: Values, bits: int) -> Values:
    """Sign-extended to 64 bits."""
    return value if bits == 64 else (value ^ sign(bits)) - sign(bits)


def shift_left(value: Values, count: Values, bits: int) -> Values:
    small = np.minimum(count, U(63))
    return np.where(count >= bits, U(0), (value << small) & mask(bits))


def shift_right(value: Values, count: Values, bits: int) -> Values:
    small = np.minimum(count, U(63))
    return np.where(count >= bits, U(0), value >> small)


def shift_right_signed(value: Values, count: Values, bits: int) -> Values:
    small = np.minimum(count, U(63)).astype(np.int64)
    return (_int64(signed(value, bits)) >> small).astype(U) & mask(bits)


def _int64(value: Values) -> NDArray[np.int64]:
    return np.asarray(value, U).view(np.int64)


def multiply_high_64(a: Values, b: Values) -> Values:
    a0, a1, b0, b1 = a & mask(32), a >> U(32), b & mask(32), b >> U(32)
    middle = a1 * b0 + (a0 * b0 >> U(32))
    other = a0 * b1 + (middle & mask(32))
    return a1 * b1 + (middle >> U(32)) + (other >> U(32))


def multiply_high_64_signed(a: Values, b: Values) -> Values:
    high = multiply_high_64(a, b)
    return high - np.where(a >> U(63), b, U(0)) - np.where(b >> U(63), a, U(0))


def divide(a: Values, b: Values, bits: int, *, is_signed: bool) -> Values:
    _refuse_zero(b)
    if not is_signed:
        return a // b
    x, y = _int64(signed(a, bits)), _int64(signed(b, bits))
    quotient = np.abs(x).view(U) // np.abs(y).view(U)
    return np.where((x < 0) ^ (y < 0), U(0) - quotient, quotient) & mask(bits)


def remainder(a: Values, b: Values, bits: int, *, is_signed: bool) -> Values:
    _refuse_zero(b)
    if not is_signed:
        return a % b
    x, y = _int64(signed(a, bits)), _int64(signed(b, bits))
    rest = np.abs(x).view(U) % np.abs(y).view(U)
    return np.where(x < 0, U(0) - rest, rest) & mask(bits)


def _refuse_zero(divisor: Values) -> None:
    if not np.all(divisor):
        raise Fault("division by zero")


def smaller(a: Values, b: Values, flip: np.uint64) -> Values:
    return np.where((a ^ flip) < (b ^ flip), a, b)


def larger(a: Values, b: Values, flip: np.uint64) -> Values:
    return np.where((a ^ flip) > (b ^ flip), a, b)


def population(value: Values) -> Values:
    return np.bitwise_count(np.asarray(value, U)).astype(U)


def highest_bit(value: Values) -> Values:
    """The number of the highest set bit plus one; 0 where there is none."""
    value = np.asarray(value, U)
    for shift in (1, 2, 4, 8, 16, 32):
        value = value | (value >> U(shift))
    return population(value)


def leading_zeros(value: Values, bits: int) -> Values:
    return U(bits) - highest_bit(value)


def find_highest(value: Values, bits: int, *, is_signed: bool, from_top: bool) -> Values:
    if is_signed:
        value = np.where(value & sign(bits), ~value & mask(bits), value)
    found = highest_bit(value)
    at = U(bits) - found if from_top else found - ONE
    return np.where(found == 0, mask(32), at)


def reverse_bits(value: Values, bits: int) -> Values:
    value = np.asarray(value, U)
    result = np.zeros_like(value)
    for place in range(bits):
        result |= ((value >> U(place)) & ONE) << U(bits - 1 - place)
    return result


def permute_bytes(a: Values, b: Values, selector: Values) -> Values:
    both = a | (b << U(32))
    result = U(0)
    for place in range(4):
        choice = (selector >> U(4 * place)) & U(15)
        byte = (both >> ((choice & U(7)) * U(8))) & U(255)
        spread = np.where(byte >> U(7), U(255), U(0))
        result = result | (np.where(choice & U(8), spread, byte) << U(8 * place))
    return result


def logic3(a: Values, b: Values, c: Values, table: int) -> Values:
    result = U(0)
    for row in range(8):
        if table >> row & 1:
            terms = [value if row >> place & 1 else ~value for place, value in ((2, a), (1, b), (0, c))]
            result = result | (terms[0] & terms[1] & terms[2])
    return result & mask(32)


def extract_bits(value: Values, start: Values, length: Values, bits: int, *, is_signed: bool) -> Values:
    start, length = start & U(255), np.minimum(length & U(255), U(bits))
    field = np.where(length == bits, mask(bits), (ONE << np.minimum(length, U(63))) - ONE)
    found = shift_right(value, start, bits) & field
    if not is_signed:
        return found
    top = np.minimum(start + length - ONE, U(bits - 1))
    is_negative = (length != 0) & ((value >> top & ONE) != 0)
    return np.where(is_negative, found | (~field & mask(bits)), found)


def insert_bits(field: Values, value: Values, start: Values, length: Values, bits: int) -> Values:
    start, length = start & U(255), np.minimum(length & U(255), U(bits))
    ones = np.where(length == bits, mask(bits), (ONE << np.minimum(length, U(63))) - ONE)
    place = shift_left(ones, start, bits)
    return (value & ~place) | (shift_left(field & ones, start, bits) & place)


def funnel(low: Values, high: Values, count: Values, *, left: bool, wraps: bool) -> Values:
    count = count & U(31) if wraps else np.minimum(count, U(32))
    both = low | (high << U(32))
    return (both << count) >> U(32) if left else (both >> count) & mask(32)


COMPARISONS = {
    "eq": "==",
    "ne": "!=",
    "lt": "<",
    "le": "<=",
    "gt": ">",
    "ge": ">=",
    "lo": "<",
    "ls": "<=",
    "hi": ">",
    "hs": ">=",
}

Update = Callable[[int, int, int], int]


def _wrapping_increment(old: int, limit: int, _: int) -> int:
    return 0 if old >= limit else old + 1


def _wrapping_decrement(old: int, limit: int, _: int) -> int:
    return limit if old == 0 or old > limit else old - 1


def _swap_if_equal(old: int, expected: int, new: int) -> int:
    return new if old == expected else old


UPDATES: dict[str, Update] = {
    "add": lambda old, value, _: old + value,
    "and": lambda old, value, _: old & value,
    "or": lambda old, value, _: old | value,
    "xor": lambda old, value, _: old ^ value,
    "exch": lambda _old, value, _: value,
    "min": lambda old, value, _: min(old, value),
    "max": lambda old, value, _: max(old, value),
    "inc": _wrapping_increment,
    "dec": _wrapping_decrement,
    "cas": _swap_if_equal,
}


def update(name: str, bits: int, *, is_signed: bool) -> Update:
    """What an atomic operation makes of the old value and its operands."""
    return _signed_update(name, bits) if is_signed else UPDATES[name]


def _signed_update(name: str, bits: int) -> Update:
    half, whole = 1 << (bits - 1), 1 << bits

    def number(value: int) -> int:
        return value - whole if value >= half else value

    def update(old: int, value: int, other: int) -> int:
        return UPDATES[name](number(old), number(value), number(other)) % whole

    return update
