"""How the API describes itself."""

# ruff: noqa: ARG002 - the framework names the arguments

from __future__ import annotations

from typing import Any, Literal

from drf_spectacular.extensions import OpenApiAuthenticationExtension, OpenApiSerializerExtension
from drf_spectacular.openapi import AutoSchema

from proving.api.problems import CONTENT_TYPE
from proving.api.serializers import ProblemDocument


class Schema(AutoSchema):
    """Adds the problem response to every operation."""

    def _get_response_bodies(self, direction: Literal["request", "response"] = "response") -> Any:
        bodies = super()._get_response_bodies(direction)
        problem = self.resolve_serializer(ProblemDocument, direction).ref
        bodies["default"] = {
            "description": "What is wrong, and where",
            "content": {CONTENT_TYPE: {"schema": problem}},
        }
        return bodies


class StrictBody(OpenApiSerializerExtension):  # type: ignore[no-untyped-call]
    """Bodies in which a name that nobody knows is refused."""

    target_class = "proving.api.requests.StrictSerializer"
    match_subclasses = True

    def map_serializer(self, auto_schema: Any, direction: Any) -> Any:
        found = auto_schema._map_serializer(self.target, direction, bypass_extensions=True)  # noqa: SLF001
        return {**found, "additionalProperties": False}


class ApiKeyScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    """`Authorization: Bearer <key>`."""

    target_class = "proving.api.authentication.ApiKeyAuthentication"
    name = "apiKey"

    def get_security_definition(self, auto_schema: Any) -> dict[str, Any]:
        return {"type": "http", "scheme": "bearer"}


class StaffSessionScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    """The cookie of a staff member's session."""

    target_class = "proving.api.authentication.StaffSessionAuthentication"
    name = "staffSession"

    def get_security_definition(self, auto_schema: Any) -> dict[str, Any]:
        return {"type": "apiKey", "in": "cookie", "name": "sessionid"}
