"""Records as the JSON that Redis keeps."""

import json
from dataclasses import fields, is_dataclass
from typing import Any

from proving.tracker.records import (
    Assignment,
    AttemptEnd,
    DeviceMemory,
    Ending,
    JobRecord,
    JobSpec,
    JobState,
    OnFailure,
    PartitionRecord,
    PastAttempt,
    Phase,
    ResidentKey,
    Spell,
    Timeline,
    WorkerKind,
    WorkerRecord,
    WorkerSpec,
)


def dump(record: JobRecord | PartitionRecord | WorkerRecord | Spell) -> bytes:
    """Raises ValueError for a number that JSON does not have (infinity, not a number)."""
    return json.dumps(_plain(record), separators=(",", ":"), allow_nan=False).encode()


def load_job(data: bytes) -> JobRecord:
    raw = json.loads(data)
    spec = raw.pop("spec")
    spec["on_failure"] = OnFailure(spec["on_failure"])
    raw["state"] = JobState(raw["state"])
    raw["ending"] = Ending(raw["ending"]) if raw["ending"] else None
    return JobRecord(spec=JobSpec(**spec), **raw)


def load_partition(data: bytes) -> PartitionRecord:
    raw = json.loads(data)
    raw["phase"] = Phase(raw["phase"])
    raw["assignment"] = Assignment(**raw["assignment"]) if raw["assignment"] else None
    raw["timeline"] = Timeline(**raw["timeline"])
    raw["history"] = tuple(_past_attempt(past) for past in raw["history"])
    return PartitionRecord(**raw)


def load_worker(data: bytes) -> WorkerRecord:
    raw = json.loads(data)
    spec = raw.pop("spec")
    spec["kind"] = WorkerKind(spec["kind"])
    raw["assignment"] = Assignment(**raw["assignment"]) if raw["assignment"] else None
    raw["memory"] = DeviceMemory(**raw["memory"])
    raw["resident_keys"] = tuple(ResidentKey(**key) for key in raw["resident_keys"])
    return WorkerRecord(spec=WorkerSpec(**spec), **raw)


def load_spell(data: bytes) -> Spell:
    raw = json.loads(data)
    raw["end"] = AttemptEnd(raw["end"])
    return Spell(**raw)


def _past_attempt(raw: dict[str, Any]) -> PastAttempt:
    raw["end"] = AttemptEnd(raw["end"])
    raw["phase"] = Phase(raw["phase"])
    raw["timeline"] = Timeline(**raw["timeline"])
    return PastAttempt(**raw)


def _plain(value: Any) -> Any:
    if is_dataclass(value):
        return {field.name: _plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    return value
