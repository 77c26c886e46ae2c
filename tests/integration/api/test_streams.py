"""Streams of events: news as it comes, nothing twice after a break, an end when the key ends."""

import json
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from asgiref.sync import async_to_sync, sync_to_async
from django.contrib.auth.models import User
from django.test import AsyncClient
from pytest_django import Settings
from redis.exceptions import ConnectionError as RedisConnectionError

from proving.api import streams
from proving.choices import JobState
from proving.models import Circuit, Job
from proving.services import keys, live
from proving.services.submit import JobRequest, submit_inputs
from tests.integration.conftest import Dispatched

pytestmark = pytest.mark.django_db

STATUS = "/api/v1/status/stream"


class Side:
    """A live side whose version is what the test says, or that is away."""

    version = 7
    away = False

    def rev(self) -> int:
        if self.away:
            raise RedisConnectionError("no server")
        return self.version

    def snapshot(self, *_: Any) -> SimpleNamespace:
        document = {"rev": self.version}
        return SimpleNamespace(rev=self.version, document=lambda *_: document)


@pytest.fixture
def side(monkeypatch: pytest.MonkeyPatch) -> Side:
    fresh = Side()
    monkeypatch.setattr(live, "store", lambda: fresh)
    monkeypatch.setattr(streams, "LOOK_SECONDS", 0.01)
    return fresh


@pytest.fixture
def key(home: None, alice: User) -> str:
    return keys.create_key(alice, "listener")[1]


def listen(path: str, key: str, act: Callable[["Reader"], Any], **headers: str) -> None:
    """Open a stream and let the test read it."""

    async def run() -> None:
        answer = await AsyncClient().get(path, headers={"authorization": f"Bearer {key}", **headers})
        reader = Reader(answer)
        try:
            await act(reader)
        finally:
            if reader.chunks is not None:
                await reader.chunks.aclose()

    async_to_sync(run)()


class Reader:
    """The events of an answer, one by one."""

    def __init__(self, answer: Any) -> None:
        self.answer = answer
        streaming = answer.status_code == 200
        self.chunks: Any = aiter(answer.streaming_content) if streaming else None

    async def next(self) -> dict[str, str]:
        """The next event, as its fields; retry and pings are passed over."""
        while True:
            text = (await anext(self.chunks)).decode()
            assert text.endswith("\n\n")
            fields = dict(line.split(": ", 1) for line in text.strip().splitlines() if line[0] != ":")
            if "event" in fields:
                return fields


def test_news_comes_as_events_with_the_rev_as_id(side: Side, key: str) -> None:
    async def act(reader: Reader) -> None:
        assert reader.answer["Content-Type"] == "text/event-stream"
        assert reader.answer["Cache-Control"] == "no-cache"
        first = await reader.next()
        assert (first["event"], first["id"], json.loads(first["data"])) == ("status", "7", {"rev": 7})
        side.version = 9
        assert (await reader.next())["id"] == "9"

    listen(STATUS, key, act)


def test_after_a_break_only_news_comes(side: Side, key: str) -> None:
    async def act(reader: Reader) -> None:
        assert (await reader.next())["event"] == "beat"
        side.version = 8
        assert (await reader.next())["id"] == "8"

    listen(f"{STATUS}?beat=1", key, act, **{"last-event-id": "7"})


def test_ages_are_told_again_though_nothing_changed(
    side: Side, key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(streams, "REFRESH_SECONDS", 0.02)

    async def act(reader: Reader) -> None:
        assert [(await reader.next())["id"] for _ in range(2)] == ["7", "7"]

    listen(STATUS, key, act)


def test_silence_is_broken_by_pings(side: Side, key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams, "PING_SECONDS", 0.02)

    async def act(reader: Reader) -> None:
        await reader.next()
        assert await anext(reader.chunks) == b": ping\n\n"

    listen(STATUS, key, act)


def test_a_revoked_key_ends_its_streams(side: Side, key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams, "AGREE_SECONDS", 0.02)

    async def act(reader: Reader) -> None:
        await reader.next()
        await sync_to_async(lambda: keys.revoke_key(keys.find_key(key)))()  # type: ignore[arg-type]
        last = await reader.next()
        assert (last["event"], json.loads(last["data"])["status"]) == ("end", 401)
        with pytest.raises(StopAsyncIteration):
            await anext(reader.chunks)

    listen(STATUS, key, act)


def test_a_server_that_is_away_is_told_and_waited_for(
    side: Side, key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(streams, "RETRY_SECONDS", 0.01)
    side.away = True

    async def act(reader: Reader) -> None:
        fault = await reader.next()
        assert (fault["event"], json.loads(fault["data"])["code"]) == ("fault", "live_state_unavailable")
        side.away = False
        assert (await reader.next())["event"] == "status"

    listen(STATUS, key, act)


def test_a_job_is_followed_to_its_end(
    key: str, circuit: Circuit, alice: User, dispatched: Dispatched, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(streams, "LOOK_SECONDS", 0.01)
    job = submit_inputs(alice, JobRequest(circuit), [{"a": 1, "b": 2}]).job

    def become(state: JobState) -> None:
        Job.objects.update(state=state)

    async def act(reader: Reader) -> None:
        first = await reader.next()
        assert json.loads(first["data"])["state"] == "queued"
        await sync_to_async(become)(JobState.RUNNING)
        assert json.loads((await reader.next())["data"])["state"] == "running"
        await sync_to_async(become)(JobState.DONE)
        last = await reader.next()
        assert json.loads(last["data"])["terminal"] is True
        assert last["id"] != first["id"]
        assert (await reader.next())["event"] == "end"

    listen(f"/api/v1/jobs/{job.name}/stream", key, act)


def test_another_owners_stream_is_not_there(
    key: str, circuit: Circuit, bob: User, alice: User, dispatched: Dispatched
) -> None:
    job = submit_inputs(alice, JobRequest(circuit), [{"a": 1, "b": 2}]).job
    bobs = keys.create_key(bob, "listener")[1]

    async def act(reader: Reader) -> None:
        assert reader.answer.status_code == 404
        assert reader.answer["Content-Type"] == "application/problem+json"
        assert reader.answer.json()["code"] == "not_found"

    headers = {"accept": "text/event-stream"}
    listen(f"/api/v1/jobs/{job.name}/stream", bobs, act, **headers)


def test_streams_are_limited_and_counted_down_again(side: Side, key: str, settings: Settings) -> None:
    settings.CUZKWEB_MAX_STREAMS = 1

    async def refused(reader: Reader) -> None:
        assert reader.answer.status_code == 503
        assert reader.answer.json()["code"] == "too_many_streams"
        assert reader.answer["Retry-After"] == "10"

    async def act(reader: Reader) -> None:
        await reader.next()
        second = await AsyncClient().get(STATUS, headers={"authorization": f"Bearer {key}"})
        await refused(Reader(second))

    listen(STATUS, key, act)
    assert streams.Open.count == 0


def test_many_streams_share_one_reading(side: Side, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams, "LOOK_SECONDS", 60)
    taken: list[int] = []
    real = Side.snapshot
    monkeypatch.setattr(Side, "snapshot", lambda self, *_: taken.append(1) or real(self))

    async def run() -> None:
        for _ in range(5):
            assert (await streams.shared_status().latest())[0] == "7"

    async_to_sync(run)()
    assert len(taken) == 1
