"""API keys: shown once, stored as a digest, stopped at once."""

import hashlib
from datetime import timedelta
from io import StringIO

import pytest
from django.contrib.auth import authenticate
from django.contrib.auth.models import User
from django.core.management import call_command
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries, Settings

from proving.models import ApiKey
from proving.services import keys

pytestmark = pytest.mark.django_db


def test_a_key_is_found_by_its_text_alone(alice: User) -> None:
    key, plain = keys.create_key(alice, "laptop")
    assert keys.find_key(plain) == key
    assert keys.find_key(plain[:-1]) is None
    assert keys.find_key(key.prefix) is None
    assert keys.find_key("") is None


def test_only_a_digest_is_stored(alice: User) -> None:
    key, plain = keys.create_key(alice, "laptop")
    stored = ApiKey.objects.filter(pk=key.pk).values().get()
    assert stored["digest"] == hashlib.sha256(plain.encode()).hexdigest()
    assert plain not in str(stored)
    assert key.prefix in plain


def test_keys_differ(alice: User) -> None:
    assert len({keys.create_key(alice, "same")[1] for _ in range(20)}) == 20


def test_a_revoked_key_stops_at_once(alice: User) -> None:
    key, plain = keys.create_key(alice, "laptop")
    assert keys.revoke_key(key)
    assert keys.find_key(plain) is None
    assert not keys.revoke_key(key)


def test_a_key_of_an_inactive_owner_stops(alice: User) -> None:
    _, plain = keys.create_key(alice, "laptop")
    User.objects.filter(pk=alice.pk).update(is_active=False)
    assert keys.find_key(plain) is None


def test_use_is_noted_once_a_minute(alice: User, django_assert_num_queries: DjangoAssertNumQueries) -> None:
    key, plain = keys.create_key(alice, "laptop")
    keys.find_key(plain)
    key.refresh_from_db()
    assert key.last_used_at is not None
    with django_assert_num_queries(1):
        keys.find_key(plain)
    long_ago = timezone.now() - timedelta(hours=1)
    ApiKey.objects.update(last_used_at=long_ago)
    keys.find_key(plain)
    key.refresh_from_db()
    assert key.last_used_at > long_ago


def test_the_command_prints_the_key_and_makes_the_owner() -> None:
    out = StringIO()
    call_command("createapikey", "carol", "ci", stdout=out)
    found = keys.find_key(out.getvalue().strip())
    assert found is not None
    assert (found.owner.username, found.owner.has_usable_password()) == ("carol", False)


def test_a_superuser_is_made_once_and_kept_at_the_password(settings: Settings) -> None:
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    first = keys.ensure_superuser("root", "one password")
    second = keys.ensure_superuser("root", "another password")
    assert first.pk == second.pk
    assert authenticate(username="root", password="another password") == first
    assert authenticate(username="root", password="one password") is None
