"""The service on what production gives it: a PostgreSQL, and a Redis that asks for a password."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import psycopg
import pytest

from cuzkweb.client import ApiError, State
from tests.support.ledger import assert_balanced
from tests.support.merkle import leaves, with_broken_assertion
from tests.support.processes import command_line, processes_of, wait_for
from tests.support.servers import PostgreSQL, Redis, running_postgresql, running_redis
from tests.support.stack import Stack, running_stack
from tests.support.watcher import Watcher, faults, proving_now

pytestmark = [pytest.mark.acceptance, pytest.mark.shared]

TIMEOUT = 120.0


@pytest.fixture(scope="module")
def database() -> Iterator[PostgreSQL]:
    with running_postgresql() as server:
        yield server


@pytest.fixture(scope="module")
def live() -> Iterator[Redis]:
    with running_redis() as server:
        yield server


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory, database: PostgreSQL, live: Redis) -> Iterator[Stack]:
    home = tmp_path_factory.mktemp("home")
    settings = {"DATABASE_URL": database.url, "REDIS_URL": live.url, "CUZKWEB_ENGINE": "portable"}
    with running_stack(home, "--no-flower", **settings) as running:
        yield running


def test_jobs_are_done_failed_cancelled_and_survive_a_kill(
    stack: Stack, circuit: str, merkle: Path, live: Redis
) -> None:
    inputs = leaves(merkle, 4)
    with Watcher(stack) as watcher:
        killed = stack.client.submit(circuit, inputs, request_id="killed")
        caught = wait_for(
            lambda: [at for at in [proving_now(stack.client.status(), "killed")] if at is not None],
            "it proves",
            60,
        )[0]
        os.kill(stack.pid("gpu0"), signal.SIGKILL)
        broken = [*inputs[:2], with_broken_assertion(inputs[2]), inputs[3]]
        failed = stack.client.submit(circuit, broken, request_id="failed")
        ended = stack.client.wait(killed.id, timeout=TIMEOUT)
        assert stack.client.wait(failed.id, timeout=TIMEOUT).state == State.FAILED
        stopped = stack.client.submit(circuit, inputs, request_id="stopped")
        wait_for(lambda: proving_now(stack.client.status(), "stopped") is not None, "it proves", 60)
        stack.client.cancel(stopped.id)
        assert stack.client.wait(stopped.id, timeout=TIMEOUT).state == State.CANCELLED

    assert (ended.state, ended.error) == (State.DONE, None)
    assert ended.partitions[caught].attempt == 2
    assert [fault for reading in watcher.readings for fault in faults(reading)] == []
    with live.client() as client:
        assert_balanced(stack, client, merkle, ["killed", "failed", "stopped"])


def test_a_repeated_request_id_makes_one_job(stack: Stack, circuit: str, merkle: Path) -> None:
    inputs = leaves(merkle, 2)
    first = stack.client.submit(circuit, inputs[:1], request_id="again")

    assert stack.client.submit(circuit, inputs[:1], request_id="again").id == first.id
    with pytest.raises(ApiError) as refusal:
        stack.client.submit(circuit, inputs, request_id="again")

    assert refusal.value.status == 409
    assert stack.client.wait(first.id, timeout=TIMEOUT).state == State.DONE


def test_the_database_guards_its_rows_itself(
    stack: Stack, circuit: str, merkle: Path, database: PostgreSQL
) -> None:
    job = stack.client.submit(circuit, leaves(merkle, 1), request_id="guarded")
    assert stack.client.wait(job.id, timeout=TIMEOUT).state == State.DONE
    columns = 'job_id, partition_id, "index", proof, public, device, verified_at'
    with psycopg.connect(database.url) as connection:
        row = connection.execute(
            "SELECT proof->>'protocol', jsonb_typeof(public) FROM proving_proof WHERE job_id = 'guarded'"
        ).fetchone()
        assert row == ("groth16", "array")
        again = f"SELECT {columns} FROM proving_proof WHERE job_id = 'guarded'"
        with pytest.raises(psycopg.errors.UniqueViolation):
            connection.execute(f"INSERT INTO proving_proof ({columns}) {again}")


def test_the_service_survives_a_restart_of_its_database(
    stack: Stack, circuit: str, merkle: Path, database: PostgreSQL, live: Redis
) -> None:
    job = stack.client.submit(circuit, leaves(merkle, 4), request_id="restarted")
    wait_for(lambda: proving_now(stack.client.status(), "restarted") is not None, "it proves", 60)

    database.kill()
    database.start()
    wait_for(database.answers, "the database answers again")

    ended = stack.client.wait(job.id, timeout=TIMEOUT)
    assert (ended.state, ended.error) == (State.DONE, None)
    with live.client() as client:
        assert_balanced(stack, client, merkle, [job.id])


def test_the_deployment_needs_nothing_that_manages_the_server(stack: Stack, live: Redis) -> None:
    ready = stack.client._ask("GET", "/readyz")

    assert {"database", "migrations", "redis"} <= set(ready["checks"])
    assert all(ready["checks"].values()), ready
    with live.client() as client:
        refused = [entry for entry in client.acl_log() if entry["username"] == "cuzkweb"]
    assert refused == []


def test_no_password_is_shown_by_processes_or_logs(stack: Stack, live: Redis, database: PostgreSQL) -> None:
    passwords = [urlsplit(url).password or "" for url in (live.url, database.url)]
    shown = [command_line(pid) for pid in processes_of(stack.home)]
    shown += [path.read_text() for path in (stack.home / "log").iterdir()]

    assert all(passwords)
    assert len(shown) > 10
    assert not any(password in text for text in shown for password in passwords)
