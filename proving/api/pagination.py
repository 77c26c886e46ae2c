"""Lists in pages that stay in place while rows are added."""

from typing import Any

from rest_framework.pagination import CursorPagination


class NewestFirst(CursorPagination):
    """The newest rows first; `limit` of them, and a link to the next ones."""

    page_size = 50
    page_size_query_param = "limit"
    max_page_size = 200

    def get_paginated_response_schema(self, schema: dict[str, Any]) -> dict[str, Any]:
        link = {"type": ["string", "null"], "format": "uri"}
        return {
            "type": "object",
            "required": ["next", "previous", "results"],
            "properties": {"next": link, "previous": link, "results": schema},
        }


class NewestJobs(NewestFirst):
    """Jobs by the time of their submission."""

    ordering = ("-submitted_at", "-id")


class NewestCircuits(NewestFirst):
    """Circuits by the time of their registration."""

    ordering = ("-created_at", "-id")
