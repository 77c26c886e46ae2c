"""Workers of two GPUs, which the CPU pretends to be: one process a device, two slots each, one is wrong."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from cuzkweb.client import State
from tests.conftest import REPOSITORY
from tests.support.merkle import assert_verified, leaves
from tests.support.processes import wait_for
from tests.support.stack import Stack, running_stack
from tests.support.watcher import Watcher, faults

pytestmark = [pytest.mark.acceptance, pytest.mark.shared]

TIMEOUT = 120.0
WRONG = "cuda:1"


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    """The portable engine, so that proofs last long enough to see two at once."""
    site = REPOSITORY / "tests" / "support" / "stand_in_site"
    environment = {
        "PYTHONPATH": f"{site}:{REPOSITORY}",
        "CUZK_TEST_WRONG": WRONG,
        "CUZKWEB_ENGINE": "portable",
        "CUZKWEB_HOST": "box",
    }
    home = tmp_path_factory.mktemp("home")
    with running_stack(home, "--no-flower", "--devices", "all", **environment) as running:
        yield running


def test_two_gpus_prove_two_partitions_each_and_the_wrong_one_is_marked(
    stack: Stack, circuit: str, merkle: Path
) -> None:
    rows = {row["name"]: row for row in stack.client.status()["gpu_workers"]}
    assert {name: (row["device"], row["gpu_ordinal"]) for name, row in rows.items()} == {
        "gpu0@box": ("cuda:0", 0),
        "gpu0.2@box": ("cuda:0", 0),
        "gpu1@box": (WRONG, 1),
        "gpu1.2@box": (WRONG, 1),
    }
    assert stack.pid("gpu0") != stack.pid("gpu1")

    with Watcher(stack) as watcher:
        job = stack.client.submit(circuit, leaves(merkle, 8))
        ended = stack.client.wait(job.id, timeout=TIMEOUT)

    assert (ended.state, ended.error) == (State.DONE, None)
    assert_verified(merkle, stack.client.proofs(job.id), 8)
    assert [fault for reading in watcher.readings for fault in faults(reading)] == []
    busy = [
        {row["name"] for row in reading["gpu_workers"] if row["state"] == "proving"}
        for reading in watcher.readings
    ]
    assert any({"gpu0@box", "gpu0.2@box"} <= names for names in busy), "the second slot never helped"
    status = stack.client.status()
    marked = status["counters"]["device_faults"]
    assert set(marked) == {f"box/{WRONG}"}
    rows = {row["name"]: row for row in status["gpu_workers"]}
    assert rows["gpu1@box"]["faults"]["count"] == marked[f"box/{WRONG}"] >= 1
    assert "pairing" in rows["gpu1@box"]["faults"]["last_reason"]
    assert rows["gpu0@box"]["faults"] == {"count": 0, "last_at": None, "last_reason": None}


def test_a_device_tells_how_busy_it_is(stack: Stack) -> None:
    shares = wait_for(
        lambda: [
            share for row in stack.client.status()["gpu_workers"] if (share := row["utilisation"]) is not None
        ],
        "a worker tells its device's share",
        20.0,
    )
    assert all(0 <= share <= 1 for share in shares)
