"""Who is let in, and how refusals look."""

import json
from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from django.test import Client

from proving.api import views
from proving.services import keys
from tests.integration.conftest import Caller

pytestmark = pytest.mark.django_db

JOBS = "/api/v1/jobs"


@pytest.mark.parametrize("path", ["circuits", "circuits/x", "jobs", "jobs/x", "jobs/x/proof", "status"])
def test_strangers_are_told_how_to_come_in(path: str) -> None:
    answer = Client().get(f"/api/v1/{path}")
    assert (answer.status_code, answer.json()["code"]) == (401, "not_authenticated")
    assert answer["WWW-Authenticate"].startswith("Bearer")


@pytest.mark.parametrize(
    ("header", "code"),
    [("Bearer nonsense", "unknown_key"), ("Bearer", "malformed_key"), ("Bearer a b", "malformed_key")],
)
def test_a_bad_key_is_refused(header: str, code: str) -> None:
    answer = Client(headers={"authorization": header}).get(JOBS)
    assert (answer.status_code, answer.json()["code"]) == (401, code)


def test_a_revoked_key_stops(alice: User) -> None:
    key, plain = keys.create_key(alice, "x")
    client = Client(headers={"authorization": f"Bearer {plain}"})
    assert client.get(JOBS).status_code == 200
    keys.revoke_key(key)
    assert client.get(JOBS).status_code == 401


def test_a_session_is_for_staff(alice: User, staff: User) -> None:
    client = Client()
    client.force_login(alice)
    assert client.get(JOBS).status_code == 401
    client.force_login(staff)
    assert client.get(JOBS).status_code == 200


def test_a_session_writes_with_a_token_alone(staff: User) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(staff)
    answer = client.post(JOBS, "{}", content_type="application/json")
    assert (answer.status_code, answer.json()["code"]) == (403, "permission_denied")


@pytest.mark.parametrize(
    "path", ["/api/", "/api/v2/jobs", "/api/v1/job", "/api/v1/jobs/", "/api/v1/jobs/a/b"]
)
def test_an_unknown_address_is_a_problem(caller: Caller, path: str) -> None:
    answer = caller.get(path)
    assert (answer.status_code, answer["Content-Type"]) == (404, "application/problem+json")


def test_a_wrong_method_is_a_problem(caller: Caller) -> None:
    answer = caller.client.delete(JOBS)
    assert (answer.status_code, answer.json()["code"]) == (405, "method_not_allowed")
    assert "POST" in answer["Allow"]


def test_a_wrong_media_type_is_a_problem(caller: Caller) -> None:
    answer = caller.client.post(JOBS, "a=1", content_type="application/x-www-form-urlencoded")
    assert (answer.status_code, answer.json()["code"]) == (415, "unsupported_media_type")


def test_an_unforeseen_error_is_a_problem_and_tells_nothing(
    caller: Caller, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("a secret")

    monkeypatch.setattr(views.find, "find_job", fail)
    caller.client.raise_request_exception = False
    answer = caller.get(f"{JOBS}/x")
    assert (answer.status_code, answer.json()["code"]) == (500, "internal_error")
    assert "a secret" not in answer.text
    assert "a secret" in caplog.text


def test_a_host_name_that_is_not_ours_is_a_problem(caller: Caller) -> None:
    answer = caller.client.get(JOBS, headers={"host": "evil.example"})
    assert (answer.status_code, answer.json()["code"]) == (400, "bad_request")


def test_a_login_is_for_this_site_alone(staff: User) -> None:
    login = {"username": staff.username, "password": "a long password"}
    cookies = Client().post("/admin/login/", login).cookies
    session, token = cookies["sessionid"], cookies["csrftoken"]
    assert (session["httponly"], session["samesite"], token["samesite"]) == (True, "Lax", "Lax")


def test_every_answer_has_the_headers_of_a_careful_server(caller: Caller) -> None:
    answer = caller.get(JOBS)
    assert "default-src 'self'" in answer["Content-Security-Policy"]
    assert answer["X-Content-Type-Options"] == "nosniff"
    assert answer["X-Frame-Options"] == "DENY"


def test_pages_for_people_stay_pages() -> None:
    answer = Client().get("/nothing-here")
    assert (answer.status_code, answer["Content-Type"].split(";")[0]) == (404, "text/html")


def test_a_null_in_an_address_is_no_failure(calling: Callable[[User], Caller], alice: User) -> None:
    answer = calling(alice).get(f"{JOBS}/a%00b")
    assert answer.status_code == 404
    assert json.loads(answer.content)["code"] == "not_found"
