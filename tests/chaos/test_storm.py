"""Everything at once, in short; `make chaos` is the long form. Single kinds have files of their own."""

from pathlib import Path

import pytest

from tests.support.chaos.site import running_site
from tests.support.chaos.storm import storm
from tests.support.servers import need_redis

pytestmark = [pytest.mark.chaos, pytest.mark.acceptance, pytest.mark.timeout(900)]


def test_every_kind_of_fault_and_the_account_is_clear(tmp_path: Path) -> None:
    need_redis()
    with running_site(tmp_path / "home") as site:
        found = storm(
            site, tmp_path / "keys", partitions=24, a_job=6, seconds=16.0, pause=0.7, seed=7, insist=True
        )
    print(found)
    print(found.table())
    assert found.wrong == []
    assert found.states == {"done": 4}
    assert len({one.kind for one in found.struck}) >= 16
    assert found.poison_kills
