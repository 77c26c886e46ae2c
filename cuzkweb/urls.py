"""Every address of the service."""

from importlib.util import find_spec

from django.contrib import admin
from django.urls import URLPattern, URLResolver, include, path

urlpatterns: list[URLPattern | URLResolver] = [
    path("", include("proving.api.urls")),
    path("admin/", admin.site.urls),
]
if find_spec("proving.panel.urls"):
    urlpatterns.append(path("", include("proving.panel.urls")))

handler400 = "proving.api.problems.bad_request"
handler403 = "proving.api.problems.permission_denied"
handler404 = "proving.api.problems.page_not_found"
handler500 = "proving.api.problems.server_error"
