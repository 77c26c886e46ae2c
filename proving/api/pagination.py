"""Lists in pages that stay in place while rows are added."""

from rest_framework.pagination import CursorPagination


class NewestFirst(CursorPagination):
    """The newest rows first; `limit` of them, and a link to the next ones."""

    page_size = 50
    page_size_query_param = "limit"
    max_page_size = 200


class NewestJobs(NewestFirst):
    """Jobs by the time of their submission."""

    ordering = ("-submitted_at", "-id")


class NewestCircuits(NewestFirst):
    """Circuits by the time of their registration."""

    ordering = ("-created_at", "-id")
