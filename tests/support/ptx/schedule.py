"""Which lanes run next, and what they wait for.

The lanes of many blocks run as one wide group. Of all groups the one at the earliest basic block runs next,
so that lanes which parted meet again where their ways join.
"""

import heapq

import numpy as np

from tests.support.ptx.lanes import Lanes, Launch
from tests.support.ptx.parse import Fault
from tests.support.ptx.races import ERA, Ints

NOT_WAITING = -1


class Schedule(Lanes):
    """The lanes of some blocks, run until all have left."""

    def __init__(self, launch: Launch, blocks: Ints) -> None:
        super().__init__(launch, blocks)
        self.return_to: dict[str, Ints] = {}
        self.pending: dict[int, list[Ints]] = {}
        self.order: list[int] = []
        self.alive = np.ones(self.width, np.bool_)
        self.barrier = np.full(self.width, NOT_WAITING, np.int64)
        self.together = np.full(self.width, NOT_WAITING, np.int64)
        self.members = np.zeros(self.width, np.uint64)
        self.instructions = 0

    def to_end(self) -> int:
        """Run until every lane has left; how many instructions that took, lane by lane."""
        self._push(self.program.entry, self.all)
        while self.pending or self._release_waiting():
            number = heapq.heappop(self.order)
            groups = self.pending.pop(number)
            self._reach(number, np.sort(np.concatenate(groups)) if len(groups) > 1 else groups[0])
        if self.alive.any():
            raise Fault(f"{self.program.kernel}: {int(self.alive.sum())} lanes wait for ever")
        return self.instructions

    def _push(self, number: int, lanes: Ints) -> None:
        if not len(lanes):
            return
        if number not in self.pending:
            self.pending[number] = []
            heapq.heappush(self.order, number)
        self.pending[number].append(lanes)

    def _reach(self, number: int, lanes: Ints) -> None:
        members = self.program.members(number)
        if members is None:
            self._execute(number, lanes)
            return
        named = self.rows[members] if type(members) is int else members
        self.together[lanes] = number
        self.members[lanes] = named[lanes] if isinstance(named, np.ndarray) else named
        if (self.members[lanes] & self.warps.bit[lanes] == 0).any():
            raise Fault(f"a lane is not in its own mask: {self.program.blocks[number].body[0].text}")
        self._release_warps(number)

    def _release_warps(self, number: int) -> bool:
        """Let those lanes go on whose mask's lanes, as far as they still run, are all here."""
        here = np.nonzero(self.together == number)[0]
        warp = self.warps.number[here]
        awaited = self.members[here] & self.warps.bits(np.nonzero(self.alive)[0])[warp]
        ready = here[awaited & ~self.warps.bits(here)[warp] == 0]
        if not len(ready):
            return False
        self.together[ready] = NOT_WAITING
        if self.program.blocks[number].body[0].kind in {"bar", "barrier"}:
            latest = np.zeros(self.warps.count, np.int64)
            np.maximum.at(latest, self.warps.number[ready], self.actors.time[ready])
            self.actors.time[ready] = latest[self.warps.number[ready]] + 1
        self._execute(number, ready)
        return True

    def _release_waiting(self) -> bool:
        """Nobody can run: see whether lanes that left have made a barrier or a warp complete."""
        waiting = np.unique(self.together[self.together != NOT_WAITING])
        released = [self._release_warps(int(number)) for number in waiting]
        self._release_barriers()
        return any(released) or bool(self.pending)

    def _release_barriers(self) -> None:
        blocks = int(self.local_block[-1]) + 1
        waiting = self.barrier != NOT_WAITING
        arrived = np.bincount(self.local_block[waiting], minlength=blocks)
        alive = np.bincount(self.local_block[self.alive], minlength=blocks)
        complete = (arrived == alive) & (arrived > 0)
        lanes = np.nonzero(waiting & complete[self.local_block])[0]
        if not len(lanes):
            return
        places = self.barrier[lanes]
        for number in np.unique(places):
            here = lanes[places == number]
            if len(np.intersect1d(self.local_block[here], self.local_block[lanes[places != number]])):
                raise Fault(f"{self.program.kernel}: threads of one block wait at different barriers")
            self._push(int(number), here)
        self.barrier[lanes] = NOT_WAITING
        self.actors.time[lanes] = (self.actors.time[lanes] // ERA + 1) * ERA

    def _execute(self, number: int, lanes: Ints) -> None:
        block = self.program.blocks[number]
        full = len(lanes) == self.width
        outcome = self.program.function(number)(self.rows, None if full else lanes, self)
        self.instructions += len(block.body) * len(lanes)
        last = block.last
        if last.kind == "brx":
            for case, target in enumerate(block.targets):
                self._push(target, lanes[np.broadcast_to(outcome, len(lanes)) == case])
            return
        if last.guard is not None and outcome is not None:
            chosen = np.broadcast_to(outcome, len(lanes))
            self._push(block.successors[-1], lanes[~chosen])
            lanes = lanes[chosen]
        if len(lanes):
            self._leave(number, lanes)

    def _leave(self, number: int, lanes: Ints) -> None:
        block = self.program.blocks[number]
        match block.last.kind:
            case "bra":
                self._push(block.targets[0], lanes)
            case "exit":
                self._exit(lanes)
            case "ret" if block.function.is_entry:
                self._exit(lanes)
            case "ret":
                back = self.return_to[block.function.name][lanes]
                for place in np.unique(back):
                    self._push(int(place), lanes[back == place])
            case "call":
                callee = str(block.callee)
                self.return_to.setdefault(callee, np.zeros(self.width, np.int64))[lanes] = block.successors[
                    -1
                ]
                self._push(self.program.entries[callee], lanes)
            case _ if block.ends_at_barrier:
                self.barrier[lanes] = block.successors[-1]
                self._release_barriers()
            case _:
                self._push(block.successors[-1], lanes)

    def _exit(self, lanes: Ints) -> None:
        self.alive[lanes] = False
        self._release_barriers()
