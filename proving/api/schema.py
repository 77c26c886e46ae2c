"""How the API describes itself."""

from drf_spectacular.openapi import AutoSchema


class Schema(AutoSchema):
    """Adds the problem response to every operation."""
