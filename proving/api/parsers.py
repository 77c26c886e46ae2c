"""JSON bodies, read exactly: integers as they are, nothing that two readers could take differently."""

# ruff: noqa: ARG002 - the framework names the arguments

from __future__ import annotations

from collections.abc import Mapping
from typing import IO, Any

from rest_framework.exceptions import ParseError
from rest_framework.parsers import BaseParser
from rest_framework.renderers import JSONRenderer

from proving.api.limits import body_limit
from proving.formats.exact_json import JsonError, parse_json
from proving.services.errors import Refusal, ServiceError


class ExactJSONParser(BaseParser):
    """Reads UTF-8 JSON up to the limit; refuses duplicate names. Fractions are for the fields to refuse."""

    media_type = "application/json"
    renderer_class = JSONRenderer

    def parse(
        self, stream: IO[Any], media_type: str | None = None, parser_context: Mapping[str, Any] | None = None
    ) -> Any:
        limit = body_limit(self.media_type)
        body = stream.read(limit + 1)
        if len(body) > limit:
            raise ServiceError(Refusal.TOO_LARGE, "too_large", f"a JSON body may have at most {limit} bytes")
        return parse_exactly(body)


def parse_exactly(body: bytes) -> Any:
    """The value of a JSON text; ParseError names the place and what is wrong with it."""
    try:
        return parse_json(body)
    except JsonError as error:
        raise ParseError(f"{error.place}: {error.reason}", "not_json") from error
