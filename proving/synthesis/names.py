"""How circom's witness generators know signals: by a 64-bit FNV-1a hash of the name."""

from __future__ import annotations

OFFSET_BASIS = 0xCBF29CE484222325
PRIME = 0x100000001B3
MASK = 2**64 - 1


def hash_signal(name: str) -> int:
    """The 64-bit FNV-1a hash of a signal's name."""
    value = OFFSET_BASIS
    for byte in name.encode():
        value = (value ^ byte) * PRIME & MASK
    return value


def split_hash(name: str) -> tuple[int, int]:
    """The hash as the signed 32-bit halves that wasm functions take, high half first."""
    value = hash_signal(name)
    return to_i32(value >> 32), to_i32(value & 0xFFFFFFFF)


def to_i32(value: int) -> int:
    """The signed 32-bit integer with the same bits."""
    return value - 2**32 if value >= 2**31 else value
