"""The short form of the soak; `python -m tests.benchmarks.soak` is the long one."""

from pathlib import Path

import pytest

from tests.support.soak import soak
from tests.support.stack import running_stack

pytestmark = [pytest.mark.chaos, pytest.mark.acceptance]

PARTITIONS = 60


def test_workers_die_and_the_status_stays_true(tmp_path: Path) -> None:
    options = ("--no-flower", "--device", "host", "--device", "host")
    with running_stack(tmp_path / "home", *options, CUZKWEB_MAX_ATTEMPTS="25") as stack:
        found = soak(stack, tmp_path / "keys", PARTITIONS, pause=1.0, seed=7)
    print(found)
    assert found.contradictions == []
    assert found.missing == []
    assert found.kills
    assert found.attempts > PARTITIONS, "somebody was killed at work"
