"""The Django project as an app: finds the Celery app before any shared task is declared."""

from importlib import import_module

from django.apps import AppConfig


class CuzkwebConfig(AppConfig):
    """Loads cuzkweb.celery, so that shared tasks bind to this project's app in every process."""

    name = "cuzkweb"

    def ready(self) -> None:
        import_module("cuzkweb.celery")
