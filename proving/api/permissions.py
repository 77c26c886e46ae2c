"""What a caller may do, and how often."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from rest_framework.exceptions import NotAuthenticated
from rest_framework.permissions import SAFE_METHODS, BasePermission
from rest_framework.request import Request
from rest_framework.throttling import BaseThrottle

from proving.choices import Scope
from proving.models import ApiKey
from proving.services import access
from proving.services.rates import Counter


def caller(request: Request) -> User:
    """The authenticated user behind a request."""
    if not isinstance(request.user, User):
        raise NotAuthenticated
    return request.user


def scope_of(request: Request, view: Any) -> Scope:
    """The scope that a request needs: the view's own, else by its method."""
    own: Scope | None = getattr(view, "required_scope", None)
    if own is not None:
        return own
    return Scope.READ if request.method in SAFE_METHODS else Scope.SUBMIT


class InScope(BasePermission):
    """Known callers whose key has the scope; staff with a session have every one."""

    code = "insufficient_scope"
    message = "the API key does not have the scope for this"

    def has_permission(self, request: Request, view: Any) -> bool:
        if not request.user.is_authenticated:
            return False
        needed = scope_of(request, view)
        self.message = f"the API key does not have the scope for this: {needed.value}"
        return not isinstance(request.auth, ApiKey) or needed in request.auth.scopes


class MayWatch(BasePermission):
    """Holders of a key that reads or watches, staff, and this very host where the setting says so."""

    def has_permission(self, request: Request, view: Any) -> bool:
        if isinstance(request.auth, ApiKey) and Scope.WATCH in request.auth.scopes:
            return True
        return InScope().has_permission(request, view) or access.open_to(request)


def watcher(request: Request) -> User | None:
    """Whose things alone the status shows to this request; None is an operator, who sees everybody's.

    Operators are staff, keys with the scope `watch`, and this very host where the setting says so.
    """
    if isinstance(request.auth, ApiKey) and Scope.WATCH in request.auth.scopes:
        return None
    user = request.user
    return user if isinstance(user, User) and not user.is_staff else None


class Rate(BaseThrottle):
    """Requests a minute of one caller, reads and all else apart. An address stands for unknown callers."""

    def __init__(self) -> None:
        self._wait: float | None = None

    def allow_request(self, request: Request, view: Any) -> bool:
        reading = scope_of(request, view) == Scope.READ
        limit = settings.CUZKWEB_READS_PER_MINUTE if reading else settings.CUZKWEB_SUBMITS_PER_MINUTE
        user = request.user
        who = f"user:{user.pk}" if user.is_authenticated else f"address:{self.get_ident(request)}"
        self._wait = Counter.turn(f"{'read' if reading else 'submit'}:{who}", limit)
        return self._wait is None

    def wait(self) -> float | None:
        return self._wait
