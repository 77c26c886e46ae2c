"""JSON bodies, read exactly: integers of any size as they are, nothing that two readers could take differently."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, BinaryIO, NoReturn

from rest_framework.exceptions import ParseError
from rest_framework.parsers import BaseParser
from rest_framework.renderers import JSONRenderer

from proving.api.limits import body_limit
from proving.services.errors import Refusal, ServiceError


class ExactJSONParser(BaseParser):
    """Reads UTF-8 JSON up to the limit; refuses duplicate names, NaN and infinities."""

    media_type = "application/json"
    renderer_class = JSONRenderer

    def parse(
        self, stream: BinaryIO, media_type: str | None = None, parser_context: Mapping[str, Any] | None = None
    ) -> Any:
        limit = body_limit(self.media_type)
        body = stream.read(limit + 1)
        if len(body) > limit:
            raise ServiceError(Refusal.TOO_LARGE, "too_large", f"a JSON body may have at most {limit} bytes")
        return parse_exactly(body)


def parse_exactly(body: bytes) -> Any:
    """The value of a JSON text; ParseError names what is wrong and never repeats the text."""
    try:
        return json.loads(
            body.decode("utf-8"),
            object_pairs_hook=_object,
            parse_constant=_refuse_constant,
            parse_int=_integer,
        )
    except UnicodeDecodeError as error:
        raise ParseError(f"the body is not UTF-8 at byte {error.start}") from None
    except json.JSONDecodeError as error:
        raise ParseError(
            f"the body is not JSON: {error.msg} at line {error.lineno} column {error.colno}"
        ) from None
    except RecursionError:
        raise ParseError("the body is nested too deeply") from None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ParseError(f'the name "{twice[:64]}" stands twice in one object', "duplicate_name")
    return found


def _integer(digits: str) -> int:
    if len(digits) > 1000:
        raise ParseError(f"a number has {len(digits)} digits", "absurd_number")
    return int(digits)


def _refuse_constant(name: str) -> NoReturn:
    raise ParseError(f"{name} is not JSON", "not_json")
