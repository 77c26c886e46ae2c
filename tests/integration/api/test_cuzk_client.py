"""A client of cuzk reads ours: every field that the panel of cuzk's fleet manager takes from GET /status.

That panel (vast-manager, in a branch of filecoin-project/curio) fetches the address with a plain curl and
calls number and string methods on what it finds, without asking whether it is there. The list below says what
it takes and what it does with it; nothing of it is copied here.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import redis
from django.test import Client
from pytest_django import Settings

from proving.services import live
from proving.tracker.records import DeviceMemory, ResidentKey
from tests.support.tracker import Driver

pytestmark = pytest.mark.django_db

NUMBER, TEXT, FLAG, OBJECT, LIST = (int, float), (str,), (bool,), (dict,), (list,)
MAYBE = (type(None),)

TAKEN: dict[str, tuple[type, ...]] = {
    "uptime_secs": NUMBER,
    "memory.used_bytes": NUMBER,
    "memory.total_bytes": NUMBER,
    "synthesis.active": NUMBER,
    "synthesis.max_concurrent": NUMBER,
    "counters.total_completed": NUMBER,
    "counters.total_failed": NUMBER,
    "counters.queue_depth": NUMBER,
    "counters.completed_by_kind": OBJECT,
    "pipelines": LIST,
    "pipelines.job_id": TEXT,
    "pipelines.proof_kind": TEXT,
    "pipelines.started_secs_ago": NUMBER,
    "pipelines.partitions_done": NUMBER,
    "pipelines.total_partitions": NUMBER,
    "pipelines.partitions": LIST,
    "pipelines.partitions.index": NUMBER,
    "pipelines.partitions.state": TEXT,
    "pipelines.partitions.synth_ms": NUMBER + MAYBE,
    "pipelines.partitions.gpu_ms": NUMBER + MAYBE,
    "gpu_workers": LIST,
    "gpu_workers.worker_id": NUMBER,
    "gpu_workers.gpu_ordinal": NUMBER,
    "gpu_workers.state": TEXT,
    "gpu_workers.busy_secs": NUMBER + MAYBE,
    "gpu_workers.current_partition": NUMBER + MAYBE,
    "allocations.srs": LIST,
    "allocations.srs.circuit_id": TEXT,
    "allocations.srs.bytes": NUMBER,
    "allocations.srs.evictable": FLAG,
    "allocations.pce": LIST,
    "allocations.pce.circuit_id": TEXT,
    "allocations.pce.bytes": NUMBER,
    "buffers.synth_in_flight": NUMBER,
    "buffers.provers_in_flight": NUMBER,
    "buffers.aux_in_flight": NUMBER,
    "buffers.shells_in_flight": NUMBER,
}
KNOWN_STATES = {"pending", "synthesizing", "synth_done", "gpu", "done", "failed"}
"""What the panel has a colour and a text for. Ours has two more, which it shows without either."""


@pytest.fixture
def address(
    valkey: redis.Redis, valkey_socket: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> Iterator[str]:
    """The status of a busy service: a job in every state, a device that proves and one that does not."""
    settings.REDIS_URL = f"unix://{valkey_socket}"
    settings.CUZKWEB_STATUS_OPEN_ON_LOOPBACK = True
    live.redis.cache_clear()
    live.store.cache_clear()
    driver = Driver(live.store())
    driver.store.mark_started()
    driver.register("gpu0@host")
    driver.register("gpu1@host", ordinal=1)
    driver.open("broken", 1, proof_kind="porep-c2")
    driver.store.fail(driver.synthesizing(0, job="broken"), "assertion", retry=False)
    driver.open("ps-snap-1000-1-4711", 5, proof_kind="snap-update")
    driver.done(4, job="ps-snap-1000-1-4711")
    driver.on_device(3, job="ps-snap-1000-1-4711")
    driver.synthesized(2, job="ps-snap-1000-1-4711")
    driver.synthesizing(1, job="ps-snap-1000-1-4711")
    driver.open("winning-post-1", 1, proof_kind="winning-post")
    keys = [ResidentKey("circuit", 700, 1.0), ResidentKey("circuit", 20, kind="pce")]
    driver.store.worker_seen("gpu0@host", DeviceMemory(1_000, 800), keys)
    yield "/status"
    live.redis().close()
    live.redis.cache_clear()
    live.store.cache_clear()


def found(document: Any, path: str) -> list[Any]:
    """Everything that a path leads to, through every element of a list."""
    here = [document]
    for name in path.split("."):
        there = [item for place in here for item in (place if isinstance(place, list) else [place])]
        here = [item[name] for item in there]
    return here


@pytest.mark.parametrize("path", TAKEN)
def test_the_panel_finds_what_it_takes(address: str, path: str) -> None:
    values = found(Client().get(address).json(), path)
    assert values
    for value in values:
        assert isinstance(value, TAKEN[path]), f"{path} is {value!r}"
        assert isinstance(value, bool) == (TAKEN[path] is FLAG), f"{path} is {value!r}"


def test_the_panel_takes_it_for_an_answer(address: str) -> None:
    answer = Client().get(address)
    assert (answer.status_code, answer["Content-Type"]) == (200, "application/json")
    document = answer.json()
    assert "error" not in document, "that is how it tells a failure"
    assert set(found(document, "pipelines.partitions.state")) == KNOWN_STATES
    assert set(found(document, "gpu_workers.state")) == {"idle", "proving"}
    for worker in document["gpu_workers"]:
        assert (worker["state"] == "proving") == (worker["busy_secs"] is not None)


@pytest.mark.parametrize(
    ("opened", "peer", "status"),
    [(False, "127.0.0.1", 401), (True, "127.0.0.1", 200), (True, "::1", 200), (True, "192.0.2.1", 401)],
)
def test_a_plain_curl_on_this_host_is_enough_where_the_setting_says_so(
    address: str, settings: Settings, opened: bool, peer: str, status: int
) -> None:
    settings.CUZKWEB_STATUS_OPEN_ON_LOOPBACK = opened
    assert Client().get(address, REMOTE_ADDR=peer).status_code == status


def test_it_is_closed_unless_somebody_opens_it() -> None:
    from cuzkweb import settings as given

    assert given.CUZKWEB_STATUS_OPEN_ON_LOOPBACK is False
