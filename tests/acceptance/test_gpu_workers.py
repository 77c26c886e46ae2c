"""Workers of two GPUs, which the CPU pretends to be: a process a device, two slots each; both are bad."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from cuzkweb.client import State
from tests.conftest import REPOSITORY
from tests.support.merkle import assert_verified, leaves
from tests.support.processes import children_of, wait_for
from tests.support.stack import Stack, running_stack
from tests.support.watcher import Watcher, faults

pytestmark = [pytest.mark.acceptance, pytest.mark.shared]

TIMEOUT = 120.0
BREAKS, WRONG = "cuda:0", "cuda:1"


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    """The portable engine, so that proofs last long enough to see two at once."""
    site = REPOSITORY / "tests" / "support" / "stand_in_site"
    environment = {
        "PYTHONPATH": f"{site}:{REPOSITORY}",
        "CUZK_TEST_BREAKS": BREAKS,
        "CUZK_TEST_WRONG": WRONG,
        "CUZKWEB_ENGINE": "portable",
        "CUZKWEB_HOST": "box",
    }
    home = tmp_path_factory.mktemp("home")
    with running_stack(home, "--no-flower", "--devices", "all", **environment) as running:
        yield running


def test_two_gpus_prove_two_partitions_each_and_bad_ones_are_marked(
    stack: Stack, circuit: str, merkle: Path
) -> None:
    rows = {row["name"]: row for row in stack.client.status()["gpu_workers"]}
    assert {name: (row["device"], row["gpu_ordinal"]) for name, row in rows.items()} == {
        "gpu0@box": ("cuda:0", 0),
        "gpu0.2@box": ("cuda:0", 0),
        "gpu1@box": (WRONG, 1),
        "gpu1.2@box": (WRONG, 1),
    }
    before = {name: stack.pid(name) for name in ("gpu0", "gpu1")}
    assert len(set(before.values())) == 2
    assert [child for pid in before.values() for child in children_of(pid)] == [], "none forks"

    with Watcher(stack) as watcher:
        job = stack.client.submit(circuit, leaves(merkle, 6))
        ended = stack.client.wait(job.id, timeout=TIMEOUT)

    assert (ended.state, ended.error) == (State.DONE, None)
    assert_verified(merkle, stack.client.proofs(job.id), 6)
    assert [fault for reading in watcher.readings for fault in faults(reading)] == []
    busy = [
        {row["name"] for row in reading["gpu_workers"] if row["state"] == "proving"}
        for reading in watcher.readings
    ]
    assert any({f"{gpu}@box", f"{gpu}.2@box"} <= names for gpu in before for names in busy), "one slot idled"
    wait_for(lambda: stack.pid("gpu0") != before["gpu0"], "a device that broke has a fresh process", 30.0)
    ready = stack.home / "run" / "ready" / "gpu0"
    wait_for(lambda: ready.read_text() == str(stack.pid("gpu0")), "which is ready", 60.0)
    assert stack.pid("gpu1") == before["gpu1"]
    status = stack.client.status()
    marked = status["counters"]["device_faults"]
    assert set(marked) == {f"box/{BREAKS}", f"box/{WRONG}"}
    faults_of = {row["name"]: row["faults"] for row in status["gpu_workers"]}
    assert faults_of["gpu1@box"]["count"] == marked[f"box/{WRONG}"] >= 1
    assert "pairing" in faults_of["gpu1@box"]["last_reason"]
    assert (faults_of["gpu0@box"]["count"], marked[f"box/{BREAKS}"]) == (1, 1), "it outlives the process"
    assert faults_of["gpu0@box"]["last_reason"] == "the driver reports: the launch failed"


def test_a_device_tells_how_busy_it_is(stack: Stack) -> None:
    shares = wait_for(
        lambda: [
            share for row in stack.client.status()["gpu_workers"] if (share := row["utilisation"]) is not None
        ],
        "a worker tells its device's share",
        20.0,
    )
    assert all(0 <= share <= 1 for share in shares)
