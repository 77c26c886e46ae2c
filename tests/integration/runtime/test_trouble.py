"""A host that lacks something for a while costs nobody an attempt; one that lacks it for long costs all."""

import errno
from collections.abc import Callable

import pytest
from django.db import OperationalError

from proving import spool
from proving.choices import JobState
from proving.models import Job, Partition
from proving.services import record, stage
from tests.integration.runtime.conftest import Line

Submit = Callable[..., Job]


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stage, "RESTS", (0.01, 0.01, 0.01))


def failing(real: Callable[..., object], times: float, fault: Exception) -> Callable[..., object]:
    """`real`, but its first calls fail."""
    calls = iter(range(10_000))

    def act(*args: object, **options: object) -> object:
        if next(calls) < times:
            raise fault
        return real(*args, **options)

    return act


@pytest.mark.parametrize(
    "fault", [OSError(errno.ENOSPC, ""), OSError(errno.EROFS, ""), MemoryError(), OperationalError()]
)
def test_a_while_without_costs_no_attempt(
    fault: Exception, line: Line, submit: Submit, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spool, "write_evaluations", failing(spool.write_evaluations, 2, fault))
    monkeypatch.setattr(spool, "store_sums", failing(spool.store_sums, 2, fault))
    monkeypatch.setattr(record, "finalize_started", failing(record.finalize_started, 2, fault))
    job = submit((3, 11))

    line.run()

    job.refresh_from_db()
    assert job.state == JobState.DONE
    assert Partition.objects.get().attempt == 1


def test_what_lasts_ends_in_a_failure(line: Line, submit: Submit, monkeypatch: pytest.MonkeyPatch) -> None:
    full = failing(spool.write_evaluations, float("inf"), OSError(errno.ENOSPC, ""))
    monkeypatch.setattr(spool, "write_evaluations", full)
    job = submit((3, 11))

    line.run()

    job.refresh_from_db()
    assert job.state == JobState.FAILED
    assert Partition.objects.get().attempt == 3
