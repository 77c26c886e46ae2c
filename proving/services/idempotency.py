"""Requests that may be sent again without harm: the first answer is kept and given to those that follow."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.utils import timezone
from django.utils.crypto import salted_hmac

from proving.models import IdempotentRequest
from proving.services.errors import Refusal, ServiceError, conflict

ABANDONED_AFTER = timedelta(minutes=5)
"""A request still in flight after this long was cut short: the next one with its key takes it up again."""


@dataclass(frozen=True, slots=True)
class Claim:
    """This call is the one that acts. What it makes is named after `reserved`, whoever takes it up."""

    row: int
    reserved: str


@dataclass(frozen=True, slots=True)
class Answered:
    """The answer that was given before."""

    status: int
    headers: Mapping[str, str]
    body: Any


def digest_of(text: str) -> str:
    """A digest that nobody without the service's secret can search for the request behind it."""
    return salted_hmac("cuzkweb.idempotency", text, algorithm="sha256").hexdigest()


def claim(owner: User, key: str, digest: str) -> Claim | Answered:
    """Begin a request, or give the answer it had. ServiceError: in flight, or another one had this key."""
    now = timezone.now()
    IdempotentRequest.objects.filter(owner=owner, key=key, expires_at__lte=now).delete()
    lasts = timedelta(seconds=settings.CUZKWEB_IDEMPOTENCY_SECONDS)
    try:
        with transaction.atomic():
            made = IdempotentRequest.objects.create(
                owner=owner, key=key, digest=digest, claimed_at=now, expires_at=now + lasts
            )
    except IntegrityError:
        return _earlier(owner, key, digest)
    return Claim(made.pk, made.reserved)


def settle(claimed: Claim, status: int, headers: Mapping[str, str], body: Any) -> None:
    """Keep the answer of a request that was done."""
    IdempotentRequest.objects.filter(pk=claimed.row).update(status=status, headers=dict(headers), body=body)


def release(claimed: Claim) -> None:
    """Forget a request that was refused: it changed nothing, and the key is free for a better one."""
    IdempotentRequest.objects.filter(pk=claimed.row, status=None).delete()


def forget_expired() -> int:
    """Delete what has been kept long enough. Returns how many."""
    return IdempotentRequest.objects.filter(expires_at__lte=timezone.now()).delete()[0]


def _earlier(owner: User, key: str, digest: str) -> Claim | Answered:
    found = IdempotentRequest.objects.filter(owner=owner, key=key).first()
    if found is None:
        raise _in_flight()
    if found.digest != digest:
        detail = "another request had this Idempotency-Key: take a fresh one for a fresh request"
        raise ServiceError(Refusal.INVALID, "idempotency_key_reused", detail)
    if found.status is not None:
        return Answered(found.status, found.headers, found.body)
    now = timezone.now()
    if found.claimed_at < now - ABANDONED_AFTER:
        same = IdempotentRequest.objects.filter(pk=found.pk, claimed_at=found.claimed_at, status=None)
        if same.update(claimed_at=now):
            return Claim(found.pk, found.reserved)
    raise _in_flight()


def _in_flight() -> ServiceError:
    refusal = conflict("request_in_flight", "the first request with this Idempotency-Key is still at work")
    refusal.retry_after = 1
    return refusal
