"""The admin: everything to see, nothing to break, no secret shown."""

import re
from collections.abc import Callable
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import User
from django.contrib.contenttypes.models import ContentType
from django.http import HttpResponse
from django.test import Client
from django.urls import path as route
from django.urls import reverse
from django.utils import timezone
from pytest_django import DjangoCaptureOnCommitCallbacks, Settings

from cuzkweb import urls
from proving.choices import AttemptOutcome, JobState
from proving.models import (
    ApiKey,
    Circuit,
    Job,
    Partition,
    PartitionAttempt,
    Proof,
    Webhook,
    WebhookDelivery,
)
from proving.services import keys, live
from proving.services.submit import JobRequest, submit_inputs
from proving.tracker.outcomes import Refusal, Refused, Seen
from tests.integration.conftest import Dispatched

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("home")]

MACHINE_OWNED = ["circuit", "job", "partition", "proof"]


@pytest.fixture
def admin(staff: User) -> Client:
    client = Client()
    client.force_login(staff)
    return client


@pytest.fixture
def job(alice: User, circuit: Circuit, dispatched: Dispatched) -> Job:
    job = submit_inputs(alice, JobRequest(circuit, request_id="one"), [{"a": 12345678, "b": 1}] * 2).job
    partition = Partition.objects.get(index=0)
    PartitionAttempt.objects.create(
        partition=partition, attempt=1, outcome=AttemptOutcome.LOST, worker="gpu0@somewhere"
    )
    Proof.objects.create(
        job=job, partition=partition, index=0, proof={}, public=[], verified_at=timezone.now()
    )
    return job


def act(admin: Client, model: str, action: str, *rows: Any) -> str:
    path = reverse(f"admin:proving_{model}_changelist")
    answer = admin.post(path, {"action": action, "_selected_action": [row.pk for row in rows]}, follow=True)
    return " ".join(str(message) for message in answer.context["messages"])


@pytest.mark.parametrize("model", [*MACHINE_OWNED, "apikey", "webhook", "webhookdelivery", "resumableupload"])
def test_rows_are_listed_and_found(admin: Client, job: Job, model: str) -> None:
    path = reverse(f"admin:proving_{model}_changelist")
    assert admin.get(path).status_code == 200
    assert admin.get(path, {"q": "one"}).status_code == 200


@pytest.mark.parametrize("model", [Circuit, Job, Partition, Proof])
def test_what_a_machine_owns_is_shown_and_never_edited(admin: Client, job: Job, model: Any) -> None:
    name, row = model._meta.model_name, model.objects.first()
    change = reverse(f"admin:proving_{name}_change", args=[row.pk])
    page = admin.get(change)
    assert page.status_code == 200
    assert not re.search(r'<input type="submit"[^>]*name="_save"', page.text)
    assert admin.post(change, {"state": "done"}).status_code == 403
    assert admin.get(reverse(f"admin:proving_{name}_add")).status_code == 403
    assert (
        admin.post(reverse(f"admin:proving_{name}_delete", args=[row.pk]), {"post": "yes"}).status_code == 403
    )
    assert model.objects.filter(pk=row.pk).exists()


def test_no_secret_is_shown(admin: Client, job: Job, alice: User) -> None:
    key, plain = keys.create_key(alice, "x")
    pages = [
        reverse("admin:proving_job_change", args=[job.pk]),
        reverse("admin:proving_partition_change", args=[Partition.objects.first().pk]),
        reverse("admin:proving_apikey_change", args=[key.pk]),
        reverse("admin:proving_apikey_changelist"),
    ]
    for path in pages:
        text = admin.get(path).text
        for secret in ("12345678", job.request_digest, key.digest, plain):
            assert secret not in text


def test_the_rest_of_the_service_is_one_click_away(admin: Client, settings: Settings) -> None:
    page = admin.get(reverse("admin:index"))
    for name in ("panel:status", "admin:proving_workers", "docs"):
        assert f'href="{reverse(name)}"' in page.text
    routes: Any = ModuleType("routes")
    routes.urlpatterns = [*urls.urlpatterns, route("flower/", lambda _: HttpResponse(), name="flower")]
    settings.ROOT_URLCONF = routes
    assert 'href="/flower/"' in admin.get(reverse("admin:index")).text


def test_earlier_attempts_are_shown_with_the_partition(admin: Client, job: Job) -> None:
    page = admin.get(reverse("admin:proving_partition_change", args=[Partition.objects.get(index=0).pk]))
    assert "gpu0@somewhere" in page.text


def test_jobs_are_cancelled_through_the_service(
    admin: Client,
    job: Job,
    dispatched: Dispatched,
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
) -> None:
    with django_capture_on_commit_callbacks(execute=True):
        assert "is being cancelled" in act(admin, "job", "cancel", job)
    job.refresh_from_db()
    assert job.state == JobState.CANCELLING
    assert dispatched.cancelled == [("one", "cancelled by the staff")]


def test_a_refusal_is_shown(admin: Client, job: Job) -> None:
    Job.objects.update(state=JobState.DONE)
    assert "already ended" in act(admin, "job", "cancel", job)


def test_jobs_are_tried_again_through_the_service(admin: Client, job: Job) -> None:
    assert "only failed and cancelled" in act(admin, "job", "retry", job)
    Job.objects.update(state=JobState.FAILED)
    assert "was submitted again" in act(admin, "job", "retry", job)
    assert Job.objects.count() == 2


def test_a_new_key_is_shown_once_and_works(admin: Client, alice: User) -> None:
    answer = admin.post(
        reverse("admin:proving_apikey_add"),
        {"owner": alice.pk, "name": "laptop", "scopes": ["read"]},
        follow=True,
    )
    plain = re.search(r"cuzk_[0-9a-f]{8}_[A-Za-z0-9_-]{43}", answer.text)
    assert plain is not None
    found = keys.find_key(plain[0])
    assert found is not None
    assert (found.owner, found.name) == (alice, "laptop")
    assert plain[0] not in admin.get(reverse("admin:proving_apikey_changelist")).text


def test_keys_are_revoked(admin: Client, alice: User) -> None:
    key, plain = keys.create_key(alice, "x")
    assert "1 keys revoked" in act(admin, "apikey", "revoke", key)
    assert keys.find_key(plain) is None
    assert ApiKey.objects.count() == 1


def test_staff_who_may_only_look_cannot_act(job: Job) -> None:
    looker = User.objects.create(username="looker", is_staff=True)
    looker.user_permissions.set(looker.user_permissions.model.objects.filter(codename__startswith="view_"))
    client = Client()
    client.force_login(looker)
    page = client.get(reverse("admin:proving_job_changelist"))
    assert page.status_code == 200
    assert 'value="cancel"' not in page.text
    act(client, "job", "cancel", job)
    job.refresh_from_db()
    assert job.state == JobState.QUEUED


def test_a_list_costs_the_same_whatever_its_length(
    admin: Client, job: Job, django_assert_max_num_queries: Callable[..., Any]
) -> None:
    for number in range(10):
        Job.objects.create(
            id=f"j{number}", name=f"j{number}", owner=job.owner, circuit=job.circuit, partition_count=1
        )
    with django_assert_max_num_queries(12):
        admin.get(reverse("admin:proving_job_changelist"))


def history(row: Any) -> list[str]:
    kind = ContentType.objects.get_for_model(row)
    entries = LogEntry.objects.filter(content_type=kind, object_id=row.pk)
    return [entry.change_message for entry in entries]


def test_a_circuit_is_quarantined_and_restored_and_its_history_says_so(
    admin: Client, circuit: Circuit, staff: User
) -> None:
    assert "was quarantined" in act(admin, "circuit", "quarantine", circuit)
    circuit.refresh_from_db()
    assert circuit.state == "quarantined"
    assert "quarantined already" in act(admin, "circuit", "quarantine", circuit)
    act(admin, "circuit", "restore", circuit)
    circuit.refresh_from_db()
    assert circuit.state == "active"
    assert sorted(history(circuit)) == ["was quarantined", "was restored"]
    assert LogEntry.objects.first().user == staff  # type: ignore[union-attr]


def test_what_is_done_to_a_job_is_in_its_history(
    admin: Client, job: Job, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    with django_capture_on_commit_callbacks(execute=True):
        act(admin, "job", "cancel", job)
    assert history(job) == ["is being cancelled"]


def test_a_worker_is_drained(admin: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    worker = {"name": "gpu0@here", "device": "host", "state": "idle", "last_seen_secs_ago": 0.1}
    drained: list[str] = []

    class Side:
        def snapshot(self, *_: Any) -> Any:
            return SimpleNamespace(document=lambda *_: {"gpu_workers": [worker]})

        def drain_worker(self, name: str) -> Any:
            drained.append(name)
            return Seen(draining=True) if name == worker["name"] else Refused("x", Refusal.UNKNOWN)

    monkeypatch.setattr(live, "store", Side)
    path = reverse("admin:proving_workers")
    assert "gpu0@here" in admin.get(path).text
    assert "drains" in admin.post(path, {"worker": "gpu0@here"}, follow=True).text
    assert "no such worker" in admin.post(path, {"worker": "other"}, follow=True).text
    assert drained == ["gpu0@here", "other"]
    assert [entry.object_repr for entry in LogEntry.objects.all()] == ["gpu0@here"]


def test_a_message_is_sent_again(admin: Client, alice: User) -> None:
    hook = Webhook.objects.create(owner=alice, url="https://example.com/")
    failed = WebhookDelivery.objects.create(webhook=hook, event="job.done", payload="{}", state="failed")
    act(admin, "webhookdelivery", "again", failed)
    assert sorted(row.state for row in WebhookDelivery.objects.all()) == ["failed", "pending"]


def test_rows_lead_to_one_another(admin: Client, job: Job) -> None:
    partitions = admin.get(reverse("admin:proving_partition_changelist")).text
    proof = Proof.objects.get()
    for row in (job, proof):
        assert reverse(f"admin:proving_{row._meta.model_name}_change", args=[row.pk]) in partitions
