"""`manage.py createapikey OWNER NAME`: make an API key and print it, once."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.core.management.base import BaseCommand, CommandParser
from django.utils import timezone

from proving.choices import Scope
from proving.models import default_scopes
from proving.services import keys


class Command(BaseCommand):
    """Makes the owner too when there is none, as a user who cannot log in."""

    help = "Make an API key for OWNER and print it: it cannot be read again."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("owner", help="a user's name; made without a password when there is no such user")
        parser.add_argument("name", help="what the key is for")
        parser.add_argument(
            "--scope",
            action="append",
            choices=Scope.values,
            help="what it may do; may be given again (default: read and submit)",
        )
        parser.add_argument("--days", type=int, help="days until it expires (default: never)")

    def handle(self, *args: Any, **options: Any) -> None:  # noqa: ARG002
        owner, scopes = keys.ensure_owner(options["owner"]), options["scope"] or default_scopes()
        ends = timezone.now() + timedelta(days=options["days"]) if options["days"] is not None else None
        _, plain = keys.create_key(owner, options["name"], scopes, ends)
        self.stdout.write(plain)
