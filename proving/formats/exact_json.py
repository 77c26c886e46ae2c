"""JSON read without losing anything: exact integers, no key twice, bounded depth.

What JSON can say but no file here may hold (fractions, NaN, numbers of absurd length) becomes an `Unusable`
leaf, so that whoever walks the document can refuse it by its path.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

MAX_DIGITS = 200
MAX_DEPTH = 100
STRING = re.compile(r'"(?:[^"\\]|\\.)*+"?', re.DOTALL)
OPENING, CLOSING = np.frombuffer(b"[{", dtype=np.uint8), np.frombuffer(b"]}", dtype=np.uint8)


@dataclass(frozen=True, slots=True)
class Unusable:
    """A number that is no exact integer of reasonable length, and why."""

    reason: str


class JsonError(ValueError):
    """Text that is not JSON, or that says a thing twice: where, and why."""

    def __init__(self, place: str, reason: str) -> None:
        self.place = place
        self.reason = reason
        super().__init__(f"{place}: {reason}")


def parse_json(text: str | bytes) -> Any:
    """The document in a text: dict, list, str, int, bool, None and `Unusable`. Raises JsonError."""
    try:
        decoded = text.decode("utf-8-sig") if isinstance(text, bytes) else text
    except UnicodeDecodeError as error:
        raise JsonError(f"byte {error.start}", "is not UTF-8") from error
    check_depth(decoded)
    try:
        return json.loads(
            decoded,
            parse_int=exact_integer,
            parse_float=fraction,
            parse_constant=fraction,
            object_pairs_hook=unique_keys,
        )
    except json.JSONDecodeError as error:
        raise JsonError(f"line {error.lineno}, column {error.colno}", f"not JSON: {error.msg}") from error
    except RecursionError as error:
        raise JsonError("document", "is nested too deeply") from error


def check_depth(text: str) -> None:
    """Refuse what is nested deeper than MAX_DEPTH: the decoder recurses, and deep enough it would crash."""
    if text.count("[") + text.count("{") <= MAX_DEPTH:
        return
    outside = "".join(text.split('"')[::2]) if "\\" not in text else STRING.sub("", text)
    characters = np.frombuffer(outside.encode("ascii", "replace"), dtype=np.uint8)
    steps = np.isin(characters, OPENING).astype(np.int8) - np.isin(characters, CLOSING).astype(np.int8)
    if np.cumsum(steps, dtype=np.int64).max(initial=0) > MAX_DEPTH:
        raise JsonError("document", "is nested too deeply")


def exact_integer(text: str) -> int | Unusable:
    """An integer literal, unless it is longer than any field element can be."""
    if len(text) > MAX_DIGITS:
        return Unusable(f"a number of {len(text)} digits")
    return int(text)


def fraction(text: str) -> Unusable:
    """A literal with a point or an exponent, NaN or Infinity: nothing of the kind is exact."""
    return Unusable(f"{text[:20]} is not an integer; write it as a decimal string")


def unique_keys(pairs: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    """An object's members, none of them twice."""
    members: dict[str, Any] = {}
    for key, value in pairs:
        if key in members:
            raise JsonError(repr(key[:100]), "appears twice in one object")
        members[key] = value
    return members
