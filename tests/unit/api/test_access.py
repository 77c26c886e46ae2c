"""Who may watch, which requests are from this host, which entity tags match."""

import pytest
from django.test import RequestFactory

from proving.api.operations import names_tag
from proving.services.access import from_loopback


@pytest.mark.parametrize(
    ("address", "headers", "expected"),
    [
        ("127.0.0.1", {}, True),
        ("127.9.9.9", {}, True),
        ("::1", {}, True),
        ("10.0.0.1", {}, False),
        ("", {}, False),
        ("127.0.0.1", {"X-Forwarded-For": "203.0.113.9"}, False),
        ("127.0.0.1", {"Forwarded": "for=203.0.113.9"}, False),
    ],
)
def test_loopback_is_this_host_and_not_a_proxy_on_it(
    address: str, headers: dict[str, str], expected: bool
) -> None:
    request = RequestFactory().get("/status", REMOTE_ADDR=address, headers=headers)
    assert from_loopback(request) is expected


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        ('"7"', True),
        ('W/"7"', True),
        ('"6", "7"', True),
        ("*", True),
        ('"8"', False),
        ("", False),
        ("7", False),
    ],
)
def test_entity_tags_are_compared_weakly(header: str, expected: bool) -> None:
    assert names_tag(header, '"7"') is expected
