"""`manage.py reconcile`: bring database and live state together, and say what was wrong."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from redis.exceptions import RedisError

from proving.services import reconcile


class Command(BaseCommand):
    """What the periodic process does by itself every lease, at once and with a report."""

    help = "Find what database and live state disagree on, and mend it."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--dry-run", action="store_true", help="report only")

    def handle(self, *args: Any, **options: Any) -> None:  # noqa: ARG002
        try:
            found = reconcile.reconcile(mend=not options["dry_run"])
        except RedisError as error:
            raise CommandError(f"the server that holds the live state does not answer: {error}") from error
        for what in found:
            self.stdout.write(what if options["dry_run"] else f"mended: {what}")
        if not found:
            self.stdout.write("nothing to do")
