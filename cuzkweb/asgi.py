"""The service as an ASGI application."""

import os

from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "cuzkweb.settings")
django_application = get_asgi_application()

from proving.api.bounded import BoundedBodies  # noqa: E402 - Django must be set up before

application = BoundedBodies(django_application)  # type: ignore[arg-type]
