"""Who may watch the service without owning anything in it."""

from __future__ import annotations

import ipaddress

from django.conf import settings
from django.http import HttpRequest

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
