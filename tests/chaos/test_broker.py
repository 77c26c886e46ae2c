"""The server of messages and live state dies, and comes back with all of it or with none of it."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from cuzkweb.client import State
from tests.support.ledger import assert_balanced
from tests.support.merkle import leaves
from tests.support.processes import wait_for
from tests.support.servers import Redis, running_redis
from tests.support.stack import Stack, running_stack
from tests.support.watcher import proving_now

pytestmark = [pytest.mark.chaos, pytest.mark.acceptance, pytest.mark.shared]

TIMEOUT = 120.0


@pytest.fixture(scope="module")
def live() -> Iterator[Redis]:
    with running_redis() as server:
        yield server


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory, live: Redis) -> Iterator[Stack]:
    home = tmp_path_factory.mktemp("home")
    settings = {"REDIS_URL": live.url, "CUZKWEB_ENGINE": "portable"}
    with running_stack(home, "--no-flower", **settings) as running:
        yield running


def restart_with_its_file(live: Redis) -> None:
    live.kill()
    live.start()


def restart_without_its_file(live: Redis) -> None:
    live.kill()
    shutil.rmtree(live.folder / "appendonlydir")
    live.start()


def flush(live: Redis) -> None:
    with live.client() as client:
        client.flushall()


@pytest.mark.parametrize("fault", [restart_with_its_file, restart_without_its_file, flush])
def test_jobs_outlive_their_server(
    fault: Callable[[Redis], None], stack: Stack, live: Redis, circuit: str, merkle: Path
) -> None:
    name = fault.__name__
    job = stack.client.submit(circuit, leaves(merkle, 4), request_id=name)
    wait_for(lambda: proving_now(stack.client.status(), name) is not None, "it proves", 60)

    fault(live)

    wait_for(live.answers, "the server answers again")
    ended = stack.client.wait(job.id, timeout=TIMEOUT)
    assert (ended.state, ended.error) == (State.DONE, None)
    later = stack.client.submit(circuit, leaves(merkle, 1))
    assert stack.client.wait(later.id, timeout=TIMEOUT).state == State.DONE
    with live.client() as client:
        assert_balanced(stack, client, merkle, [job.id, later.id])
