"""Messages to webhooks: signed as the rules say, sent again after faults, never to an internal address."""

import base64
import hashlib
import hmac
import json
import socket
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.utils import timezone
from pytest_django import Settings

from proving.choices import DeliveryState, JobState
from proving.models import Circuit, Job, Webhook, WebhookDelivery
from proving.services import addresses, deliver, record, webhooks
from proving.services.submit import JobRequest, submit_inputs
from tests.integration.conftest import Dispatched

pytestmark = pytest.mark.django_db


@dataclass
class Receiver:
    """A server that keeps what it is sent and answers what the test says."""

    url: str
    answers: list[int] = field(default_factory=list)
    received: list[tuple[dict[str, str], str]] = field(default_factory=list)


@pytest.fixture
def receiver(settings: Settings) -> Iterator[Receiver]:
    settings.CUZKWEB_WEBHOOK_NETWORKS = ["127.0.0.0/8"]
    kept = Receiver("")

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            kept.received.append(({name.lower(): value for name, value in self.headers.items()}, body))
            self.send_response(kept.answers.pop(0) if kept.answers else 204)
            self.send_header("Location", kept.url)
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    kept.url = f"http://127.0.0.1:{server.server_address[1]}/hook?x=1"
    yield kept
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture
def hook(receiver: Receiver, alice: User) -> Webhook:
    return webhooks.create_webhook(alice, receiver.url)


@pytest.fixture
def end_job(circuit: Circuit, alice: User, dispatched: Dispatched) -> Callable[[JobState], Job]:
    """Submits a job and writes down its end."""

    def end(state: JobState) -> Job:
        job = submit_inputs(alice, JobRequest(circuit, label="mine"), [{"a": 424242, "b": 2}]).job
        assert record.job_ended(job.pk, state)
        return job

    return end


def fresh() -> WebhookDelivery:
    return WebhookDelivery.objects.get()


def due_again() -> None:
    WebhookDelivery.objects.update(next_at=timezone.now())


def test_a_signature_is_the_one_of_the_published_example() -> None:
    key = base64.b64decode("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
    signed = webhooks.signature(key, "msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330, '{"test": 2432232314}')
    assert signed == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="


def test_the_owner_is_told_of_an_end_and_can_verify_who_says_so(
    hook: Webhook, receiver: Receiver, end_job: Callable[[JobState], Job]
) -> None:
    job = end_job(JobState.DONE)
    assert deliver.deliver_due() == 1
    ((headers, body),) = receiver.received
    message = json.loads(body)
    assert (message["type"], message["data"]["id"]) == ("job.done", job.name)
    assert (message["data"]["circuit_name"], message["data"]["label"]) == ("multiplier", "mine")
    assert "424242" not in body
    key = base64.b64decode(webhooks.secret_of(hook).removeprefix("whsec_"))
    signed = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.{body}".encode()
    wanted = base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
    assert headers["webhook-signature"] == f"v1,{wanted}"
    assert abs(int(headers["webhook-timestamp"]) - timezone.now().timestamp()) < 60
    assert headers["host"] == receiver.url.split("/")[2]
    assert (fresh().state, fresh().last_status, fresh().attempts) == (DeliveryState.DELIVERED, 204, 1)
    assert deliver.deliver_due() == 0


def test_an_end_is_told_once(hook: Webhook, end_job: Callable[[JobState], Job]) -> None:
    job = end_job(JobState.FAILED)
    assert not record.job_ended(job.pk, JobState.FAILED)
    assert fresh().event == "job.failed"


def test_a_fault_is_tried_again_later_each_time_with_the_same_id_and_body(
    hook: Webhook, receiver: Receiver, end_job: Callable[[JobState], Job]
) -> None:
    end_job(JobState.DONE)
    receiver.answers = [500, 503]
    pauses = []
    for _ in range(3):
        deliver.deliver_due()
        pauses.append((fresh().next_at - timezone.now()).total_seconds())
        assert deliver.deliver_due() == 0, "not before its time"
        due_again()
    assert 4 < pauses[0] < 6
    assert 260 < pauses[1] < 340
    assert fresh().state == DeliveryState.DELIVERED
    assert len({headers["webhook-id"] for headers, _ in receiver.received}) == 1
    assert len({body for _, body in receiver.received}) == 1


def test_in_the_end_a_message_is_given_up(
    hook: Webhook, receiver: Receiver, end_job: Callable[[JobState], Job]
) -> None:
    end_job(JobState.DONE)
    receiver.answers = [500] * 20
    for _ in range(20):
        deliver.deliver_due()
        due_again()
    assert fresh().state == DeliveryState.FAILED
    assert fresh().attempts == len(receiver.received) == len(deliver.PAUSES) + 1
    assert fresh().last_error == "the receiver answered 500"


def test_a_redirect_is_not_followed(
    hook: Webhook, receiver: Receiver, end_job: Callable[[JobState], Job]
) -> None:
    end_job(JobState.DONE)
    receiver.answers = [307]
    deliver.deliver_due()
    assert len(receiver.received) == 1
    assert (fresh().state, fresh().last_status) == (DeliveryState.PENDING, 307)


def test_a_receiver_that_is_gone_is_switched_off(
    hook: Webhook, receiver: Receiver, end_job: Callable[[JobState], Job]
) -> None:
    end_job(JobState.DONE)
    receiver.answers = [410]
    deliver.deliver_due()
    hook.refresh_from_db()
    assert (fresh().state, hook.active) == (DeliveryState.FAILED, False)
    end_job(JobState.DONE)
    assert WebhookDelivery.objects.count() == 1


def test_a_receiver_that_is_away_is_tried_again(
    hook: Webhook, receiver: Receiver, end_job: Callable[[JobState], Job]
) -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        Webhook.objects.update(url=f"http://127.0.0.1:{closed.getsockname()[1]}/")
        end_job(JobState.DONE)
        deliver.deliver_due()
    assert fresh().state == DeliveryState.PENDING
    assert "ConnectError" in fresh().last_error


def test_a_name_that_has_come_to_mean_this_host_is_not_called(
    hook: Webhook, receiver: Receiver, end_job: Callable[[JobState], Job], settings: Settings
) -> None:
    settings.CUZKWEB_WEBHOOK_NETWORKS = []
    Webhook.objects.update(url=receiver.url.replace("127.0.0.1", "localhost"))
    end_job(JobState.DONE)
    deliver.deliver_due()
    assert receiver.received == []
    assert fresh().last_error == "the host has an internal address"


def test_one_internal_address_among_several_is_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    def answer(*hosts: str) -> None:
        found = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (host, 443)) for host in hosts]
        monkeypatch.setattr(addresses.socket, "getaddrinfo", lambda *_, **__: found)

    answer("93.184.215.14", "10.0.0.1")
    with pytest.raises(addresses.ForbiddenError):
        addresses.resolve("https://example.com/")
    answer("93.184.215.14")
    assert addresses.resolve("https://example.com/").address == "93.184.215.14"


@pytest.mark.parametrize(
    ("address", "allowed"),
    [
        ("8.8.8.8", True),
        ("2606:4700:4700::1111", True),
        ("10.1.2.3", False),
        ("172.16.0.1", False),
        ("192.168.1.1", False),
        ("127.0.0.1", False),
        ("0.0.0.0", False),
        ("100.64.0.1", False),
        ("169.254.169.254", False),
        ("224.0.0.1", False),
        ("240.0.0.1", False),
        ("255.255.255.255", False),
        ("::", False),
        ("::1", False),
        ("fe80::1", False),
        ("fd00::1", False),
        ("ff02::1", False),
        ("::ffff:127.0.0.1", False),
        ("::ffff:8.8.8.8", True),
        ("2002:0a00:0001::", False),
        ("64:ff9b::7f00:1", False),
        ("64:ff9b::808:808", True),
    ],
)
def test_which_addresses_are_public(address: str, allowed: bool) -> None:
    assert addresses.is_allowed(addresses.ipaddress.ip_address(address)) is allowed


def test_after_a_change_both_secrets_sign_for_a_day(hook: Webhook) -> None:
    first = webhooks.signatures(hook, "msg_x", 1, "{}")
    webhooks.rotate_secret(hook)
    both = webhooks.signatures(hook, "msg_x", 1, "{}").split()
    assert (len(both), both[1]) == (2, first)
    hook.rotated_at = timezone.now() - timedelta(days=2)
    assert webhooks.signatures(hook, "msg_x", 1, "{}") == both[0]


def test_two_senders_do_not_send_one_message_twice(
    hook: Webhook, receiver: Receiver, end_job: Callable[[JobState], Job], monkeypatch: pytest.MonkeyPatch
) -> None:
    end_job(JobState.DONE)
    sent: list[int] = []
    monkeypatch.setattr(deliver, "deliver", lambda _: sent.append(deliver.deliver_due()))
    assert deliver.deliver_due() == 1
    assert sent == [0]


def test_old_messages_are_forgotten(hook: Webhook, end_job: Callable[[JobState], Job]) -> None:
    end_job(JobState.DONE)
    long_ago = timezone.now() - 2 * webhooks.KEPT_FOR
    WebhookDelivery.objects.update(created_at=long_ago)
    assert webhooks.forget_old() == 0, "it has not been sent"
    WebhookDelivery.objects.update(state=DeliveryState.DELIVERED)
    assert webhooks.forget_old() == 1
