"""A secret goes nowhere but into the spool, and from there it goes when its job ends."""

import logging
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.apps import apps
from django.contrib.auth.models import User

from proving import spool
from proving.choices import JobState
from proving.models import Circuit, Job
from proving.services import dispatch, live
from proving.services.cancel import cancel_job
from proving.services.submit import JobRequest, submit_inputs
from tests.integration.runtime.conftest import Line

SECRETS = (918273645546372819, 746352891098237465)
Submit = Callable[..., Job]


def spellings(number: int) -> list[bytes]:
    """How a number could be found: in decimal, in hexadecimal, in the words of a witness."""
    return [
        str(number).encode(),
        f"{number:x}".encode(),
        number.to_bytes(32, "little"),
        number.to_bytes(32, "big"),
    ]


def places(home: Path, line: Line, caplog: pytest.LogCaptureFixture) -> Iterator[tuple[str, bytes]]:
    """Everything that outlives a job, by name."""
    yield "the log", caplog.text.encode()
    yield "the messages", repr(line.delivered).encode()
    for model in apps.get_models():
        for row in model._default_manager.values():
            yield f"a row of {model.__name__}", repr(row).encode()
    for key in live.redis().scan_iter("*"):
        yield f"{key!r} in the live state", dumped(key)
    for path in home.rglob("*"):
        if path.is_file() and "artefacts" not in path.parts and "cache" not in path.parts:
            yield str(path.relative_to(home)), path.read_bytes()


def dumped(key: bytes) -> bytes:
    """What a key of the server holds."""
    client = live.redis()
    readers: dict[bytes, Callable[[], Any]] = {
        b"string": lambda: client.get(key),
        b"hash": lambda: client.hgetall(key),
        b"zset": lambda: client.zrange(key, 0, -1),
        b"set": lambda: client.smembers(key),
        b"list": lambda: client.lrange(key, 0, -1),
        b"stream": lambda: client.xrange(key),
    }
    return repr(readers[client.type(key)]()).encode()


def found(home: Path, line: Line, caplog: pytest.LogCaptureFixture) -> list[str]:
    wanted = [spelling for number in SECRETS for spelling in spellings(number)]
    return [name for name, text in places(home, line, caplog) if any(one in text for one in wanted)]


@pytest.fixture
def everything_logged(caplog: pytest.LogCaptureFixture) -> pytest.LogCaptureFixture:
    caplog.set_level(logging.DEBUG)
    return caplog


def test_a_job_that_is_done_leaves_no_secret(
    line: Line, submit: Submit, home: Path, everything_logged: pytest.LogCaptureFixture
) -> None:
    job = submit(SECRETS)
    assert found(home, line, everything_logged) == [f"spool/{job.pk}/0.input"], "the search does find it"

    line.run()

    job.refresh_from_db()
    assert job.state == JobState.DONE
    assert found(home, line, everything_logged) == []


def test_a_job_that_is_cancelled_on_its_way_leaves_no_secret(
    line: Line, submit: Submit, home: Path, everything_logged: pytest.LogCaptureFixture
) -> None:
    job = submit(SECRETS)
    line.run_until("prove")
    assert len(found(home, line, everything_logged)) == 2, "input and evaluations"

    cancel_job(job)
    dispatch.cancel_live(job.pk, "not wanted")
    line.run()

    job.refresh_from_db()
    assert job.state == JobState.CANCELLED
    assert found(home, line, everything_logged) == []


def test_a_fault_in_the_service_leaves_no_secret(
    line: Line,
    submit: Submit,
    home: Path,
    everything_logged: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail(*_: Any) -> None:
        raise ValueError(f"with {SECRETS[0]} this cannot be done")

    monkeypatch.setattr("proving.services.synthesis_stage.evaluate", fail)
    job = submit((3, 11))

    line.run()

    job.refresh_from_db()
    assert (job.state, job.error_code) == (JobState.FAILED, "fault")
    assert "synthesis_stage.py" in everything_logged.text, "where it happened is told"
    assert not spool.job_folder(job.pk).exists()
    assert found(home, line, everything_logged) == []


def test_a_refusal_at_the_door_repeats_no_secret(
    line: Line, alice: User, home: Path, circuit: Circuit, everything_logged: pytest.LogCaptureFixture
) -> None:
    refused = {"a": str(SECRETS[0]), "b": str(SECRETS[1]), "c": "1"}
    with pytest.raises(Exception) as refusal:  # noqa: PT011 - whatever it is, it must not tell
        submit_inputs(alice, JobRequest(circuit), [refused])

    assert not any(str(number) in repr(refusal.value) for number in SECRETS)
    assert found(home, line, everything_logged) == []
