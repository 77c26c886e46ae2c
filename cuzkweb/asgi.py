"""The service as an ASGI application."""

import os
import tempfile

from django.conf import settings
from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "cuzkweb.settings")
django_application = get_asgi_application()

# Django keeps the bodies of requests in unnamed temporary files: on the disk that uploads go to.
tempfile.tempdir = settings.FILE_UPLOAD_TEMP_DIR

from proving.api.bounded import BoundedBodies  # noqa: E402 - Django must be set up before

from proving.api.patience import Patience  # noqa: E402

bounded = BoundedBodies(django_application)  # type: ignore[arg-type]
application = Patience(bounded, settings.CUZKWEB_CLIENT_SECONDS)
