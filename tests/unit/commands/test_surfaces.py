"""The commands that list and manage, over a service that the test plays; completion in a real bash."""

import argparse
import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import httpx
import pytest

from cuzkweb.client import Client
from cuzkweb.commands import cancel, circuits, completion, keys, priority, status, submit, watch
from cuzkweb.commands.refusals import Refused

KEY = {
    "prefix": "0a1b2c3d",
    "name": "robot",
    "scopes": ["read"],
    "created_at": "2026-11-30T12:00:00Z",
    "expires_at": None,
    "last_used_at": None,
    "revoked_at": None,
}
CIRCUIT = {
    "id": "01J",
    "name": "multiplier",
    "proof_kind": "groth16",
    "curve": "bn254",
    "state": "active",
    "insecure": True,
}


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[httpx.Request]:
    """What the commands ask; lists come in two pages."""
    seen: list[httpx.Request] = []

    def answer(request: httpx.Request) -> httpx.Response:
        seen.append(request)
        row = KEY if "keys" in request.url.path else CIRCUIT
        if request.method == "POST":
            return httpx.Response(201, json={**row, "key": "cuzk_0a1b2c3d_secret"})
        first = "cursor" not in request.url.params
        following = f"http://here{request.url.path}?cursor=x" if first else None
        return httpx.Response(200, json={"next": following, "previous": None, "results": [row]})

    def opened(_: argparse.Namespace) -> Client:
        return Client("http://here", "key", transport=httpx.MockTransport(answer))

    for module in (keys, circuits):
        monkeypatch.setattr(module, "open_client", opened)
    return seen


def call(module: Any, *words: str) -> int:
    parser = argparse.ArgumentParser()
    module.add_arguments(parser)
    code: int = module.run(parser.parse_args(words))
    return code


@pytest.mark.parametrize(("module", "row"), [(keys, KEY), (circuits, CIRCUIT)])
def test_lists_are_read_to_the_end(
    asked: list[httpx.Request], capsys: pytest.CaptureFixture[str], module: Any, row: dict[str, Any]
) -> None:
    assert call(module, "--json") == 0
    assert json.loads(capsys.readouterr().out) == [row, row]
    assert call(module) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 2
    assert row["name"] in lines[0]


def test_a_key_is_made_for_a_purpose_and_a_time(
    asked: list[httpx.Request], capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(keys, "--create", "robot", "--scope", "read", "--days", "7") == 0
    assert capsys.readouterr().out == "cuzk_0a1b2c3d_secret\n"
    body = json.loads(asked[0].content)
    assert (body["name"], body["scopes"]) == ("robot", ["read"])
    assert body["expires_at"].endswith("+00:00")


def test_a_key_is_revoked(asked: list[httpx.Request]) -> None:
    assert call(keys, "--revoke", "0a1b2c3d") == 0
    assert asked[0].url.path == "/api/v1/keys/0a1b2c3d/revoke"


JOB = {
    "id": "ps-1",
    "circuit": "c",
    "state": "queued",
    "terminal": False,
    "priority": "high",
    "error": None,
    "partitions": [],
}


@pytest.mark.parametrize(
    ("module", "words", "asks", "told"),
    [
        (priority, ["ps-1", "high"], ("PATCH", "/api/v1/jobs/ps-1"), "ps-1: queued, priority high"),
        (cancel, ["ps-1"], ("POST", "/api/v1/jobs/ps-1/cancel"), "ps-1: queued"),
    ],
)
def test_a_job_is_changed_and_told(  # noqa: PLR0917 - two fixtures, four parameters
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    module: Any,
    words: list[str],
    asks: tuple[str, str],
    told: str,
) -> None:
    seen: list[httpx.Request] = []

    def answer(request: httpx.Request) -> httpx.Response:
        seen.append(request)
        return httpx.Response(200, json=JOB)

    monkeypatch.setattr(
        module, "open_client", lambda _: Client("http://here", "key", transport=httpx.MockTransport(answer))
    )
    assert call(module, *words) == 0
    assert capsys.readouterr().out == f"{told}\n"
    assert call(module, *words, "--json") == 0
    assert json.loads(capsys.readouterr().out)["priority"] == "high"
    assert [(request.method, request.url.path) for request in seen] == [asks] * 2


@pytest.mark.parametrize(
    ("module", "words", "state", "code"),
    [
        (watch, ["ps-1"], "done", 0),
        (watch, ["ps-1"], "failed", 1),
        (submit, ["c", "--wait", "--input"], "done", 0),
        (submit, ["c", "--wait", "--input"], "cancelled", 1),
        (submit, ["c", "--input"], "queued", 0),
    ],
)
def test_a_job_is_told_to_programs(  # noqa: PLR0917 - three fixtures, four parameters
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    module: Any,
    words: list[str],
    state: str,
    code: int,
) -> None:
    given = tmp_path / "input.json"
    given.write_text("{}")
    job = {**JOB, "state": state, "terminal": state != "queued"}
    transport = httpx.MockTransport(lambda _: httpx.Response(200, json=job))
    monkeypatch.setattr(module, "open_client", lambda _: Client("http://here", "key", transport=transport))
    files = [str(given)] if words[-1] == "--input" else []
    assert call(module, *words, *files, "--json") == code
    assert json.loads(capsys.readouterr().out)["state"] == state


def test_a_circuit_wants_its_key(asked: list[httpx.Request]) -> None:
    with pytest.raises(Refused, match="--proving-key"):
        call(circuits, "--register", "x")


@pytest.mark.parametrize(
    ("words", "wanted"),
    [(["cuzkweb", "ver"], ["verify"]), (["cuzkweb", "keys", "--re"], ["--revoke"])],
)
def test_bash_completes(words: list[str], wanted: list[str]) -> None:
    if shutil.which("bash") is None:
        pytest.skip("bash is not here")
    line = " ".join(f"'{word}'" for word in words)
    script = f"{completion.bash()}\nCOMP_WORDS=({line}); COMP_CWORD={len(words) - 1}; _cuzkweb\n"
    told = subprocess.run(
        ["bash", "-c", script + 'printf "%s\\n" "${COMPREPLY[@]}"'],
        capture_output=True,
        text=True,
        check=True,
    )
    assert told.stdout.split() == wanted


def test_zsh_is_told_to_read_bash(capsys: pytest.CaptureFixture[str]) -> None:
    call(completion, "zsh")
    assert capsys.readouterr().out.startswith("autoload")


def test_the_status_is_watched_through_a_break(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    document = {
        "gpu_workers": [],
        "pipelines": [
            {
                "job_id": "ps-snap-1000-1-4711",
                "partitions_done": 1,
                "total_partitions": 16,
                "counts": {"gpu": 1},
            }
        ],
        "counters": {"total_completed": 3, "total_failed": 0, "queue_depth": 14},
    }
    answers: list[Any] = [httpx.Response(200, json=document), httpx.ConnectError("gone"), KeyboardInterrupt()]

    def answer(_: httpx.Request) -> httpx.Response:
        given = answers.pop(0)
        if isinstance(given, BaseException):
            raise given
        return given

    client = Client("http://here", "key", transport=httpx.MockTransport(answer))
    monkeypatch.setattr(status, "open_client", lambda _: client)
    monkeypatch.setattr(status.time, "sleep", lambda _: None)
    with pytest.raises(KeyboardInterrupt):
        call(status, "--watch")
    shown = capsys.readouterr().out
    assert "ps-snap-1000-1-4711: 1/16 done (1 gpu)" in shown
    assert "above is what was known: gone" in shown
