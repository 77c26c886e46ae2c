"""A request that the service cannot serve just now is told to come again, and leaves nothing behind."""

import errno

import pytest
from django.db import OperationalError

from proving import spool
from proving.models import Circuit, Job
from proving.services import find
from tests.integration.conftest import Caller, Dispatched

pytestmark = pytest.mark.django_db

JOBS = "/api/v1/jobs"


@pytest.mark.parametrize("told", [(errno.ENOSPC, "storage_full"), (errno.EROFS, "storage_unwritable")])
def test_a_disk_that_takes_nothing_is_503(
    told: tuple[int, str],
    caller: Caller,
    circuit: Circuit,
    dispatched: Dispatched,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    number, code = told

    def refuse(*_: object) -> None:
        raise OSError(number, "")

    monkeypatch.setattr(spool, "store_input", refuse)

    answer = caller.post(JOBS, {"circuit": circuit.pk, "inputs": [{"a": 3, "b": 11}]})

    assert (answer.status_code, answer.json()["code"]) == (503, code)
    assert int(answer["Retry-After"]) > 0
    assert not Job.objects.exists()
    assert dispatched.enqueued == []


def test_a_database_that_is_away_is_503(caller: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    def away(*_: object, **__: object) -> None:
        raise OperationalError("connection refused")

    monkeypatch.setattr(find, "find_job", away)

    answer = caller.get(JOBS + "/any")

    assert (answer.status_code, answer.json()["code"]) == (503, "database_away")
    assert "refused" not in answer.content.decode()
