"""Every address of the service."""

from importlib.util import find_spec

from django.conf import settings
from django.contrib import admin
from django.contrib.admin.views.decorators import staff_member_required
from django.urls import URLPattern, URLResolver, include, path
from django.views.generic import RedirectView

urlpatterns: list[URLPattern | URLResolver] = [
    path("", include("proving.api.urls")),
    path("", include("proving.handbook.urls")),
    path("admin/", admin.site.urls),
]
if find_spec("proving.panel.urls"):
    urlpatterns.append(path("", include("proving.panel.urls")))
if settings.CUZKWEB_FLOWER_URL:
    flower = RedirectView.as_view(url=settings.CUZKWEB_FLOWER_URL)
    urlpatterns.append(path("flower/", staff_member_required(flower), name="flower"))

handler400 = "proving.api.problems.bad_request"
handler403 = "proving.api.problems.permission_denied"
handler404 = "proving.api.problems.page_not_found"
handler500 = "proving.api.problems.server_error"
