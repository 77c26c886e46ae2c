"""Status, health and metrics over HTTP, in front of a live state that the test decides."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self

import pytest
from asgiref.sync import async_to_sync
from django.contrib.auth.models import User
from django.db import DatabaseError
from django.test import AsyncClient, Client
from pytest_django import Settings
from redis.exceptions import ConnectionError as RedisConnectionError

from proving.services import health, live
from tests.integration.conftest import Caller

pytestmark = pytest.mark.django_db

DOCUMENT = {
    "rev": 7,
    "uptime_secs": 1.0,
    "memory": {"total_bytes": 3, "used_bytes": 1, "available_bytes": 2},
    "pipelines": [],
    "gpu_workers": [],
    "counters": {
        "queue_depth": 0,
        "completed_by_kind": {},
        "failed_by_kind": {},
        "stale_writes": {},
    },
}


@dataclass
class Reading:
    """A snapshot of that version."""

    rev: int

    def document(self, *narrowed: Any) -> dict[str, Any]:
        return {**DOCUMENT, "rev": self.rev}


@dataclass
class Live:
    """A live side whose snapshot is what the test says, or that is away."""

    version: int = 7
    away: bool = False
    maxmemory: int = 0
    policy: str = "allkeys-lru"

    def rev(self) -> int:
        self.ping()
        return self.version

    def snapshot(self, *limits: Any) -> Reading:
        return Reading(self.rev())

    def hgetall(self, *_: str) -> dict[bytes, bytes]:
        self.ping()
        return {}

    def pipeline(self, **_: bool) -> "Live":
        return self

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def execute(self) -> list[dict[bytes, bytes]]:
        return [{}, {}]

    def info(self, _: str) -> dict[str, object]:
        self.ping()
        return {"maxmemory": self.maxmemory, "maxmemory_policy": self.policy}

    def ping(self) -> bool:
        if self.away:
            raise RedisConnectionError("no server")
        return True


@pytest.fixture
def live_side(monkeypatch: pytest.MonkeyPatch) -> Live:
    side = Live()
    monkeypatch.setattr(live, "store", lambda: side)
    monkeypatch.setattr(live, "redis", lambda: side)
    return side


@pytest.mark.parametrize("path", ["/status", "/api/v1/status"])
def test_the_status_is_the_snapshot_with_its_rev_as_tag(caller: Caller, live_side: Live, path: str) -> None:
    answer = caller.get(path)
    assert (answer.status_code, answer.json()) == (200, DOCUMENT)
    assert answer["ETag"] == '"7"'
    assert answer["Cache-Control"] == "no-cache"


def test_an_unchanged_status_costs_a_304(caller: Caller, live_side: Live) -> None:
    same = caller.client.get("/status", headers={"if-none-match": '"7"'})
    assert (same.status_code, same.content, same["ETag"]) == (304, b"", '"7"')
    live_side.version = 8
    assert caller.client.get("/status", headers={"if-none-match": '"7"'}).json()["rev"] == 8


@pytest.mark.parametrize("path", ["/status", "/api/v1/status", "/metrics"])
def test_the_status_is_closed_unless_opened_on_this_host(
    live_side: Live, settings: Settings, path: str
) -> None:
    assert Client().get(path).status_code == 401
    settings.CUZKWEB_STATUS_OPEN_ON_LOOPBACK = True
    assert Client().get(path).status_code == 200
    assert Client().get(path, REMOTE_ADDR="10.0.0.9").status_code == 401
    assert Client().get(path, headers={"x-forwarded-for": "10.0.0.9"}).status_code == 401


def test_staff_watch_with_their_session(live_side: Live, staff: User) -> None:
    client = Client()
    client.force_login(staff)
    assert client.get("/status").status_code == 200


@pytest.mark.parametrize("path", ["/status", "/metrics"])
def test_without_its_server_the_status_says_so(caller: Caller, live_side: Live, path: str) -> None:
    live_side.away = True
    answer = caller.get(path)
    assert (answer.status_code, answer.json()["code"]) == (503, "live_state_unavailable")


def test_metrics_are_text(caller: Caller, live_side: Live) -> None:
    answer = caller.get("/metrics")
    assert answer["Content-Type"].startswith("text/plain; version=0.0.4")
    assert "cuzkweb_queue_depth 0\n" in answer.text


def test_the_process_is_alive_whatever_else_is_not(live_side: Live) -> None:
    live_side.away = True
    assert Client().get("/healthz").json() == {"alive": True}


def test_readiness_names_what_is_missing(live_side: Live, monkeypatch: pytest.MonkeyPatch) -> None:
    ready = Client().get("/readyz")
    assert (ready.status_code, ready.json()["ready"]) == (200, True)
    live_side.away = True
    answer = Client().get("/readyz")
    assert answer.status_code == 503
    assert answer.json() == {
        "ready": False,
        "checks": {"database": True, "migrations": True, "redis": False, "eviction": False, "spool": True},
    }

    def fail() -> None:
        raise DatabaseError("gone")

    monkeypatch.setattr(health.connection, "cursor", fail)
    assert Client().get("/readyz").json()["checks"]["database"] is False


def test_missing_migrations_are_not_ready(live_side: Live, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(health.MigrationExecutor, "migration_plan", lambda *_: ["0002"])
    assert Client().get("/readyz").json()["checks"]["migrations"] is False


def test_a_server_that_drops_what_it_was_given_is_not_ready(live_side: Live) -> None:
    live_side.maxmemory = 1 << 30
    assert Client().get("/readyz").json()["checks"]["eviction"] is False
    live_side.policy = "noeviction"
    assert Client().get("/readyz").json()["checks"]["eviction"] is True


def test_without_room_on_the_disk_it_is_not_ready(live_side: Live, settings: Settings) -> None:
    settings.CUZKWEB_MIN_FREE_BYTES = 1 << 60
    answer = Client().get("/readyz")
    assert (answer.status_code, answer.json()["checks"]["spool"]) == (503, False)


@pytest.mark.parametrize("path", ["/api/docs/", "/api/docs/?script="])
def test_the_documentation_needs_no_other_host(path: str) -> None:
    answer = Client().get(path)
    assert answer.status_code == 200
    assert "http://" not in answer.text
    assert "https://" not in answer.text
    assert "unsafe-inline" not in answer["Content-Security-Policy"].split("script-src")[-1].split(";")[0]


def test_the_documentations_files_are_served_from_here(calling: Callable[[User], Caller]) -> None:
    answer = Client().get("/static/drf_spectacular_sidecar/swagger-ui-dist/swagger-ui-bundle.js")
    assert answer.status_code == 200
    assert len(b"".join(answer)) > 100_000
    answer.close()


def test_files_are_streamed_without_blocking_under_asgi() -> None:
    async def fetch() -> tuple[int, int]:
        answer = await AsyncClient().get("/static/admin/css/base.css")
        return answer.status_code, len(b"".join([chunk async for chunk in answer.streaming_content]))

    status, size = async_to_sync(fetch)()
    assert status == 200
    assert size > 1000
