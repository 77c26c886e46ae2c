"""Lists in pages that stay in place while rows are added."""

import re
from typing import Any

from rest_framework.exceptions import ErrorDetail, ValidationError
from rest_framework.pagination import CursorPagination
from rest_framework.request import Request


class NewestFirst(CursorPagination):
    """The newest rows first; `limit` of them, and a link to the next ones."""

    page_size = 50
    page_size_query_param = "limit"
    max_page_size = 200

    def get_page_size(self, request: Request) -> int:
        """As asked, up to the most. ValidationError where the number asked for is none."""
        asked = request.query_params.get(self.page_size_query_param)
        if asked is None:
            return self.page_size
        if not re.fullmatch(r"[1-9]\d{0,8}", asked):
            raise ValidationError({"limit": ErrorDetail("wants a positive integer", "invalid")})
        return min(int(asked), self.max_page_size)

    def get_schema_operation_parameters(self, view: Any) -> list[dict[str, Any]]:
        """The parameters as the framework tells them, and how large a page may be."""
        told: list[dict[str, Any]] = super().get_schema_operation_parameters(view)
        for parameter in told:
            if parameter["name"] == self.page_size_query_param:
                parameter["schema"] = {"type": "integer", "minimum": 1, "maximum": 999_999_999}
        return told

    def get_paginated_response_schema(self, schema: dict[str, Any]) -> dict[str, Any]:
        link = {"type": ["string", "null"], "format": "uri"}
        return {
            "type": "object",
            "required": ["next", "previous", "results"],
            "properties": {"next": link, "previous": link, "results": schema},
        }


class NewestJobs(NewestFirst):
    """Jobs by the time of their submission, the oldest first where `ordering` says so."""

    ordering = ("-submitted_at", "-id")

    def get_ordering(self, request: Request, queryset: Any, view: Any) -> tuple[str, ...]:  # noqa: ARG002
        oldest_first = request.query_params.get("ordering") == "submitted_at"
        return ("submitted_at", "id") if oldest_first else self.ordering


class NewestCircuits(NewestFirst):
    """Circuits by the time of their registration."""

    ordering = ("-created_at", "-id")
