"""API keys and the people they belong to."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Collection
from datetime import datetime, timedelta

from django.contrib.auth.models import User
from django.db.models import Q, QuerySet
from django.utils import timezone

from proving.choices import Scope
from proving.models import ApiKey
from proving.services.errors import invalid, not_found

SCHEME = "cuzk"
TOUCH_INTERVAL = timedelta(minutes=1)


def digest_of(plain: str) -> str:
    """What is stored of a key. Keys are long and random, so a plain hash is enough."""
    return hashlib.sha256(plain.encode()).hexdigest()


def create_key(
    owner: User,
    name: str,
    scopes: Collection[str] = (Scope.READ, Scope.SUBMIT),
    expires_at: datetime | None = None,
) -> tuple[ApiKey, str]:
    """A new key and its text, which can never be read again. ServiceError where it could never be used."""
    if expires_at is not None and expires_at <= timezone.now():
        raise invalid("/expires_at", "expired", "the key would have expired already")
    prefix = secrets.token_hex(4)
    plain = f"{SCHEME}_{prefix}_{secrets.token_urlsafe(32)}"
    key = ApiKey.objects.create(
        owner=owner,
        name=name,
        prefix=prefix,
        digest=digest_of(plain),
        scopes=[scope.value for scope in Scope if scope in scopes],
        expires_at=expires_at,
    )
    return key, plain


def check_giver(giver: User, scopes: Collection[str]) -> None:
    """ServiceError where somebody who is not staff would hand out what shows other owners' things."""
    if Scope.WATCH in scopes and not giver.is_staff:
        raise invalid("/scopes", "staff_only", f"only staff hand out keys with the scope {Scope.WATCH}")


def find_key(plain: str) -> ApiKey | None:
    """The live key with this text and an active owner, marked as used; None when there is none."""
    key = _live_keys().select_related("owner").filter(digest=digest_of(plain)).first()
    if key is not None:
        _touch(key)
    return key


def find_by_prefix(owner: User, prefix: str) -> ApiKey:
    """The owner's key with this open part. ServiceError when there is none."""
    found = None if "\0" in prefix else ApiKey.objects.filter(owner=owner, prefix=prefix).first()
    if found is None:
        raise not_found("key")
    return found


def still_good(key: ApiKey) -> bool:
    """Whether a key that was found before may still be used: what lasts long asks again and again."""
    return _live_keys().filter(pk=key.pk).exists()


def _live_keys() -> QuerySet[ApiKey]:
    lasting = Q(expires_at=None) | Q(expires_at__gt=timezone.now())
    return ApiKey.objects.filter(lasting, revoked_at=None, owner__is_active=True)


def _touch(key: ApiKey) -> None:
    now = timezone.now()
    if key.last_used_at is None or key.last_used_at < now - TOUCH_INTERVAL:
        stale = Q(last_used_at=None) | Q(last_used_at__lt=now - TOUCH_INTERVAL)
        ApiKey.objects.filter(stale, pk=key.pk).update(last_used_at=now)


def revoke_key(key: ApiKey) -> bool:
    """Stop a key for good. False when it was revoked before."""
    return ApiKey.objects.filter(pk=key.pk, revoked_at=None).update(revoked_at=timezone.now()) == 1


def ensure_owner(username: str) -> User:
    """The user of this name, made without a usable password when there is none."""
    owner, made = User.objects.get_or_create(username=username)
    if made:
        owner.set_unusable_password()
        owner.save(update_fields=["password"])
    return owner


def ensure_superuser(username: str, password: str) -> User:
    """The administrator of this name, made or brought to this password."""
    owner = ensure_owner(username)
    owner.is_staff = owner.is_superuser = owner.is_active = True
    owner.set_password(password)
    owner.save(update_fields=["is_staff", "is_superuser", "is_active", "password"])
    return owner
