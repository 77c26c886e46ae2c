"""Who may look at the status page, and what the page says about itself."""

import pytest
from django.contrib.auth.models import AnonymousUser, User
from django.http import HttpResponse
from django.test import RequestFactory
from pytest_django import Settings

from proving.panel.views import status_page

STAFF = User(username="operator", is_staff=True)


def look(user: User | AnonymousUser, **meta: str) -> HttpResponse:
    request = RequestFactory().get("/", **meta)
    request.user = user
    return status_page(request)


def test_staff_get_the_page() -> None:
    response = look(STAFF, REMOTE_ADDR="203.0.113.9", SERVER_NAME="localhost", SERVER_PORT="8080")
    page = response.content.decode()
    assert response.status_code == 200
    assert 'data-status="/status"' in page
    assert 'data-history="/api/v1/status/history"' in page
    assert 'data-job-page="/admin/proving/job/JOB/change/"' in page
    assert 'data-proof="/api/v1/jobs/JOB/proof"' in page
    assert "curl http://localhost:8080/api/v1/jobs" in page


@pytest.mark.parametrize(
    "user", [AnonymousUser(), User(username="owner"), User(username="left", is_staff=True, is_active=False)]
)
def test_others_are_sent_to_the_login(user: User | AnonymousUser) -> None:
    response = look(user, REMOTE_ADDR="127.0.0.1")
    assert response.status_code == 302
    assert response["Location"] == "/admin/login/?next=/"


def test_the_setting_opens_the_page_on_this_machine_alone(settings: Settings) -> None:
    settings.CUZKWEB_STATUS_OPEN_ON_LOOPBACK = True
    assert look(AnonymousUser(), REMOTE_ADDR="127.0.0.1").status_code == 200
    assert look(AnonymousUser(), REMOTE_ADDR="::1").status_code == 200
    assert look(AnonymousUser(), REMOTE_ADDR="203.0.113.9").status_code == 302


def test_what_a_proxy_forwards_is_not_from_this_machine(settings: Settings) -> None:
    settings.CUZKWEB_STATUS_OPEN_ON_LOOPBACK = True
    forwarded = look(AnonymousUser(), REMOTE_ADDR="127.0.0.1", HTTP_X_FORWARDED_FOR="203.0.113.9")
    assert forwarded.status_code == 302


def test_flower_is_linked_where_it_runs(settings: Settings) -> None:
    settings.CUZKWEB_FLOWER_URL = ""
    assert "Flower" not in look(STAFF).content.decode()
    settings.CUZKWEB_FLOWER_URL = "http://127.0.0.1:5555/flower/"
    assert 'href="http://127.0.0.1:5555/flower/"' in look(STAFF).content.decode()


def test_the_policy_allows_no_inline_code() -> None:
    policy = look(STAFF)["Content-Security-Policy"]
    assert "unsafe" not in policy
    assert "default-src 'none'" in policy


def test_only_reading_is_answered() -> None:
    request = RequestFactory().post("/")
    request.user = STAFF
    assert status_page(request).status_code == 405
