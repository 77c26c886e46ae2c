"""Three hosts: one with the servers and the finalizers, two with a device each, a storage between them."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from celery import Celery

from cuzkweb.celery import configuration
from cuzkweb.client import State
from tests.support.fleet import Fleet, running_fleet
from tests.support.ledger import assert_balanced
from tests.support.merkle import leaves
from tests.support.processes import wait_for
from tests.support.stack import DEPLOYMENT

pytestmark = [pytest.mark.acceptance, pytest.mark.chaos, pytest.mark.shared]

TIMEOUT = 120.0


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fleet]:
    with running_fleet(tmp_path_factory.mktemp("fleet"), CUZKWEB_ENGINE="portable") as fleet:
        yield fleet


def proving_on(stack: Fleet, worker: str) -> tuple[str, int] | None:
    """What a device proves just now."""
    for row in stack.client.status()["gpu_workers"]:
        if row["name"] == worker and row["current_job"] is not None:
            return row["current_job"], row["current_partition"]
    return None


def test_two_hosts_prove_what_the_third_was_asked(stack: Fleet, circuit: str, merkle: Path) -> None:
    job = stack.client.submit(circuit, leaves(merkle, 4), request_id="both")

    ended = stack.client.wait(job.id, timeout=TIMEOUT)

    assert (ended.state, ended.error) == (State.DONE, None)
    with stack.live.client() as live:
        assert_balanced(stack, live, merkle, [job.id])
    assert stack.objects("proving/spool") == []
    kept = {name.rpartition("/")[2] for name in stack.objects("proving/artefacts")}
    for host in stack.network.others.values():
        home = stack.home_of(host)
        assert {path.name for path in (home / "artefacts").rglob("*") if path.is_file()} == kept
        assert [path for path in (home / "spool").rglob("*") if path.is_file()] == []


def test_a_host_that_is_cut_off_in_the_middle_loses_nothing(stack: Fleet, circuit: str, merkle: Path) -> None:
    job = stack.client.submit(circuit, leaves(merkle, 3), request_id="cut")
    caught = wait_for(lambda: proving_on(stack, "gpu0@a"), "host a proves", TIMEOUT)[1]

    stack.network.cut("a")
    ended = stack.client.wait(job.id, timeout=TIMEOUT)

    assert (ended.state, ended.error) == (State.DONE, None)
    assert ended.partitions[caught].attempt == 2
    stack.network.mend("a")
    again = stack.client.submit(circuit, leaves(merkle, 4), request_id="mended")
    wait_for(lambda: proving_on(stack, "gpu0@a"), "host a proves again", TIMEOUT)
    assert stack.client.wait(again.id, timeout=TIMEOUT).state == State.DONE
    with stack.live.client() as live:
        assert_balanced(stack, live, merkle, ["cut", "mended"])


def test_devices_keep_their_own_queues_when_the_broker_comes_back(
    stack: Fleet, circuit: str, merkle: Path
) -> None:
    stack.live.kill()
    stack.live.start()
    wait_for(stack.live.answers, "the server answers again")
    job = stack.client.submit(circuit, leaves(merkle, 2), request_id="after")

    assert stack.client.wait(job.id, timeout=TIMEOUT).state == State.DONE
    monitor = Celery("monitor", set_as_current=False)
    monitor.conf.update(configuration(stack.live.administrator, DEPLOYMENT))

    def queues() -> dict[str, set[str]]:
        told = monitor.control.inspect(timeout=2.0).active_queues() or {}
        return {worker: {queue["name"] for queue in found} for worker, found in told.items()}

    found = wait_for(lambda: {k: v for k, v in queues().items() if k.startswith("gpu0@")}, "they answer", 30)
    assert {"gpu0@a": {"gpu.a.0", "gpu"}, "gpu0@b": {"gpu.b.0", "gpu"}} == found
    with stack.live.client() as live:
        assert_balanced(stack, live, merkle, [job.id])
