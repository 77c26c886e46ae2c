"""A span for each request, where traces are switched on."""

from __future__ import annotations

from collections.abc import Callable

from django.http import HttpRequest, HttpResponseBase

from proving.services import tracing

UNTOLD = ("/healthz", "/readyz", "/static/")


class TraceRequests:
    """Named by method and route; the text of a path or a query is in no span."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        if request.path.startswith(UNTOLD):
            return self.get_response(request)
        method = request.method or ""
        with tracing.request_span(method, request.headers) as answered:
            response = self.get_response(request)
            match = request.resolver_match
            answered(f"{method} /{match.route}" if match else method, response.status_code)
            return response
