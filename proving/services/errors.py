"""What a service answers when it cannot do what it was asked."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Refusal(StrEnum):
    """Why, in the large: what a caller can do about it differs between these."""

    INVALID = "invalid"
    NOT_FOUND = "not_found"
    CONFLICT = "conflict"
    TOO_LARGE = "too_large"
    LOCKED = "locked"
    DAMAGED = "damaged"
    UNAVAILABLE = "unavailable"


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that is wrong. `pointer` is a JSON pointer into the request ("" means all of it).

    `detail` names the place and the reason and never repeats an input's or a witness's value.
    """

    pointer: str
    detail: str
    code: str


class ServiceError(Exception):
    """A request that was refused; nothing was changed. `retry_after`: seconds until it may be worth a try."""

    def __init__(
        self, refusal: Refusal, code: str, detail: str, *faults: Fault, retry_after: int | None = None
    ) -> None:
        super().__init__(detail)
        self.retry_after = retry_after
        self.refusal = refusal
        self.code = code
        self.detail = detail
        self.faults = faults


def invalid(pointer: str, code: str, detail: str) -> ServiceError:
    """The refusal of one field or file."""
    return ServiceError(Refusal.INVALID, code, detail, Fault(pointer, detail, code))


def conflict(code: str, detail: str, pointer: str = "") -> ServiceError:
    """The refusal of a request that does not fit what is there already."""
    return ServiceError(Refusal.CONFLICT, code, detail, *([Fault(pointer, detail, code)] if pointer else []))


def not_found(what: str) -> ServiceError:
    """The refusal of a request for something that is not there, or is not the caller's."""
    return ServiceError(Refusal.NOT_FOUND, "not_found", f"there is no such {what}")
