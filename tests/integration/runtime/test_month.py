"""A month of days with jobs, cancelled ones among them, lived through in a moment: nothing is left."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from django.db import connection
from django.db.models import F
from pytest_django import Settings

from proving import spool
from proving.models import Job, PartitionAttempt
from proving.services import live, retention, upkeep
from proving.services.cancel import cancel_job
from tests.integration.runtime.conftest import Line

Submit = Callable[..., Job]

DAY = 86_400
DAYS = 30
KEPT_DAYS = 5
LIVE_BYTES = 64 * 2**10
"""By how much the live state may vary from one evening to another: lists and streams are cut by count."""

SIMPLE = {"keep_finished_seconds": 0.0}


@pytest.fixture
def short_periods(settings: Settings, line: Line, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.CUZKWEB_KEEP_PROOFS_SECONDS = KEPT_DAYS * DAY
    settings.CUZKWEB_KEEP_TIMELINES_SECONDS = 2 * DAY
    ledger = live.store().ledger
    monkeypatch.setattr(ledger, "limits", replace(ledger.limits, **SIMPLE))


def live_a_day(line: Line, submit: Submit, day: int) -> None:
    """Two jobs are done, one is cancelled on its way; then the night comes."""
    submit((3, 11), (day + 1, 2))
    line.run()
    doomed = submit((5, 7))
    line.run_until("prove")
    cancel_job(doomed)
    line.run()
    upkeep.reap()
    upkeep.sweep_spool()
    retention.forget_jobs()
    retention.forget_timelines()


def pass_the_night() -> None:
    """A day later, as far as the database can tell."""
    day = timedelta(days=1)
    Job.objects.update(submitted_at=F("submitted_at") - day, finished_at=F("finished_at") - day)
    PartitionAttempt.objects.update(ended_at=F("ended_at") - day)


def rows() -> dict[str, int]:
    """How many rows each table holds."""
    with connection.cursor() as cursor:
        names = [name for name in connection.introspection.table_names(cursor) if name.startswith("proving_")]
        found = {}
        for name in names:
            cursor.execute(f'SELECT count(*) FROM "{name}"')
            found[name] = cursor.fetchone()[0]
        return found


def live_keys() -> list[str]:
    """The names of the keys in the server of live state."""
    return sorted(name.decode() for name in live.redis().scan_iter("*"))


def live_bytes() -> int:
    return sum(live.redis().memory_usage(name, samples=0) or 0 for name in live_keys())


def files(home: Path) -> int:
    return sum(path.is_file() for path in home.rglob("*"))


@pytest.mark.usefixtures("short_periods")
def test_a_month_leaves_nothing_behind(line: Line, submit: Submit, home: Path) -> None:
    evenings = []
    for day in range(DAYS):
        live_a_day(line, submit, day)
        evenings.append((rows(), live_keys(), files(home)))
        if day == KEPT_DAYS:
            settled = live_bytes()
        pass_the_night()

    assert evenings[KEPT_DAYS:] == [evenings[-1]] * (DAYS - KEPT_DAYS)
    assert live_bytes() < settled + LIVE_BYTES
    assert list(spool.root().iterdir()) == []
