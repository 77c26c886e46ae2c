"""What may be asked of the status, and what its answer looks like."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from proving.api.requests import QuerySerializer
from proving.tracker.schema import STATUS

__all__ = ["STATUS", "StatusQuery"]


class JobNames(serializers.CharField):
    """Job ids with commas between them."""

    def to_internal_value(self, data: Any) -> Any:
        return [name for name in str(super().to_internal_value(data)).split(",") if name]


class StatusQuery(QuerySerializer):
    """What narrows the status document."""

    jobs = JobNames(required=False, max_length=16_384, help_text="job ids, with commas between them")
    since = serializers.IntegerField(required=False, min_value=0, help_text="a rev: only what changed after")
