"""The reaper: what nobody would otherwise notice. One pass; the periodic process calls it again and again.

Each finding is a compare-and-set transaction of its own on (assignment, expiry), so that two reapers, or a
reaper and a worker that was only slow, cannot both win.
"""

from typing import Protocol

from proving.tracker import events as e
from proving.tracker.keys import parse_member
from proving.tracker.ledger import Ledger
from proving.tracker.outcomes import Expired, Lost, ReapResult, Refusal, Refused, Reopened, Settled, Stopping
from proving.tracker.records import Assignment, Ending, WorkerRecord
from proving.tracker.transitions import transition_worker


class Reapable(Protocol):
    """What the reaper needs of a store."""

    @property
    def ledger(self) -> Ledger: ...

    def lose(self, assignment: Assignment, expires_at: float | None = None) -> Lost | Refused: ...


def reap(store: Reapable) -> list[ReapResult]:
    """Take back what dead workers hold, stop what is past its deadline, reopen lost assemblies, name what has
    ended and waits to be retired, show silent workers, and forget those not seen for long.

    A partition that waits again needs a message, which is the caller's to send.
    """
    ledger = store.ledger
    now = ledger.reader.now()
    found: list[ReapResult] = [*_lost(store, now), *_expired(ledger, now), *_reopened(ledger, now)]
    found += _settled(ledger, now - ledger.limits.keep_finished_seconds)
    _watch_workers(ledger, now)
    return found


def _lost(store: Reapable, now: float) -> list[Lost]:
    reader, keys = store.ledger.reader, store.ledger.keys
    names = [parse_member(name) for name in reader.due(keys.leases, now)]
    lost: list[Lost] = []
    for record in reader.partitions(names):
        if record.assignment is None or record.lease_expires_at is None or record.lease_expires_at > now:
            continue
        outcome = store.lose(record.assignment, record.lease_expires_at)
        lost += [] if isinstance(outcome, Refused) else [outcome]
    return lost


def _expired(ledger: Ledger, now: float) -> list[Expired]:
    expired = []
    for job_id in ledger.reader.due(ledger.keys.deadlines, now):
        stopped = ledger.stop_job("reap", job_id, e.Stop(Ending.DEADLINE, "deadline passed"))
        if isinstance(stopped, Stopping):
            expired.append(Expired(job_id, stopped.job_state))
    return expired


def _reopened(ledger: Ledger, now: float) -> list[Reopened]:
    reopened = []
    for job_id in ledger.reader.due(ledger.keys.assemblies, now):
        outcome = ledger.move_job("reap", job_id, e.LoseAssembly(), lambda job: Reopened(job.spec.job_id))
        reopened += [] if isinstance(outcome, Refused) else [outcome]
    return reopened


def _settled(ledger: Ledger, until: float) -> list[Settled]:
    jobs = ledger.reader.jobs(ledger.reader.due(ledger.keys.ended, until))
    return [Settled(job.spec.job_id, job.state, job.error) for job in jobs if job.state.terminal]


def _watch_workers(ledger: Ledger, now: float) -> None:
    """Workers that were not seen for long go. One that fell silent makes a new version of the snapshot once
    a lease, so that a reader who asks only for what is new learns of the silence."""
    limit = now - ledger.limits.forget_after_seconds

    def forget(worker: WorkerRecord, at: float) -> WorkerRecord | Refusal | None:
        return Refusal.NOT_EXPIRED if worker.seen_at > limit else transition_worker(worker, e.Forget(), at)

    def show(worker: WorkerRecord, _: float) -> WorkerRecord:
        return worker

    for worker in ledger.reader.workers(ledger.reader.worker_names()):
        name, lease = worker.spec.name, ledger.limits.lease_seconds
        if worker.assignment is None and worker.seen_at <= limit:
            ledger.change_worker("reap", name, forget, lambda gone: gone, counted=False)
        elif now - worker.seen_at > lease and now - worker.shown_at > lease:
            ledger.change_worker("reap", name, show, lambda silent: silent, counted=False)
