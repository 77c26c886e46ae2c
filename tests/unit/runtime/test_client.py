"""The client, with a service that the test plays."""

import json
from collections.abc import Callable

import httpx
import pytest

from cuzkweb import client as subject
from cuzkweb.client import ApiError, Client, State

JOB = {
    "id": "job",
    "circuit": "c",
    "state": "running",
    "terminal": False,
    "priority": "normal",
    "error": None,
    "partitions": [{"index": 0, "state": "gpu", "attempt": 1, "error": None}],
}


def played(answer: Callable[[httpx.Request], httpx.Response]) -> Client:
    return Client("http://service", "key", transport=httpx.MockTransport(answer))


def test_the_key_goes_with_every_request_and_integers_stay_exact() -> None:
    seen = []

    def answer(request: httpx.Request) -> httpx.Response:
        seen.append(request)
        return httpx.Response(202, json=JOB)

    with played(answer) as client:
        job = client.submit("c", [{"a": 2**255 + 19}], request_id="mine", on_failure="continue")

    assert seen[0].headers["Authorization"] == "Bearer key"
    assert json.loads(seen[0].content) == {
        "circuit": "c",
        "inputs": [{"a": 2**255 + 19}],
        "request_id": "mine",
        "on_failure": "continue",
    }
    assert job.partitions[0].state == State.GPU


def test_a_refusal_is_told_with_its_place() -> None:
    problem = {
        "title": "Bad input",
        "detail": "is not below r",
        "errors": [{"pointer": "#/inputs/0/a", "detail": "is not below r", "code": "bad_input"}],
    }
    with (
        played(lambda _: httpx.Response(400, json=problem)) as client,
        pytest.raises(ApiError, match=r"^#/inputs/0/a: is not below r$") as refusal,
    ):
        client.submit("c", [{}])

    assert (refusal.value.status, refusal.value.code) == (400, "bad_input")


def test_an_answer_that_is_no_problem_document_is_still_told() -> None:
    with played(lambda _: httpx.Response(502, text="<html>")) as client, pytest.raises(ApiError, match="502"):
        client.status()


def test_an_unknown_state_is_an_error() -> None:
    with (
        played(lambda _: httpx.Response(200, json={**JOB, "state": "resting"})) as client,
        pytest.raises(ValueError, match="resting"),
    ):
        client.job("job")


def test_waiting_outlives_a_server_that_is_away(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subject.time, "sleep", lambda seconds: None)
    answers = iter(
        [
            httpx.ConnectError("refused"),
            httpx.Response(200, json=JOB),
            httpx.Response(200, json={**JOB, "state": "done", "terminal": True}),
        ]
    )

    def answer(request: httpx.Request) -> httpx.Response:
        found = next(answers)
        if isinstance(found, Exception):
            raise found
        return found

    with played(answer) as client:
        heard = []
        job = client.wait("job", heard=heard.append)

    assert job.state == State.DONE
    assert [found.state for found in heard] == [State.RUNNING, State.DONE]
