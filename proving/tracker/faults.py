"""Devices whose results were wrong: counted by device, whoever drives it and however often it restarts."""

import json
from collections.abc import Mapping
from dataclasses import dataclass

from proving.tracker.ledger import Ledger

LONGEST_REASON = 200


@dataclass(frozen=True, slots=True)
class DeviceFaults:
    """How often, and the last time: when, on the server's clock, and what."""

    count: int = 0
    last_at: float | None = None
    last_reason: str = ""


def mark(ledger: Ledger, place: str, reason: str, *, times: int = 1, at: float | None = None) -> None:
    """So many faults more of the device at `place` (see `WorkerSpec.place`), the last `at` then, or now."""
    note = {"at": ledger.reader.now() if at is None else at, "reason": reason[:LONGEST_REASON]}
    pipe = ledger.client.pipeline(transaction=True)
    pipe.hincrby(ledger.keys.faults, place, times)
    pipe.hset(ledger.keys.fault_notes, place, json.dumps(note))
    pipe.incr(ledger.keys.rev)
    pipe.execute()


def read(counts: Mapping[bytes, bytes], notes: Mapping[bytes, bytes]) -> dict[str, DeviceFaults]:
    """What Redis keeps of the faults, by device."""
    found = {}
    for place, count in sorted(counts.items()):
        note = json.loads(notes.get(place, b"{}"))
        found[place.decode()] = DeviceFaults(int(count), note.get("at"), note.get("reason", ""))
    return found
