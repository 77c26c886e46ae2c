"""Samples of what has ended, in the words of the status history."""

from datetime import UTC, datetime

from tests.browser.documents import BAD, LOST
from tests.browser.scheduler import Document

ENDS = (*["done"] * 5, "failed", "done", "cancelled")
SNAP = {
    "label": "",
    "circuit_id": "01KBPQ0000000000000000SNAP",
    "circuit_name": "snap-32g",
    "proof_kind": "snap-update",
}
SMALL = {
    "label": "",
    "circuit_id": "01KBPQ0000000000000SEMAPH",
    "circuit_name": "semaphore-20",
    "proof_kind": "groth16",
}


def afternoon_before(at: float, count: int = 32) -> Document:
    """What ended before the moment `at`: finished jobs, and the bad ends of attempts."""
    finished = [_finished(n, ENDS[n % len(ENDS)], at - 40 - 260 * n) for n in range(count)]
    names = {name: SNAP[name] for name in ("label", "circuit_id", "circuit_name")}
    attempt = {**names, "attempt": 1, "device": "cuda:0"}
    lost = {"job_id": "ps-snap-1000-1-4711", "partition": 4, "worker": "gpu1@prover-a"}
    bad = {"partition": 7, "worker": "gpu0@prover-a", "outcome": "failed", "code": "proof_invalid"}
    failed = [
        {**attempt, **bad, "detail": BAD, "job_id": job["job_id"], "ended_at": job["finished_at"]}
        for job in finished
        if job["state"] == "failed"
    ]
    expired = {**attempt, **lost, "outcome": "lost", "code": "lease_expired", "ended_at": _iso(at - 300)}
    expired["detail"] = LOST
    return {"finished": finished, "failures": [expired, *failed]}


def _finished(number: int, state: str, ended: float) -> Document:
    wide = number % 3 == 0
    name, took, size = (f"ps-snap-1000-1-{4710 - number}", 420.0, 16) if wide else (_ulid(number), 9.4, 1)
    return {
        **(SNAP if wide else SMALL),
        "job_id": name,
        "label": f"f01000 sector {4710 - number}" if wide else "",
        "priority": "normal",
        "state": state,
        "total_partitions": size,
        "partitions_done": size if state == "done" else size // 2,
        "submitted_at": _iso(ended - took),
        "started_at": _iso(ended - took * 0.95),
        "finished_at": _iso(ended),
        "error": {"code": "proof_invalid", "detail": BAD, "partition": 7} if state == "failed" else None,
    }


def _ulid(number: int) -> str:
    return f"groth16-01KBPQ{number:04}2W7N4V9R3T5HM"


def _iso(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
