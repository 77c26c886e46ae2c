"""What operators and their machines read: status, health, metrics."""

# ruff: noqa: ARG002 - the framework names the arguments

from __future__ import annotations

from django.http import HttpResponse
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from proving.api.metrics import render_metrics
from proving.api.permissions import MayWatch, watcher
from proving.api.status import STATUS, StatusQuery
from proving.services.access import viewer_of
from proving.services.health import check_readiness
from proving.services.status import read_counts, read_snapshot, read_version


class StatusView(APIView):
    """All live state, from one atomic reading. `rev` is the ETag: nothing changed costs a 304.

    `jobs` narrows the pipelines to some jobs, `since` to those that changed after that `rev`; then `order`
    names all live jobs, so that a reader knows which of the others are still there. Owners see their own
    jobs, and of everybody else's the load alone; operators (staff, keys with the scope watch) see everything.
    """

    permission_classes = (MayWatch,)

    @extend_schema(
        operation_id="getStatus",
        parameters=[StatusQuery, OpenApiParameter("If-None-Match", str, OpenApiParameter.HEADER)],
        responses={200: STATUS, 304: None},
    )
    def get(self, request: Request) -> Response:
        asked = request.headers.get("If-None-Match", "")
        if asked and names_tag(asked, tag := _tag(read_version())):
            return Response(status=304, headers=_headers(tag))
        query = StatusQuery(data=request.query_params)
        query.is_valid(raise_exception=True)
        jobs, since = query.validated_data.get("jobs"), query.validated_data.get("since")
        snapshot = read_snapshot(jobs=jobs or ())
        user = watcher(request)
        document = snapshot.document(jobs, since, viewer_of(user) if user else None)
        return Response(document, headers=_headers(_tag(snapshot.rev)))


def _tag(rev: int) -> str:
    return f'"{rev}"'


def _headers(tag: str) -> dict[str, str]:
    return {"ETag": tag, "Cache-Control": "no-cache"}


def names_tag(header: str, tag: str) -> bool:
    """Whether an If-None-Match header holds this entity tag, compared weakly."""
    return any(item.strip().removeprefix("W/") in {tag, "*"} for item in header.split(","))


class MetricsView(APIView):
    """The counters and gauges of the snapshot in Prometheus' text format."""

    permission_classes = (MayWatch,)
    schema = None

    def get(self, request: Request) -> HttpResponse:
        text = render_metrics(read_snapshot(limit=0).document(), read_counts())
        return HttpResponse(text, content_type="text/plain; version=0.0.4; charset=utf-8")


class HealthView(APIView):
    """The process answers."""

    authentication_classes = ()
    throttle_classes = ()
    permission_classes = (AllowAny,)
    schema = None

    def get(self, request: Request) -> Response:
        return Response({"alive": True})


class ReadinessView(APIView):
    """What the process needs is there."""

    authentication_classes = ()
    throttle_classes = ()
    permission_classes = (AllowAny,)
    schema = None

    def get(self, request: Request) -> Response:
        checks = check_readiness()
        ready = all(checks.values())
        return Response({"ready": ready, "checks": checks}, status=200 if ready else 503)
