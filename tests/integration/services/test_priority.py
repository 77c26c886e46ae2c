"""Changing a job's priority: by its owner, by the staff, against the live state, after a loss."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import redis
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from pytest_django import DjangoCaptureOnCommitCallbacks, Settings

from proving.choices import JobState, Priority
from proving.models import Circuit, Job
from proving.services import dispatch, live, reconcile
from tests.integration.conftest import Caller

pytestmark = pytest.mark.django_db

JOBS = "/api/v1/jobs"


@pytest.fixture(autouse=True)
def live_state(
    valkey: redis.Redis, valkey_socket: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> Iterator[None]:
    """The services of this process on the server of the session; no message is sent to anybody."""
    settings.REDIS_URL = f"unix://{valkey_socket}"
    monkeypatch.setattr(dispatch, "send_all", lambda *_: None)
    live.redis.cache_clear()
    live.store.cache_clear()
    yield
    live.redis().close()
    live.redis.cache_clear()
    live.store.cache_clear()


@pytest.fixture
def submit(caller: Caller, circuit: Circuit) -> Callable[[str], str]:
    def submitted(name: str) -> str:
        body = {"circuit": circuit.pk, "inputs": [{"a": 1, "b": 2}], "request_id": name}
        found: str = caller.post(JOBS, body).json()["id"]
        return found

    return submitted


@pytest.fixture
def change(
    caller: Caller, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> Callable[..., object]:
    def changed(job: str, body: object, client: Client = caller.client) -> object:
        with django_capture_on_commit_callbacks(execute=True):
            return client.patch(f"{JOBS}/{job}", body, content_type="application/json")

    return changed


def line() -> list[str]:
    return live.store().job_ids()


def test_an_owner_moves_their_job(submit, change, caller: Caller) -> None:
    submit("older")
    submit("newer")
    assert line() == ["older", "newer"]
    answer = change("newer", {"priority": "critical"})
    assert (answer.status_code, answer.json()["priority"]) == (200, "critical")
    assert line() == ["newer", "older"]
    assert [job["priority"] for job in caller.get("/status").json()["pipelines"]] == ["critical", "normal"]


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({}, "#/priority"),
        ({"priority": "asap"}, "#/priority"),
        ({"priority": "low", "label": "x"}, "#/label"),
    ],
)
def test_what_is_no_change_is_refused(submit, change, body: object, pointer: str) -> None:
    answer = change(submit("one"), body)
    assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (400, pointer)


def test_a_job_that_ends_moves_no_more(submit, change) -> None:
    job = submit("one")
    for state in (JobState.CANCELLING, JobState.DONE):
        Job.objects.update(state=state)
        answer = change(job, {"priority": "high"})
        assert (answer.status_code, answer.json()["code"]) == (409, "not_movable")
    assert Job.objects.get().priority == Priority.NORMAL


def test_another_owners_job_is_not_there(submit, change, calling, bob: User) -> None:
    assert change(submit("one"), {"priority": "high"}, calling(bob).client).status_code == 404


def test_staff_move_jobs_and_leave_a_trace(
    submit, staff: User, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    for name in ("older", "newer"):
        submit(name)
    admin = Client()
    admin.force_login(staff)
    form = {"action": "priority_high", "_selected_action": ["newer"]}
    with django_capture_on_commit_callbacks(execute=True):
        page = admin.post(reverse("admin:proving_job_changelist"), form, follow=True)
    assert line() == ["newer", "older"]
    trace = LogEntry.objects.get()
    assert (trace.user, trace.object_id) == (staff, "newer")
    assert trace.get_change_message() == "has the priority high now, before it was normal"
    assert trace.get_change_message() in page.text


def test_who_may_only_look_is_not_offered_it(submit, bob: User) -> None:
    submit("one")
    bob.is_staff = True
    bob.save()
    bob.user_permissions.add(*(permission for permission in _permissions("view_job")))
    admin = Client()
    admin.force_login(bob)
    page = admin.get(reverse("admin:proving_job_changelist"))
    assert page.status_code == 200
    assert "priority_high" not in page.text
    admin.post(
        reverse("admin:proving_job_changelist"), {"action": "priority_high", "_selected_action": ["one"]}
    )
    assert Job.objects.get().priority == Priority.NORMAL


def _permissions(codename: str):
    from django.contrib.auth.models import Permission

    return Permission.objects.filter(codename=codename)


def test_what_the_live_state_did_not_hear_it_is_told_later(submit, settings: Settings) -> None:
    submit("older")
    submit("newer")
    Job.objects.filter(pk="newer").update(priority=Priority.CRITICAL, state=JobState.RUNNING)
    Job.objects.filter(pk="older").update(state=JobState.RUNNING)
    assert reconcile.reconcile() == ["job newer stands in line by an earlier priority"]
    assert line() == ["newer", "older"]
    assert reconcile.reconcile() == []
