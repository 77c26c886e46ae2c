"""The status panel: one page, which reads the status document from the same origin by itself."""

from __future__ import annotations

from dataclasses import dataclass

from django.conf import settings
from django.contrib.auth.views import redirect_to_login
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.cache import patch_cache_control
from django.views.decorators.http import require_safe

from proving.services.access import open_to

# the page carries no inline script or style, so that its policy needs no exception for any
POLICY = "; ".join(
    [
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self'",
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'self'",
        "frame-ancestors 'none'",
    ]
)

# stands in the addresses that the page fills in for each job
JOB = "JOB"


@dataclass(frozen=True, slots=True)
class Link:
    """An entry of the page's navigation."""

    name: str
    url: str
    current: bool = False


def may_look(request: HttpRequest) -> bool:
    """Staff may, and on this machine anybody where the settings open the status there."""
    return (request.user.is_active and request.user.is_staff) or open_to(request)


def navigation() -> list[Link]:
    links = [
        Link("Status", reverse("panel:status"), current=True),
        Link("Jobs", reverse("admin:proving_job_changelist")),
        Link("Circuits", reverse("admin:proving_circuit_changelist")),
        Link("Docs", reverse("handbook:first")),
        Link("API", reverse("docs")),
    ]
    flower = getattr(settings, "CUZKWEB_FLOWER_URL", None)
    return [*links, Link("Flower", flower)] if flower else links


@require_safe
def status_page(request: HttpRequest) -> HttpResponse:
    """The panel itself. It holds no data: everything shown comes from the status document."""
    login = reverse("admin:login")
    if not may_look(request):
        return redirect_to_login(request.get_full_path(), login)
    response = render(
        request,
        "panel/status.html",
        {
            "links": navigation(),
            "status_url": reverse("cuzk-status"),
            "stream_url": reverse("status-stream"),
            "history_url": reverse("status-history"),
            "job_page": reverse("admin:proving_job_change", args=[JOB]),
            "proof_url": reverse("job-proof", args=[JOB]),
            "login_url": f"{login}?next={reverse('panel:status')}",
            "docs_url": reverse("handbook:first"),
            "api_url": reverse("docs"),
            "jobs_url": reverse("admin:proving_job_changelist"),
            "origin": request.build_absolute_uri("/").rstrip("/"),
        },
    )
    response.headers["Content-Security-Policy"] = POLICY
    patch_cache_control(response, private=True, no_cache=True)
    return response
