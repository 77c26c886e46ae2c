"""Whatever a view raises becomes a problem document."""

import json

import pytest
from django.core.exceptions import PermissionDenied, RequestDataTooBig, TooManyFilesSent
from django.http import Http404
from django.test import RequestFactory
from rest_framework import exceptions
from rest_framework.request import Request

from proving.api.problems import answer_exception, page_not_found, problem, server_error
from proving.services.errors import Fault, Refusal, ServiceError, conflict, invalid
from proving.services.reading import pointer_to

REQUEST = Request(RequestFactory().get("/api/v1/jobs"))


def answer(error: Exception) -> dict:
    response = answer_exception(error, {"request": REQUEST})
    assert response.content_type == "application/problem+json"
    assert response.status_code == response.data["status"]
    assert set(response.data) == {"type", "title", "status", "detail", "code", "errors"}
    return response.data


@pytest.mark.parametrize(
    ("error", "status", "code"),
    [
        (Http404(), 404, "not_found"),
        (PermissionDenied(), 403, "permission_denied"),
        (RequestDataTooBig(), 413, "too_large"),
        (TooManyFilesSent(), 400, "bad_request"),
        (exceptions.MethodNotAllowed("PUT"), 405, "method_not_allowed"),
        (exceptions.UnsupportedMediaType("text/html"), 415, "unsupported_media_type"),
        (exceptions.NotAcceptable(), 406, "not_acceptable"),
        (exceptions.NotAuthenticated(), 401, "not_authenticated"),
        (exceptions.ParseError(), 400, "parse_error"),
        (ServiceError(Refusal.UNAVAILABLE, "away", "later"), 503, "away"),
        (conflict("not_yet", "wait"), 409, "not_yet"),
        (RuntimeError("a secret"), 500, "internal_error"),
    ],
)
def test_every_error_has_a_status_and_a_code(error: Exception, status: int, code: str) -> None:
    found = answer(error)
    assert (found["status"], found["code"]) == (status, code)
    assert "a secret" not in json.dumps(found)


def test_a_wait_is_told() -> None:
    response = answer_exception(exceptions.Throttled(wait=7), {"request": REQUEST})
    assert response["Retry-After"] == "7"


def test_nested_field_errors_have_pointers() -> None:
    error = exceptions.ValidationError(
        {"a": ["bad"], "list": [{}, {"x/y": ["worse"]}], "non_field_errors": ["all of it"]}
    )
    found = answer(error)
    assert [(fault["pointer"], fault["detail"]) for fault in found["errors"]] == [
        ("#/a", "bad"),
        ("#/list/1/x~1y", "worse"),
        ("#", "all of it"),
    ]


def test_a_service_names_the_field() -> None:
    found = answer(invalid("/proving_key", "bad_proving_key", "section 9: missing"))
    assert found["status"] == 422
    assert found["errors"] == [
        {"pointer": "#/proving_key", "detail": "section 9: missing", "code": "bad_proving_key"}
    ]


def test_several_faults_are_all_told() -> None:
    faults = [Fault("/inputs/0/a", "missing", "bad_input"), Fault("/inputs/0/b", "extra", "bad_input")]
    found = answer(ServiceError(Refusal.INVALID, "bad_input", "two are wrong", *faults))
    assert [fault["pointer"] for fault in found["errors"]] == ["#/inputs/0/a", "#/inputs/0/b"]


@pytest.mark.parametrize(
    ("place", "pointer"),
    [
        ("pi_b[0][1]", "/proof/pi_b/0/1"),
        ("document", "/proof"),
        ("", "/proof"),
        ("a.b[2].c", "/proof/a/b/2/c"),
    ],
)
def test_places_become_pointers(place: str, pointer: str) -> None:
    assert pointer_to("/proof", place) == pointer


def test_django_own_pages_are_problems_for_programs_alone() -> None:
    api, page = RequestFactory().get("/api/nothing"), RequestFactory().get("/nothing")
    assert page_not_found(api, Http404())["Content-Type"] == "application/problem+json"
    assert page_not_found(page, Http404())["Content-Type"].startswith("text/html")
    assert json.loads(server_error(api).content)["code"] == "internal_error"


def test_the_type_is_a_uri_of_the_code() -> None:
    assert problem(404, "not_found", "x")["type"] == "urn:cuzkweb:problem:not_found"
