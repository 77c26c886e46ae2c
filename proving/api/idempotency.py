"""The Idempotency-Key header (draft-ietf-httpapi-idempotency-key-header) in front of a view's method."""

from __future__ import annotations

import functools
import hashlib
import json
import re
from collections.abc import Callable
from typing import Any, TypeVar

from django.core.files.uploadedfile import UploadedFile
from django.http import QueryDict
from drf_spectacular.utils import OpenApiParameter
from rest_framework.exceptions import ParseError
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response

from proving.api.permissions import caller
from proving.services import idempotency

VALID = re.compile(r"[\x21-\x7e]{1,255}")
KEPT_HEADERS = ("Location", "Retry-After")
IDEMPOTENCY_KEY = OpenApiParameter(
    "Idempotency-Key",
    str,
    OpenApiParameter.HEADER,
    pattern=f"^{VALID.pattern}$",
    description="A request repeated with the same key and body gets the first one's answer.",
)
Handler = TypeVar("Handler", bound=Callable[..., Response])


def idempotent(handler: Handler) -> Handler:
    """Let a method of a view act once for each Idempotency-Key. Without the header nothing changes."""

    @functools.wraps(handler)
    def run(view: Any, request: Request, *args: Any, **kwargs: Any) -> Response:
        key = request.headers.get("Idempotency-Key")
        if key is None:
            return handler(view, request, *args, **kwargs)
        if not VALID.fullmatch(key):
            raise ParseError("Idempotency-Key wants 1 to 255 visible ASCII characters", "bad_idempotency_key")
        claimed = idempotency.claim(caller(request), key, fingerprint(request))
        if isinstance(claimed, idempotency.Answered):
            headers = {**claimed.headers, "Idempotency-Replayed": "true"}
            return Response(claimed.body, claimed.status, headers=headers)
        view.reserved = claimed.reserved
        try:
            response = handler(view, request, *args, **kwargs)
        except BaseException:
            idempotency.release(claimed)
            raise
        headers = {name: response[name] for name in KEPT_HEADERS if name in response}
        body = json.loads(JSONRenderer().render(response.data))
        idempotency.settle(claimed, response.status_code, headers, body)
        return response

    return run  # type: ignore[return-value]


def fingerprint(request: Request) -> str:
    """A keyed digest of what is asked, the same however a client divides a form into parts."""
    data = request.data
    if isinstance(data, QueryDict):
        told: Any = [[name, [_told(value) for value in values]] for name, values in sorted(data.lists())]
    else:
        told = data
    text = json.dumps([request.method, request.path, told], sort_keys=True, default=str)
    return idempotency.digest_of(text)


def _told(value: Any) -> Any:
    if not isinstance(value, UploadedFile):
        return value
    digest = hashlib.sha256()
    for chunk in value.chunks():
        digest.update(chunk)
    value.seek(0)
    return {"sha256": digest.hexdigest()}
