"""The address of the status panel."""

from django.urls import path

from proving.panel.views import status_page

app_name = "panel"
urlpatterns = [path("", status_page, name="status")]
