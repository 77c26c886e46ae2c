"""What every request and response passes: a size limit before the body is read, a content policy."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable

from asgiref.sync import sync_to_async
from django.core.handlers.asgi import ASGIRequest
from django.http import FileResponse, HttpRequest, HttpResponseBase
from whitenoise.middleware import WhiteNoiseMiddleware
from whitenoise.responders import StaticFile

from proving.api.limits import body_limit
from proving.api.problems import plain_response, problem

Next = Callable[[HttpRequest], HttpResponseBase]

POLICY = "; ".join(
    [
        "default-src 'self'",
        "img-src 'self' data:",
        "style-src 'self' 'unsafe-inline'",
        "object-src 'none'",
        "base-uri 'self'",
        "form-action 'self'",
        "frame-ancestors 'none'",
    ]
)


class ContentSecurityPolicy:
    """Pages load nothing from other places."""

    def __init__(self, get_response: Next) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        response.headers.setdefault("Content-Security-Policy", POLICY)
        return response


class StaticFiles(WhiteNoiseMiddleware):
    """Files of the panel, the admin and the documentation, streamed as the server at hand wants them."""

    @staticmethod
    def serve(static_file: StaticFile, request: HttpRequest) -> HttpResponseBase:  # type: ignore[override]
        response: FileResponse = WhiteNoiseMiddleware.serve(static_file, request)  # type: ignore[no-untyped-call]
        if isinstance(request, ASGIRequest):
            response.streaming_content = in_threads(response.streaming_content)  # type: ignore[arg-type]
        return response


async def in_threads(chunks: Iterable[bytes]) -> AsyncIterator[bytes]:
    """The chunks of a file, each read away from the event loop."""
    reader = iter(chunks)
    while chunk := await sync_to_async(lambda: next(reader, b""))():
        yield chunk


class BodyLimit:
    """A body that says it is too large is refused unread. Bodies that do not say are counted (see asgi)."""

    def __init__(self, get_response: Next) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        limit = body_limit(request.META.get("CONTENT_TYPE", ""))
        length = request.META.get("CONTENT_LENGTH") or "0"
        if not length.isdecimal():
            return plain_response(problem(400, "bad_request", "Content-Length is not a number"))
        if int(length) > limit:
            return plain_response(
                problem(413, "too_large", f"a body of this type may have at most {limit} bytes")
            )
        return self.get_response(request)
