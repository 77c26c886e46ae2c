"""A worker that starts while a server is away joins later, and shows signs of life from the first moment."""

import pytest
from django.db import OperationalError
from redis.exceptions import ConnectionError as RedisConnectionError

from cuzkweb import worker
from proving.services import fleet


@pytest.mark.parametrize("fault", [RedisConnectionError(), OperationalError()])
def test_a_server_that_is_away_keeps_no_worker_from_living(
    fault: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[str] = []

    def join() -> None:
        raise fault

    monkeypatch.setattr(fleet, "join", join)
    monkeypatch.setattr(fleet, "show_signs_of_life", lambda: told.append("alive"))

    worker._join()

    assert told == ["alive"]
