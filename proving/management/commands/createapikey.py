"""`manage.py createapikey OWNER NAME`: make an API key and print it, once."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from proving.services import keys


class Command(BaseCommand):
    """Makes the owner too when there is none, as a user who cannot log in."""

    help = "Make an API key for OWNER and print it: it cannot be read again."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("owner", help="a user's name; made without a password when there is no such user")
        parser.add_argument("name", help="what the key is for")

    def handle(self, *args: Any, **options: Any) -> None:  # noqa: ARG002
        _, plain = keys.create_key(keys.ensure_owner(options["owner"]), options["name"])
        self.stdout.write(plain)
