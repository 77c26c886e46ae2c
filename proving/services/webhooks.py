"""Telling owners of the ends of their jobs: who is told, of what, and how a message is signed.

Messages follow the Standard Webhooks rules: headers webhook-id, webhook-timestamp and webhook-signature,
the last holding `v1,` and the base64 of HMAC-SHA256 over "id.timestamp.body".
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from datetime import timedelta

from django.conf import settings
from django.contrib.auth.models import User
from django.db.models import F, QuerySet
from django.utils import timezone
from django.utils.crypto import salted_hmac

from proving.choices import DeliveryState, JobState
from proving.models import Job, Webhook, WebhookDelivery
from proving.services.addresses import check_url
from proving.services.errors import conflict, not_found

SECRET_PREFIX = "whsec_"  # noqa: S105 - the prefix of every secret
OVERLAP = timedelta(hours=24)
"""How long messages are signed with the former secret too after it was changed."""
MOST_WEBHOOKS = 16
KEPT_FOR = timedelta(days=30)


def create_webhook(owner: User, url: str) -> Webhook:
    """Register an address. ServiceError where messages must not go there."""
    check_url(url)
    if owner.webhooks.count() >= MOST_WEBHOOKS:
        raise conflict("too_many_webhooks", f"one owner may have {MOST_WEBHOOKS} webhooks")
    return Webhook.objects.create(owner=owner, url=url)


def find_webhook(owner: User, reference: str) -> Webhook:
    """The owner's webhook with this id. ServiceError when there is none."""
    found = None if "\0" in reference else owner.webhooks.filter(pk=reference).first()
    if found is None:
        raise not_found("webhook")
    return found


def rotate_secret(webhook: Webhook) -> str:
    """Change the secret; for a day the former one signs too. The new secret."""
    Webhook.objects.filter(pk=webhook.pk).update(generation=F("generation") + 1, rotated_at=timezone.now())
    webhook.refresh_from_db()
    return secret_of(webhook)


def secret_of(webhook: Webhook, generation: int | None = None) -> str:
    """The secret that a receiver verifies with: derived from the service's own, so never stored."""
    return SECRET_PREFIX + base64.b64encode(_key(webhook, generation or webhook.generation)).decode()


def signatures(webhook: Webhook, message_id: str, timestamp: int, body: str) -> str:
    """The value of webhook-signature: one signature for each secret that holds now."""
    generations = [webhook.generation]
    if webhook.rotated_at is not None and webhook.rotated_at > timezone.now() - OVERLAP:
        generations.append(webhook.generation - 1)
    keys = [_key(webhook, generation) for generation in generations]
    return " ".join(signature(key, message_id, timestamp, body) for key in keys)


def signature(key: bytes, message_id: str, timestamp: int, body: str) -> str:
    """One signature of a message."""
    signed = f"{message_id}.{timestamp}.{body}".encode()
    return "v1," + base64.b64encode(hmac.digest(key, signed, hashlib.sha256)).decode()


def announce_end(job_id: str) -> None:
    """Note a message for each active webhook of an ended job's owner, in the transaction of its ending."""
    job = Job.objects.select_related("circuit").get(pk=job_id)
    hooks = Webhook.objects.filter(owner_id=job.owner_id, active=True)
    payload = json.dumps(message(job), separators=(",", ":"))
    WebhookDelivery.objects.bulk_create(
        WebhookDelivery(webhook=hook, job=job, event=f"job.{job.state}", payload=payload) for hook in hooks
    )


def message(job: Job) -> dict[str, object]:
    """What is told of an ended job: never an input, and no proof; those are fetched with a key."""
    ended = job.finished_at or timezone.now()
    error = {"code": job.error_code, "detail": job.error_detail, "partition": job.error_partition}
    data = {
        "id": job.name,
        "circuit": job.circuit_id,
        "circuit_name": job.circuit.name,
        "proof_kind": job.proof_kind,
        "label": job.label,
        "state": job.state,
        "partitions": job.partition_count,
        "submitted_at": job.submitted_at.isoformat(),
        "finished_at": ended.isoformat(),
        "error": error if job.state != JobState.DONE and job.error_code else None,
    }
    return {"type": f"job.{job.state}", "timestamp": ended.isoformat(), "data": data}


def deliveries_of(webhook: Webhook) -> QuerySet[WebhookDelivery]:
    """The messages to a webhook, the newest first."""
    return webhook.deliveries.select_related("job")


def forget_old() -> int:
    """Delete messages that ended long ago. Returns how many."""
    ended = WebhookDelivery.objects.exclude(state=DeliveryState.PENDING)
    return ended.filter(created_at__lt=timezone.now() - KEPT_FOR).delete()[0]


def _key(webhook: Webhook, generation: int) -> bytes:
    purpose = f"cuzkweb.webhook.{webhook.pk}.{generation}"
    return salted_hmac(purpose, "secret", secret=settings.SECRET_KEY, algorithm="sha256").digest()
