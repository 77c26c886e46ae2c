"""The stages in this very process: a real server, a real database, and messages that the test delivers."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from pytest_django import Settings

from cuzkweb.addresses import embedded_redis_url, embedded_socket
from cuzkweb.supervisor import valkey
from cuzkweb.supervisor.child import Child
from proving import spool
from proving.models import Circuit, Job
from proving.services import (
    assemble_stage,
    device_stage,
    dispatch,
    finalize_stage,
    fleet,
    live,
    station,
    synthesis_stage,
)
from proving.services.stage import Report
from proving.services.station import Station
from proving.services.submit import JobRequest, submit_inputs, submit_witnesses
from proving.tracker.records import WorkerKind
from tests.support.processes import wait_for

DEVICE = Station(WorkerKind.DEVICE, "gpu0@here", "here", "host")
SYNTHESIS = Station(WorkerKind.SYNTHESIS, "synthesis@here", "here", slot=1)
FINALIZE = Station(WorkerKind.FINALIZE, "finalize@here", "here", slot=1)

Message = tuple[str, tuple[Any, ...]]


@pytest.fixture(scope="session")
def redis_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server of the kind that the supervisor starts."""
    home = tmp_path_factory.mktemp("server")
    child = Child(valkey.program(embedded_socket(home), home / "data"), home)
    child.start()
    wait_for(child.became_ready, "the server answers")
    yield embedded_redis_url(home)
    child.kill()


@pytest.fixture
def live_state(redis_url: str, settings: Settings, home: Path) -> Iterator[None]:
    """An empty live state, reached by this process's services."""
    settings.REDIS_URL = redis_url
    settings.CUZKWEB_LEASE_SECONDS = 30.0
    live.redis.cache_clear()
    live.store.cache_clear()
    live.redis().flushall()
    yield
    live.redis().close()
    live.redis.cache_clear()
    live.store.cache_clear()


@dataclass
class Line:
    """The messages that were sent, in order, and workers that take them one by one."""

    waiting: list[Message] = field(default_factory=list)
    delivered: list[Message] = field(default_factory=list)

    def deliver(self) -> Report:
        """Give the oldest message to the worker that it is for."""
        message = self.waiting.pop(0)
        self.delivered.append(message)
        return take(*message)

    def run(self, *, copies: int = 1, limit: int = 200) -> None:
        """Deliver until nothing waits, each message as often as `copies` says."""
        while self.waiting:
            limit -= 1
            assert limit, "messages breed messages"
            self.waiting = self.waiting[:1] * copies + self.waiting[1:]
            for _ in range(copies):
                self.deliver()

    def run_until(self, task: str) -> None:
        """Deliver until the next message is one for `task`."""
        while self.waiting and self.waiting[0][0] != task:
            self.deliver()
        assert self.waiting, f"nobody sent {task}"


def take(task: str, place: tuple[Any, ...]) -> Report:
    """What a worker does with a message."""
    stages: dict[str, tuple[Station, Callable[..., Report]]] = {
        "synthesize": (SYNTHESIS, synthesis_stage.synthesize),
        "prove": (DEVICE, device_stage.prove),
        "finalize": (FINALIZE, finalize_stage.finalize),
        "assemble": (FINALIZE, assemble_stage.assemble),
    }
    place_of, stage = stages[task]
    station.occupy(place_of)
    return stage(*place)


@pytest.fixture
def line(live_state: None, monkeypatch: pytest.MonkeyPatch) -> Line:
    """Workers that have joined, and the messages for them."""
    found = Line()
    monkeypatch.setattr(
        dispatch, "send_all", lambda task, places, priority: found.waiting.extend((task, p) for p in places)
    )
    device_stage.device.cache_clear()
    for place in (DEVICE, SYNTHESIS, FINALIZE):
        station.occupy(place)
        fleet.join()
    return found


@pytest.fixture
def submit(line: Line, alice: User, circuit: Circuit) -> Callable[..., Job]:
    """Submits a job of a x b for each pair, and opens it."""

    def make(*pairs: tuple[int, int]) -> Job:
        inputs = [{"a": str(a), "b": str(b)} for a, b in pairs]
        job = submit_inputs(alice, JobRequest(circuit), inputs).job
        dispatch.enqueue_job(job)
        return job

    return make


@pytest.fixture
def submit_witness(line: Line, alice: User, circuit: Circuit, tmp_path: Path) -> Callable[[bytes], Job]:
    """Submits a job of one witness file that the door has let through unlooked at."""

    def make(good: bytes, content: bytes) -> Job:
        from django.core.files.uploadedfile import SimpleUploadedFile

        job = submit_witnesses(alice, JobRequest(circuit), [SimpleUploadedFile("w.wtns", good)]).job
        spool.store_witness_upload(job.pk, 0, [content])
        dispatch.enqueue_job(job)
        return job

    return make
