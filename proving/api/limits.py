"""How large a request body may be, and how one that is larger is refused before it is read."""

from __future__ import annotations

from django.conf import settings

UPLOADS = ("multipart/form-data", "application/offset+octet-stream")


def body_limit(content_type: str) -> int:
    """Bytes that a body of this type may have: uploads of files have a limit of their own."""
    if content_type.lower().startswith(UPLOADS):
        return int(settings.CUZKWEB_MAX_UPLOAD_BYTES)
    return int(settings.CUZKWEB_MAX_JSON_BYTES)
