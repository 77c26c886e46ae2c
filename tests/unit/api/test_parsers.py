"""JSON bodies are read exactly or refused by their place."""

import io
import json

import pytest
from pytest_django import Settings
from rest_framework.exceptions import ParseError

from proving.api.parsers import ExactJSONParser, parse_exactly
from proving.services.errors import Refusal, ServiceError


@pytest.mark.parametrize("value", [2**53 + 1, 500000000000007004, 2**254 + 7, -(2**200)])
def test_integers_are_exact(value: int) -> None:
    assert parse_exactly(json.dumps({"a": [value]}).encode()) == {"a": [value]}


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b'{"a": 1, "a": 2}', "twice"),
        (b'{"a": {"b": 1, "b": 2}}', "twice"),
        (b'{"a": 1', "line 1"),
        (b'{"a": \xff}', "UTF-8"),
        (b"", "line 1"),
        (b"[" * 100_000, "nested"),
    ],
)
def test_what_readers_could_take_differently_is_refused(body: bytes, reason: str) -> None:
    with pytest.raises(ParseError, match=reason):
        parse_exactly(body)


@pytest.mark.parametrize("literal", [b"1.0", b"1e3", b"NaN", b"Infinity", b"9" * 10_000])
def test_numbers_that_are_not_exact_integers_are_no_numbers(literal: bytes) -> None:
    found = parse_exactly(b'{"a": ' + literal + b"}")["a"]
    assert not isinstance(found, int | float | str)


class Endless(io.RawIOBase):
    """A body that never ends; it counts what was read of it."""

    def __init__(self) -> None:
        self.taken = 0

    def read(self, size: int = -1) -> bytes:
        assert size > 0, "the whole body was asked for"
        self.taken += size
        return b" " * size


def test_a_body_past_the_limit_is_not_read_on(settings: Settings) -> None:
    settings.CUZKWEB_MAX_JSON_BYTES = 1000
    body = Endless()
    with pytest.raises(ServiceError) as caught:
        ExactJSONParser().parse(body)
    assert caught.value.refusal is Refusal.TOO_LARGE
    assert body.taken == 1001


def test_a_body_larger_than_djangos_own_limit_is_read(settings: Settings) -> None:
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 1000
    body = json.dumps({"a": ["1"] * 10_000}).encode()
    assert len(ExactJSONParser().parse(io.BytesIO(body))["a"]) == 10_000
