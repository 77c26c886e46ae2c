"""Sending the messages to webhooks that are due. A fault puts a message off, longer each time."""

from __future__ import annotations

import logging
import random
import time
from datetime import timedelta

import httpx
from django.utils import timezone

from proving.choices import DeliveryState
from proving.models import WebhookDelivery
from proving.services import webhooks
from proving.services.addresses import Destination, ForbiddenError, resolve

log = logging.getLogger(__name__)

PAUSES = (5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400)
"""Seconds before each further try; after the last one the message is given up."""

BATCH = 20
HELD_FOR = timedelta(minutes=2)
"""How long a message that is being sent is kept from other senders."""

TIMEOUT_SECONDS = 10.0
GONE = 410


def deliver_due() -> int:
    """Send what is due, the oldest first. Returns how many messages were tried."""
    due = WebhookDelivery.objects.filter(state=DeliveryState.PENDING, next_at__lte=timezone.now())
    tried = 0
    for found in due.order_by("next_at").select_related("webhook")[:BATCH]:
        held = WebhookDelivery.objects.filter(pk=found.pk, state=DeliveryState.PENDING, next_at=found.next_at)
        if held.update(next_at=timezone.now() + HELD_FOR):
            deliver(found)
            tried += 1
    return tried


def deliver(delivery: WebhookDelivery) -> None:
    """Send one message and note how that went."""
    status, error = None, ""
    if not delivery.webhook.active:
        error = "the webhook is switched off"
    else:
        try:
            status = send(delivery)
        except ForbiddenError as refusal:
            error = str(refusal)
        except (OSError, httpx.HTTPError, httpx.InvalidURL) as fault:
            error = f"{type(fault).__name__}: {fault}"[:300]
        except UnicodeError:
            error = "the name of the host cannot be looked up"
    if status is not None and not 200 <= status < 300:
        error = f"the receiver answered {status}"
    _note(delivery, status, error)


def send(delivery: WebhookDelivery) -> int:
    """Post a message to the address that was looked at, following nothing. The status of the answer."""
    hook, body = delivery.webhook, delivery.payload
    destination = resolve(hook.url)
    now = int(time.time())
    headers = {
        "Host": _host_header(destination),
        "Content-Type": "application/json",
        "User-Agent": "cuzkweb-webhooks/1",
        "webhook-id": f"msg_{delivery.pk}",
        "webhook-timestamp": str(now),
        "webhook-signature": webhooks.signatures(hook, f"msg_{delivery.pk}", now, body),
    }
    target = httpx.URL(hook.url).copy_with(host=destination.address)
    with (
        httpx.Client(trust_env=False, timeout=TIMEOUT_SECONDS, follow_redirects=False) as client,
        client.stream(
            "POST",
            target,
            content=body.encode(),
            headers=headers,
            extensions={"sni_hostname": destination.host},
        ) as answer,
    ):
        return answer.status_code  # the body is of no interest and stays unread


def _host_header(destination: Destination) -> str:
    name = f"[{destination.host}]" if ":" in destination.host else destination.host
    usual = 443 if destination.tls else 80
    return name if destination.port == usual else f"{name}:{destination.port}"


def _note(delivery: WebhookDelivery, status: int | None, error: str) -> None:
    now = timezone.now()
    delivery.attempts += 1
    delivery.last_status, delivery.last_error = status, error
    if not error:
        delivery.state, delivery.ended_at = DeliveryState.DELIVERED, now
    elif delivery.attempts > len(PAUSES) or not delivery.webhook.active or status == GONE:
        delivery.state, delivery.ended_at = DeliveryState.FAILED, now
        log.warning("webhook %s: message %s given up: %s", delivery.webhook_id, delivery.pk, error)
    else:
        pause = PAUSES[delivery.attempts - 1] * random.uniform(0.9, 1.1)  # noqa: S311 - spreads the tries
        delivery.next_at = now + timedelta(seconds=pause)
    delivery.save(update_fields=["state", "attempts", "next_at", "last_status", "last_error", "ended_at"])
    if status == GONE:
        type(delivery.webhook).objects.filter(pk=delivery.webhook_id).update(active=False)
