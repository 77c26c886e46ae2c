"""Closed intervals of integers, for bounds on the limbs of the vector kernels."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

SIGNED_32 = (-(2**31), 2**31 - 1)
UNSIGNED_32 = (0, 2**32 - 1)
UNSIGNED_64 = (0, 2**64 - 1)


class BoundError(ValueError):
    """A number of the vector arithmetic could leave the room that the instruction gives it."""


@dataclass(frozen=True, slots=True)
class Interval:
    """All integers from low to high, both included."""

    low: int
    high: int

    def __post_init__(self) -> None:
        if self.low > self.high:
            raise ValueError(f"an interval from {self.low} to {self.high} is empty")

    def __add__(self, other: "Interval") -> "Interval":
        return Interval(self.low + other.low, self.high + other.high)

    def __sub__(self, other: "Interval") -> "Interval":
        return Interval(self.low - other.high, self.high - other.low)

    def __neg__(self) -> "Interval":
        return Interval(-self.high, -self.low)

    def __mul__(self, other: "Interval") -> "Interval":
        corners = [x * y for x in (self.low, self.high) for y in (other.low, other.high)]
        return Interval(min(corners), max(corners))

    def __rshift__(self, bits: int) -> "Interval":
        return Interval(self.low >> bits, self.high >> bits)

    def __contains__(self, other: "Interval") -> bool:
        return self.low <= other.low and other.high <= self.high

    def squared(self) -> "Interval":
        """All x^2, which is tighter than x y with both in the interval."""
        ends = [self.low**2, self.high**2]
        return Interval(0 if self.low <= 0 <= self.high else min(ends), max(ends))

    def symmetric(self) -> "Interval":
        """All x and -x."""
        return join([self, -self])

    def require(self, room: tuple[int, int], what: str) -> "Interval":
        """Itself, if it lies in the room. Raises BoundError naming `what` otherwise."""
        if self not in Interval(*room):
            raise BoundError(
                f"{what} reaches [{self.low:#x}, {self.high:#x}], outside [{room[0]:#x}, {room[1]:#x}]"
            )
        return self


def exactly(value: int) -> Interval:
    return Interval(value, value)


def up_to(high: int) -> Interval:
    return Interval(0, high)


def join(parts: Iterable[Interval]) -> Interval:
    """The least interval with all the parts in it."""
    listed: Sequence[Interval] = list(parts)
    return Interval(min(part.low for part in listed), max(part.high for part in listed))
