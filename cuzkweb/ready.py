"""Django made ready in a process that is no web server: workers, the periodic process, the supervisor."""

import os


def set_up_django() -> None:
    """Load the settings and the apps. Doing it twice changes nothing."""
    import django  # noqa: PLC0415 - the command line stays fast where no database is used

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "cuzkweb.settings")
    django.setup()
