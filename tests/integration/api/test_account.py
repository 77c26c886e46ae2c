"""Keys and webhooks over HTTP: what each key may do, and who is told of the ends of jobs."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from proving.choices import Scope
from proving.models import ApiKey, Webhook, WebhookDelivery
from proving.services import keys
from tests.integration.conftest import Caller

pytestmark = pytest.mark.django_db

KEYS, HOOKS = "/api/v1/keys", "/api/v1/webhooks"


def with_scopes(user: User, *scopes: str) -> Client:
    _, plain = keys.create_key(user, "test", scopes)
    return Client(headers={"authorization": f"Bearer {plain}"})


def post(client: Client, path: str, body: Any = None) -> Any:
    return client.post(path, body, content_type="application/json")


@pytest.fixture
def manager(home: None, alice: User) -> Client:
    return with_scopes(alice, Scope.ADMIN)


@pytest.mark.parametrize(
    ("scope", "allowed"),
    [(Scope.READ, {"read", "verify"}), (Scope.SUBMIT, {"submit"}), (Scope.ADMIN, {"admin"})],
)
def test_each_scope_opens_its_own_doors(home: None, alice: User, scope: str, allowed: set[str]) -> None:
    client = with_scopes(alice, scope)
    answers = {
        "read": client.get("/api/v1/jobs"),
        "verify": post(client, "/api/v1/verify", {}),
        "submit": post(client, "/api/v1/jobs", {}),
        "admin": client.get(KEYS),
    }
    closed = {name for name, answer in answers.items() if answer.status_code == 403}
    assert closed == set(answers) - allowed
    for name in closed:
        assert answers[name].json()["code"] == "insufficient_scope"


@pytest.mark.parametrize("path", ["/status", "/api/v1/status", "/metrics"])
def test_the_status_wants_the_scope_read(home: None, alice: User, path: str) -> None:
    assert with_scopes(alice, Scope.SUBMIT).get(path).status_code == 403


def test_a_key_is_made_shown_once_and_revoked(manager: Client, alice: User) -> None:
    made = post(manager, KEYS, {"name": "robot", "scopes": ["read"]})
    assert made.status_code == 201
    assert made["Cache-Control"] == "no-store"
    document = made.json()
    robot = Client(headers={"authorization": f"Bearer {document['key']}"})
    assert robot.get("/api/v1/jobs").status_code == 200
    listed = manager.get(KEYS)
    assert document["key"] not in listed.text
    row = next(row for row in listed.json()["results"] if row["prefix"] == document["prefix"])
    assert (row["scopes"], row["revoked_at"]) == (["read"], None)
    assert row["last_used_at"] is not None
    assert post(manager, f"{KEYS}/{document['prefix']}/revoke").json()["revoked_at"] is not None
    assert robot.get("/api/v1/jobs").status_code == 401


def test_a_key_ends_when_it_was_to_end(manager: Client) -> None:
    soon = timezone.now() + timedelta(hours=1)
    document = post(manager, KEYS, {"name": "guest", "expires_at": soon.isoformat()}).json()
    guest = Client(headers={"authorization": f"Bearer {document['key']}"})
    assert guest.get("/api/v1/jobs").status_code == 200
    ApiKey.objects.filter(prefix=document["prefix"]).update(expires_at=timezone.now())
    assert guest.get("/api/v1/jobs").status_code == 401


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({"name": "x", "scopes": []}, "#/scopes"),
        ({"name": "x", "scopes": ["root"]}, "#/scopes"),
        ({"name": "x", "expires_at": "2001-01-01T00:00:00Z"}, "#/expires_at"),
        ({"scopes": ["read"]}, "#/name"),
        ({"name": "x", "owner": "bob"}, "#/owner"),
    ],
)
def test_a_wrong_key_is_refused(manager: Client, body: dict[str, Any], pointer: str) -> None:
    answer = post(manager, KEYS, body)
    assert answer.status_code in {400, 422}
    assert answer.json()["errors"][0]["pointer"].startswith(pointer)


def test_other_owners_keys_and_webhooks_are_not_there(
    manager: Client, bob: User, calling: Callable[[User], Caller]
) -> None:
    key, _ = keys.create_key(bob, "bob's")
    hook = Webhook.objects.create(owner=bob, url="https://example.com/x")
    assert key.prefix not in manager.get(KEYS).text
    assert post(manager, f"{KEYS}/{key.prefix}/revoke").status_code == 404
    assert manager.get(HOOKS).json()["results"] == []
    for path in (f"{HOOKS}/{hook.pk}", f"{HOOKS}/{hook.pk}/deliveries"):
        assert manager.get(path).status_code == 404
    assert manager.delete(f"{HOOKS}/{hook.pk}").status_code == 404
    assert post(manager, f"{HOOKS}/{hook.pk}/rotate").status_code == 404
    assert keys.still_good(key)


def test_a_webhook_is_made_rotated_listed_and_deleted(manager: Client) -> None:
    made = post(manager, HOOKS, {"url": "https://example.com/hook"})
    assert made.status_code == 201
    first = made.json()["secret"]
    assert first.startswith("whsec_")
    path = f"{HOOKS}/{made.json()['id']}"
    second = post(manager, f"{path}/rotate").json()["secret"]
    assert second != first
    assert "secret" not in manager.get(path).json()
    WebhookDelivery.objects.create(webhook=Webhook.objects.get(), event="job.done", payload="{}")
    (row,) = manager.get(f"{path}/deliveries").json()["results"]
    assert (row["event"], row["state"], row["job"]) == ("job.done", "pending", None)
    assert manager.delete(path).status_code == 204
    assert manager.get(path).status_code == 404


@pytest.mark.parametrize(
    ("url", "code"),
    [
        ("http://example.com/", "bad_url"),
        ("ftp://example.com/", "bad_url"),
        ("https:///nowhere", "bad_url"),
        ("https://user:secret@example.com/", "bad_url"),
        ("https://[::1/", "bad_url"),
        ("https://example.com:99999/", "bad_url"),
        ("https://127.0.0.1/", "internal_address"),
        ("https://localhost/", "internal_address"),
        ("https://api.LOCALHOST/", "internal_address"),
        ("https://0x7f000001/", "internal_address"),
        ("https://127.1/", "internal_address"),
        ("https://2130706433/", "internal_address"),
        ("https://169.254.169.254/latest/meta-data", "internal_address"),
        ("https://[::ffff:10.0.0.1]/", "internal_address"),
        ("https://[64:ff9b::10.0.0.1]/", "internal_address"),
    ],
)
def test_a_webhook_that_must_not_be_called_is_refused(manager: Client, url: str, code: str) -> None:
    answer = post(manager, HOOKS, {"url": url})
    assert (answer.status_code, answer.json()["code"]) == (422, code)
