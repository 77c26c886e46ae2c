"""What readers of files say, in the words of a service: a pointer into the request, a code, a reason."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from proving.formats.errors import FormatError
from proving.services.errors import Fault, Refusal, ServiceError

PLACE_STEPS = re.compile(r"[^.\[\]]+")


def escape(name: str) -> str:
    """A name as one reference token of a JSON pointer."""
    return name.replace("~", "~0").replace("/", "~1")


def pointer_to(base: str, place: str) -> str:
    """A place in a document, such as pi_b[0][1], as a JSON pointer below `base`."""
    if place in {"", "document"}:
        return base
    return base + "".join(f"/{escape(step)}" for step in PLACE_STEPS.findall(place))


@contextmanager
def refusing_file(pointer: str, code: str) -> Iterator[None]:
    """A FormatError inside becomes the refusal of the file at `pointer`."""
    try:
        yield
    except FormatError as error:
        detail = f"{error.place}: {error.reason}"
        raise ServiceError(Refusal.INVALID, code, detail, Fault(pointer, detail, code)) from error


@contextmanager
def refusing_document(pointer: str, code: str) -> Iterator[None]:
    """A FormatError inside becomes the refusal of the place in the document at `pointer`."""
    try:
        yield
    except FormatError as error:
        place = pointer_to(pointer, error.place)
        raise ServiceError(
            Refusal.INVALID, code, f"{error.place}: {error.reason}", Fault(place, error.reason, code)
        ) from error
