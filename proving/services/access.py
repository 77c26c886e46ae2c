"""Who may watch the service, and how much of it: operators all of it, everybody else what is their own."""

from __future__ import annotations

import ipaddress

from django.conf import settings
from django.contrib.auth.models import User
from django.http import HttpRequest

from proving.models import Circuit
from proving.tracker.narrow import Viewer

FORWARDED = ("HTTP_FORWARDED", "HTTP_X_FORWARDED_FOR", "HTTP_X_REAL_IP")


def from_loopback(request: HttpRequest) -> bool:
    """Whether a request comes from this host itself and not through a proxy on it."""
    try:
        address = ipaddress.ip_address(request.META.get("REMOTE_ADDR", ""))
    except ValueError:
        return False
    return address.is_loopback and not any(name in request.META for name in FORWARDED)


def open_to(request: HttpRequest) -> bool:
    """Whether the status is open to whoever sends this request, known or not."""
    return bool(settings.CUZKWEB_STATUS_OPEN_ON_LOOPBACK) and from_loopback(request)


def viewer_of(user: User) -> Viewer:
    """What of the live state is this user's own."""
    circuits = Circuit.objects.filter(owner=user).values_list("pk", flat=True)
    return Viewer(str(user.pk), frozenset(circuits))
