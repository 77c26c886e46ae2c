"""What may be asked of the status, and what its answer looks like."""

from __future__ import annotations

from rest_framework import serializers

from proving.api.requests import QuerySerializer
from proving.tracker.schema import STATUS

__all__ = ["STATUS", "StatusQuery"]


class StatusQuery(QuerySerializer):
    """What narrows the status document."""

    jobs = serializers.CharField(
        required=False, max_length=16_384, help_text="job ids, with commas between them"
    )
    since = serializers.IntegerField(required=False, min_value=0, help_text="a rev: only what changed after")

    def validate_jobs(self, names: str) -> list[str]:
        """The ids themselves."""
        return [name for name in names.split(",") if name]
