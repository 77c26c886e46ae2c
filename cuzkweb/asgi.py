"""The service as an ASGI application."""

import os
import tempfile

import django
from django.conf import settings

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "cuzkweb.settings")
django.setup(set_prefix=False)

# Django keeps the bodies of requests in unnamed temporary files: on the disk that uploads go to.
tempfile.tempdir = settings.FILE_UPLOAD_TEMP_DIR

from proving.api.arriving import Handler  # noqa: E402 - Django must be set up before
from proving.api.bounded import BoundedBodies  # noqa: E402
from proving.api.patience import Patience  # noqa: E402

bounded = BoundedBodies(Handler())  # type: ignore[arg-type]
application = Patience(bounded, settings.CUZKWEB_CLIENT_SECONDS)
