"""One atomic reading of all live state, and the status document made of it."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Everything live at one instant. `rev` is its version, fit for an ETag."""

    rev: int
    generated_at: float
    consistent: bool

    def document(self) -> dict[str, Any]:
        """The status document, a superset of cuzk's, ready for json.dumps."""
        raise NotImplementedError
