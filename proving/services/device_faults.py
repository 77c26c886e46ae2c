"""The marks of devices whose results failed a check: made by finalizers, restored after a loss of Redis."""

from __future__ import annotations

from django.db.models import Count, Max

from proving.models import Partition, PartitionAttempt
from proving.services import live

FAULT = "device_fault"
"""The error code of an attempt that a device spoiled and the host made good."""


def place(worker: str, device: str) -> str:
    """A device as the tracker knows it, from what a row says: host/device."""
    return f"{worker.rpartition('@')[2]}/{device}"


def mark(job_id: str, index: int, reason: str) -> None:
    """One fault more of the device that a partition's present attempt was on."""
    row = Partition.objects.get(job_id=job_id, index=index)
    live.store().mark_fault(place(row.worker, row.device), reason)


def restore() -> list[str]:
    """Mark again what the database knows of and an empty live state does not. Returns what was found."""
    rows = PartitionAttempt.objects.filter(error_code=FAULT).order_by()
    told = rows.values("worker", "device").annotate(times=Count("pk"), last=Max("ended_at"))
    counts: dict[str, int] = {}
    latest: dict[str, tuple[float, str]] = {}
    for row in told:
        where = place(row["worker"], row["device"])
        counts[where] = counts.get(where, 0) + row["times"]
        last = rows.filter(worker=row["worker"], device=row["device"], ended_at=row["last"]).first()
        reason = last.error_detail if last else ""
        latest[where] = max(latest.get(where, (0.0, "")), (row["last"].timestamp(), reason))
    known = live.store().snapshot(0).device_faults
    missing = {where: times for where, times in counts.items() if where not in known}
    for where, times in missing.items():
        at, reason = latest[where]
        live.store().mark_fault(where, reason, times=times, at=at)
    return [f"the marks of device {where} were lost" for where in sorted(missing)]
