"""The addresses of the documentation."""

from django.urls import path

from proving.handbook.views import file, first_page, page

app_name = "handbook"
urlpatterns = [
    path("docs/", first_page, name="first"),
    path("docs/<path:name>/", page, name="page"),
    path("docs/<path:path>", file, name="file"),
]
