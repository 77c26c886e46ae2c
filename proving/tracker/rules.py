"""What a transition table is made of, and how one row of it is chosen. Standard library only."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from proving.tracker.outcomes import Refusal


@dataclass(frozen=True, slots=True)
class Guard:
    """Refuses an event with a reason, or lets it pass (None)."""

    text: str
    check: Callable[..., Refusal | None]


@dataclass(frozen=True, slots=True)
class Condition:
    """Chooses between rows of the same state and event."""

    text: str
    holds: Callable[..., bool]


@dataclass(frozen=True, slots=True)
class Rule:
    """In `state`, when `event` comes, `when` holds and no guard refuses: go to `target` by `effect`."""

    state: StrEnum
    event: type
    target: StrEnum
    effect: Callable[..., Any]
    guards: tuple[Guard, ...] = ()
    when: Condition | None = None


def choose(
    table: Sequence[Rule], state: StrEnum, subject: Any, event: Any, now: float
) -> Rule | Refusal | None:
    """The row that applies, the refusal of its first guard that objects, or None when no row fits."""
    for rule in table:
        if rule.state is not state or type(event) is not rule.event:
            continue
        if rule.when is not None and not rule.when.holds(subject, event):
            continue
        for guard in rule.guards:
            if refusal := guard.check(subject, event, now):
                return refusal
        return rule
    return None
