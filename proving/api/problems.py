"""Every error as problem+json (RFC 9457): type, title, status, detail, code and errors with pointers."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable, Iterator, Mapping
from http import HTTPStatus
from math import ceil
from typing import Any

from django.core.exceptions import PermissionDenied, RequestDataTooBig, SuspiciousOperation
from django.core.signals import got_request_exception
from django.http import Http404, HttpRequest, HttpResponse
from django.views import defaults
from rest_framework import exceptions
from rest_framework.response import Response

from proving.services.errors import Fault, Refusal, ServiceError
from proving.services.reading import escape
from proving.services.trouble import Trouble, trouble_of

CONTENT_TYPE = "application/problem+json"
STATUS_OF_REFUSAL = {
    Refusal.INVALID: HTTPStatus.UNPROCESSABLE_ENTITY,
    Refusal.NOT_FOUND: HTTPStatus.NOT_FOUND,
    Refusal.CONFLICT: HTTPStatus.CONFLICT,
    Refusal.TOO_LARGE: HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
    Refusal.LOCKED: HTTPStatus.LOCKED,
    Refusal.DAMAGED: 460,
    Refusal.UNAVAILABLE: HTTPStatus.SERVICE_UNAVAILABLE,
}
TITLES = {460: "Checksum Mismatch"}
"""Of the statuses that HTTP's own list does not have: this one is tus's."""

TROUBLE_SECONDS = 5

log = logging.getLogger(__name__)


def problem(status: int, code: str, detail: str, faults: Iterable[Fault] = ()) -> dict[str, Any]:
    """The body of a problem response."""
    return {
        "type": f"urn:cuzkweb:problem:{code}",
        "title": TITLES.get(status) or HTTPStatus(status).phrase,
        "status": int(status),
        "detail": detail,
        "code": code,
        "errors": [
            {"pointer": f"#{fault.pointer}", "detail": fault.detail, "code": fault.code} for fault in faults
        ],
    }


def answer_exception(exc: Exception, context: Mapping[str, Any]) -> Response:
    """DRF's exception handler: a problem for whatever a view raised, a logged 500 for what nobody foresaw."""
    if isinstance(exc, ServiceError):
        response = _answer(problem(STATUS_OF_REFUSAL[exc.refusal], exc.code, exc.detail, exc.faults))
        if exc.retry_after is not None:
            response["Retry-After"] = str(exc.retry_after)
        return response
    if isinstance(exc, Http404):
        exc = exceptions.NotFound("there is nothing at this address")
    elif isinstance(exc, PermissionDenied):
        exc = exceptions.PermissionDenied()
    elif isinstance(exc, RequestDataTooBig):
        return _answer(problem(413, "too_large", "the body is larger than this service takes"))
    elif isinstance(exc, SuspiciousOperation):
        return _answer(problem(400, "bad_request", "the request is malformed"))
    if isinstance(exc, exceptions.APIException):
        return _answer_api_exception(exc)
    if trouble := trouble_of(exc):
        log.warning("%s", trouble.words, exc_info=exc)
        return _answer_trouble(trouble)
    request = context["request"]
    log.error("unforeseen error at %s %s", request.method, request.path, exc_info=exc)
    got_request_exception.send(sender=None, request=request._request)  # noqa: SLF001
    return _answer(problem(500, "internal_error", "the service failed; its log says how"))


def _answer_trouble(trouble: Trouble) -> Response:
    """Something that the service stands on is away: the same request may find it back."""
    response = _answer(problem(503, trouble, trouble.words))
    response["Retry-After"] = str(TROUBLE_SECONDS)
    return response


def _answer_api_exception(exc: exceptions.APIException) -> Response:
    if isinstance(exc, exceptions.ValidationError):
        faults = list(_faults(exc.detail, ""))
        detail = faults[0].detail if len(faults) == 1 else f"{len(faults)} fields are wrong"
        response = _answer(problem(exc.status_code, "invalid", detail, faults))
    else:
        code = str(exc.get_codes())
        response = _answer(problem(exc.status_code, code, str(exc.detail)))
    if challenge := getattr(exc, "auth_header", None):
        response["WWW-Authenticate"] = challenge
    if wait := getattr(exc, "wait", None):
        response["Retry-After"] = str(ceil(wait))
    return response


def _faults(detail: Any, pointer: str) -> Iterator[Fault]:
    """The leaves of DRF's nested error lists, each with a JSON pointer."""
    if isinstance(detail, Mapping):
        for name, inner in detail.items():
            yield from _faults(
                inner, pointer if name == "non_field_errors" else f"{pointer}/{escape(str(name))}"
            )
    elif isinstance(detail, list | tuple):
        nested = any(isinstance(inner, Mapping | list) for inner in detail)
        for index, inner in enumerate(detail):
            yield from _faults(inner, f"{pointer}/{index}" if nested else pointer)
    else:
        yield Fault(pointer, str(detail), getattr(detail, "code", "invalid"))


def _answer(body: dict[str, Any]) -> Response:
    return Response(body, status=body["status"], content_type=CONTENT_TYPE)


def plain_response(body: dict[str, Any]) -> HttpResponse:
    """A problem as a response outside DRF's views."""
    return HttpResponse(json.dumps(body), status=body["status"], content_type=CONTENT_TYPE)


def wants_problem(request: HttpRequest) -> bool:
    """Whether errors at this address are for programs."""
    return request.path.startswith(("/api/", "/status", "/healthz", "/readyz", "/metrics"))


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Django's answer to a malformed request, as a problem where a program asked."""
    if wants_problem(request):
        return plain_response(problem(400, "bad_request", "the request is malformed"))
    return defaults.bad_request(request, exception)


def permission_denied(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Django's answer to a forbidden request, as a problem where a program asked."""
    if wants_problem(request):
        return plain_response(problem(403, "permission_denied", "this is not allowed"))
    return defaults.permission_denied(request, exception)


def page_not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Django's answer to an unknown address, as a problem where a program asked."""
    if wants_problem(request):
        return plain_response(problem(404, "not_found", "there is nothing at this address"))
    return defaults.page_not_found(request, exception)


def server_error(request: HttpRequest) -> HttpResponse:
    """Django's answer to an unforeseen error, as a problem where a program asked."""
    if wants_problem(request):
        return plain_response(problem(500, "internal_error", "the service failed; its log says how"))
    return defaults.server_error(request)
