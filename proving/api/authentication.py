"""Who asks: the owner of an API key, or a member of the staff with a session."""

from __future__ import annotations

from django.contrib.auth.models import User
from rest_framework.authentication import BaseAuthentication, SessionAuthentication, get_authorization_header
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.request import Request

from proving.models import ApiKey
from proving.services import keys

CHALLENGE = 'Bearer realm="cuzkweb"'


class ApiKeyAuthentication(BaseAuthentication):
    """`Authorization: Bearer <key>`."""

    def authenticate(self, request: Request) -> tuple[User, ApiKey] | None:
        words = get_authorization_header(request).split()
        if not words or words[0].lower() != b"bearer":
            return None
        if len(words) != 2:
            raise AuthenticationFailed(
                "the Authorization header wants the form: Bearer <key>", "malformed_key"
            )
        key = keys.find_key(words[1].decode("latin-1"))
        if key is None:
            raise AuthenticationFailed("the API key is unknown or revoked", "unknown_key")
        return key.owner, key

    def authenticate_header(self, request: Request) -> str:  # noqa: ARG002
        return CHALLENGE


class StaffSessionAuthentication(SessionAuthentication):
    """The session of the admin, for staff alone; writes need the CSRF token."""

    def authenticate(self, request: Request) -> tuple[User, None] | None:
        user = getattr(request._request, "user", None)  # noqa: SLF001 - as DRF's own class reads it
        return super().authenticate(request) if user is not None and user.is_staff else None
