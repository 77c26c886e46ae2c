"""What the lanes of a warp do together: shuffles, votes, matches, reductions."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tests.support.ptx.parse import Fault

Values = NDArray[np.uint64]
Ints = NDArray[np.int64]

WARP = 32


@dataclass(frozen=True, slots=True)
class Shuffle:
    """A shuffle of the register in a row: up, down, bfly or idx."""

    mode: str
    row: int
    text: str


class Warps:
    """How the lanes that run together are grouped: threads of a block in order, 32 to a warp."""

    def __init__(self, lanes: int, block_threads: int) -> None:
        thread = np.arange(lanes, dtype=np.int64)
        in_block = thread % block_threads
        self.lane = in_block % WARP
        per_block = -(-block_threads // WARP)
        self.number = thread // block_threads * per_block + in_block // WARP
        self.count = lanes // block_threads * per_block
        self.bit = np.uint64(1) << self.lane.astype(np.uint64)

    def bits(self, lanes: Ints) -> Values:
        """For each warp, the bits of those of its lanes that are among `lanes`."""
        result = np.zeros(self.count, np.uint64)
        np.bitwise_or.at(result, self.number[lanes], self.bit[lanes])
        return result

    def shuffle(
        self, how: Shuffle, source_row: Values, operands: tuple[Values, Values, Values], lanes: Ints
    ) -> tuple[Values, NDArray[np.bool_]]:
        """The values of other lanes, and whether each lane's choice was within its segment.

        `operands` are the distance or lane, the clamp, and the mask of those that take part.
        """
        step, clamp, members = operands
        lane = self.lane[lanes]
        step, clamp = _ints(step, lanes) & 31, _ints(clamp, lanes)
        segment = clamp >> 8 & 31
        top = (lane & segment) | (clamp & 31 & ~segment)
        source = {
            "up": lane - step,
            "down": lane + step,
            "bfly": lane ^ step,
            "idx": (lane & segment) | (step & ~segment),
        }[how.mode]
        within = source >= top if how.mode == "up" else source <= top
        source = np.where(within, source, lane)
        is_named = _ints(members, lanes) >> source & 1
        is_here = self.bits(lanes)[self.number[lanes]].astype(np.int64) >> source & 1
        if not (is_named & is_here).all():
            raise Fault(f"a shuffle reads from a lane that takes no part: {how.text}")
        return source_row[lanes - lane + source], within

    def vote(self, mode: str, value: NDArray[np.bool_], members: Values, lanes: Ints) -> NDArray[np.generic]:
        asked = np.broadcast_to(members, len(lanes)) & self.bits(lanes)[self.number[lanes]]
        yes = self.bits(lanes[np.broadcast_to(value, len(lanes))])[self.number[lanes]] & asked
        match mode:
            case "ballot":
                return yes
            case "any":
                return yes != 0
            case "all":
                return yes == asked
            case "uni":
                return (yes == asked) | (yes == 0)
        raise Fault(f"vote.{mode} is not known")

    def match(self, value: Values, members: Values, lanes: Ints) -> Values:
        """For each lane the bits of the lanes of its warp that hold the same value."""
        values = np.zeros((self.count, WARP), np.uint64)
        present = np.zeros((self.count, WARP), np.bool_)
        warp, lane = self.number[lanes], self.lane[lanes]
        values[warp, lane], present[warp, lane] = np.broadcast_to(value, len(lanes)), True
        same = (values[:, :, None] == values[:, None, :]) & present[:, None, :]
        bits = (same.astype(np.uint64) << np.arange(WARP, dtype=np.uint64)).sum(axis=2, dtype=np.uint64)
        return bits[warp, lane] & np.broadcast_to(members, len(lanes))


def _ints(value: Values, lanes: Ints) -> Ints:
    return np.broadcast_to(value, len(lanes)).astype(np.int64)
