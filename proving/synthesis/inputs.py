"""Inputs of a circuit: JSON to flat lists of field elements, without losing or guessing anything.

A signal's value is a decimal string, a 0x string or an exact integer, negative ones counted from r, or a
nested array of them in row-major order. Objects are buses: their members are the signals `name.member`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, TypeAlias

from proving.formats.exact_json import JsonError, Unusable, parse_json
from proving.synthesis.errors import InputError, InputProblem

Inputs: TypeAlias = dict[str, list[int]]

NUMBER = re.compile(r"-?(?:0[xX][0-9a-fA-F]+|[0-9]+)")
INDEXED_KEY = re.compile(r"(.+?)((?:\[[0-9]*\])+)")
MAX_DEPTH = 32
MAX_TEXT = 200
MAX_PROBLEMS = 20
MAX_NAME = 200
KINDS = {bool: "a boolean", float: "a fraction", type(None): "null"}


def parse_inputs(text: str | bytes, modulus: int) -> Inputs:
    """The inputs in a JSON text as elements of the field; see `flatten_inputs`. Raises InputError."""
    try:
        document = parse_json(text)
    except JsonError as error:
        raise InputError(InputProblem(error.place, error.reason)) from error
    return flatten_inputs(document, modulus)


def flatten_inputs(document: Any, modulus: int) -> Inputs:
    """Signal names to their values, row-major, each in [0, modulus).

    `document` is parsed JSON: a dict of integers, strings and nested lists or dicts of them. Everything that
    is not exactly an integer of the field is refused with its path; all problems are named, up to twenty.
    Raises InputError.
    """
    if not isinstance(document, dict):
        raise InputError(InputProblem("inputs", "must be an object that maps signals to values"))
    reader = InputReader(modulus)
    for name, value in document.items():
        reader.read_signal(str(name), value)
    if reader.problems:
        raise InputError(*reader.problems)
    return reader.signals


class InputReader:
    """Walks a document, collecting values and problems."""

    def __init__(self, modulus: int) -> None:
        self.modulus = modulus
        self.signals: Inputs = {}
        self.problems: list[InputProblem] = []

    def read_signal(self, name: str, value: Any) -> None:
        """Read what stands under a top-level key."""
        indexed = INDEXED_KEY.fullmatch(name)
        if not name or len(name) > MAX_NAME:
            self.refuse(f"{name[:20]}..." if name else '""', "is no name of a signal")
        elif indexed:
            self.refuse(name, f'give whole arrays: "{indexed[1]}": [...] instead of one key an element')
        else:
            self.read(name, value, 0)

    def read(self, path: str, value: Any, depth: int) -> None:
        """Read a signal, or the signals of a bus."""
        if isinstance(value, dict):
            self.read_members(path, value, depth)
        elif isinstance(value, list) and holds_objects(value):
            for index, item in enumerate(value):
                self.read(f"{path}[{index}]", item, depth + 1)
        elif path in self.signals:
            self.refuse(path, "is given twice")
        else:
            self.signals[path] = list(self.elements(path, value, depth))

    def read_members(self, path: str, members: dict[str, Any], depth: int) -> None:
        """Read the signals of a bus."""
        if depth >= MAX_DEPTH:
            self.refuse(path, f"is nested more than {MAX_DEPTH} deep")
            return
        for key, value in members.items():
            self.read(f"{path}.{key}", value, depth + 1)

    def elements(self, path: str, value: Any, depth: int) -> Iterator[int]:
        """The numbers of a signal in row-major order."""
        if not isinstance(value, list):
            number = self.element(path, value)
            if number is not None:
                yield number
        elif depth >= MAX_DEPTH:
            self.refuse(path, f"is nested more than {MAX_DEPTH} deep")
        else:
            for index, item in enumerate(value):
                yield from self.elements(f"{path}[{index}]", item, depth + 1)

    def element(self, path: str, value: Any) -> int | None:
        """One number as an element of the field; None, and a problem noted, if it is none."""
        number, reason = exact_number(value)
        if number is not None and abs(number) >= self.modulus:
            reason = "is not below the modulus of the scalar field"
        if reason or number is None:
            self.refuse(path, reason)
            return None
        return number % self.modulus

    def refuse(self, path: str, reason: str) -> None:
        """Note a problem; those past the limit are dropped."""
        if len(self.problems) < MAX_PROBLEMS:
            self.problems.append(InputProblem(path, reason))


def holds_objects(items: list[Any]) -> bool:
    """Whether an array, or an array in it, holds buses."""
    while items and isinstance(items[0], list):
        items = items[0]
    return any(isinstance(item, dict) for item in items)


def exact_number(value: Any) -> tuple[int | None, str]:
    """The integer that a JSON value says exactly, or None and why not."""
    if isinstance(value, int) and not isinstance(value, bool):
        return value, ""
    if isinstance(value, str):
        return number_in_text(value)
    if isinstance(value, Unusable):
        return None, value.reason
    if isinstance(value, dict):
        return None, "must be a number, is an object"
    return None, f"must be an integer or a decimal string, is {KINDS.get(type(value), type(value).__name__)}"


def number_in_text(text: str) -> tuple[int | None, str]:
    """The integer that a string says, or None and why not."""
    if not text:
        return None, "is an empty string"
    if len(text) > MAX_TEXT:
        return None, f"is a string of {len(text)} characters"
    if not NUMBER.fullmatch(text):
        return None, "is not a decimal or 0x number"
    hexadecimal = text.lower().lstrip("-").startswith("0x")
    return int(text, 16 if hexadecimal else 10), ""
