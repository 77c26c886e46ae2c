"""Taking the first in line: a message tells a worker that something waits, this tells it what to do first.

The line is ordered by priority, then by the age of the job, then by index. A worker that was told of one
partition takes the one that should go first, so that a critical job gets the next free worker however many
messages lie before its own. Messages are permits: whoever finds nothing to take has missed nothing.
"""

from collections.abc import Callable, Iterator

from proving.tracker import events as e
from proving.tracker.keys import parse_member
from proving.tracker.ledger import Ledger
from proving.tracker.outcomes import Claimed, Refusal, Refused
from proving.tracker.records import PartitionRecord, Phase

LOOK_AHEAD = 16
ROUNDS = 8

_FASTER = frozenset(
    {
        *(Refusal.TAKEN, Refusal.SUPERSEDED, Refusal.ALREADY_DONE, Refusal.NOT_READY, Refusal.UNKNOWN),
        *(Refusal.CANCELLED, Refusal.FAILED, Refusal.ASSEMBLING),
    }
)
"""Somebody else was faster, or the job has ended meanwhile: the next in line then."""


def take(
    ledger: Ledger, operation: str, phase: Phase, worker: str, event: Callable[[int], e.Claim]
) -> Claimed | Refused:
    """Claim the first that waits in `phase`. `event` makes the claim for an attempt.

    budget_full: the first in line has to wait for room, and nobody overtakes it. over_budget: the partition
    at `place` can never fit here. nothing_waits: there is nothing to do.
    """
    too_big: Refused | None = None
    for _ in range(ROUNDS):
        beaten = False
        for record in _waiting(ledger, phase):
            place = record.job, record.index
            outcome = ledger.claim(operation, *place, event(record.attempt), counted=False)
            if isinstance(outcome, Claimed):
                return outcome
            if outcome.reason is Refusal.OVER_BUDGET:
                too_big = too_big or Refused(operation, Refusal.OVER_BUDGET, place)
            elif outcome.reason in _FASTER and ledger.reader.workers([worker]):
                beaten = True
            else:
                return outcome
        if not beaten:
            break
    return too_big or Refused(operation, Refusal.NOTHING_WAITS)


def _waiting(ledger: Ledger, phase: Phase) -> Iterator[PartitionRecord]:
    start = 0
    while names := ledger.reader.first(ledger.keys.waiting(phase), LOOK_AHEAD, start):
        yield from ledger.reader.partitions([parse_member(name) for name in names])
        start += LOOK_AHEAD
