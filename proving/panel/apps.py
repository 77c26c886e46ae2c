"""The status panel as a Django app, so that its templates and static files are found."""

from django.apps import AppConfig


class PanelConfig(AppConfig):
    name = "proving.panel"
    label = "panel"
    verbose_name = "Status panel"
