"""The proving service as a Django app."""

from importlib import import_module

from django.apps import AppConfig


class ProvingConfig(AppConfig):
    """Registers the system checks."""

    name = "proving"
    verbose_name = "Proving"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        import_module("proving.checks")
