"""What operators and their machines read: status, health, metrics."""

# ruff: noqa: ARG002 - the framework names the arguments

from __future__ import annotations

from typing import Any

from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.permissions import AllowAny, BasePermission
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from proving.api.metrics import render_metrics
from proving.services import access
from proving.services.health import check_readiness
from proving.services.status import read_snapshot


class MayWatch(BasePermission):
    """Holders of a key, staff, and this very host where the setting says so."""

    def has_permission(self, request: Request, view: Any) -> bool:
        if request.user.is_authenticated:
            return True
        return access.open_to(request)


class StatusView(APIView):
    """All live state, from one atomic reading. `rev` is the ETag: nothing changed costs a 304."""

    permission_classes = (MayWatch,)

    @extend_schema(
        operation_id="getStatus",
        parameters=[OpenApiParameter("If-None-Match", str, OpenApiParameter.HEADER)],
        responses={200: OpenApiTypes.OBJECT, 304: None},
    )
    def get(self, request: Request) -> Response:
        snapshot = read_snapshot()
        tag = f'"{snapshot.rev}"'
        headers = {"ETag": tag, "Cache-Control": "no-cache"}
        if names_tag(request.headers.get("If-None-Match", ""), tag):
            return Response(status=304, headers=headers)
        return Response(snapshot.document(), headers=headers)


def names_tag(header: str, tag: str) -> bool:
    """Whether an If-None-Match header holds this entity tag, compared weakly."""
    return any(item.strip().removeprefix("W/") in {tag, "*"} for item in header.split(","))


class MetricsView(APIView):
    """The counters and gauges of the snapshot in Prometheus' text format."""

    permission_classes = (MayWatch,)
    schema = None

    def get(self, request: Request) -> HttpResponse:
        text = render_metrics(read_snapshot().document())
        return HttpResponse(text, content_type="text/plain; version=0.0.4; charset=utf-8")


class HealthView(APIView):
    """The process answers."""

    authentication_classes = ()
    permission_classes = (AllowAny,)
    schema = None

    def get(self, request: Request) -> Response:
        return Response({"alive": True})


class ReadinessView(APIView):
    """What the process needs is there."""

    authentication_classes = ()
    permission_classes = (AllowAny,)
    schema = None

    def get(self, request: Request) -> Response:
        checks = check_readiness()
        ready = all(checks.values())
        return Response({"ready": ready, "checks": checks}, status=200 if ready else 503)
