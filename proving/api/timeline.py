"""The history of a job over HTTP."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from proving.api.permissions import caller
from proving.api.serializers import ErrorDocument
from proving.choices import AttemptOutcome, PartitionState
from proving.services import find
from proving.services.timeline import timeline_of


class AttemptDocument(serializers.Serializer[Any]):
    """One attempt at a partition; `outcome` and `ended_at` are null while it lasts or waits."""

    attempt = serializers.IntegerField()
    worker = serializers.CharField(allow_blank=True, help_text="the last that worked on it")
    device = serializers.CharField(allow_blank=True)
    outcome = serializers.ChoiceField(choices=AttemptOutcome.choices, allow_null=True)
    error = ErrorDocument(allow_null=True)
    queued_at = serializers.DateTimeField(allow_null=True)
    synthesis_started_at = serializers.DateTimeField(allow_null=True)
    synthesis_ended_at = serializers.DateTimeField(allow_null=True)
    device_started_at = serializers.DateTimeField(allow_null=True)
    device_ended_at = serializers.DateTimeField(allow_null=True)
    finalize_started_at = serializers.DateTimeField(allow_null=True)
    finalize_ended_at = serializers.DateTimeField(allow_null=True)
    ended_at = serializers.DateTimeField(allow_null=True)


class PartitionTimelineDocument(serializers.Serializer[Any]):
    """A partition with all its attempts, the first first."""

    index = serializers.IntegerField()
    state = serializers.ChoiceField(choices=PartitionState.choices)
    max_attempts = serializers.IntegerField()
    attempts = AttemptDocument(many=True)


class TimelineDocument(serializers.Serializer[Any]):
    """What befell each partition of a job, in the order of their indexes."""

    job = serializers.CharField()
    partitions = PartitionTimelineDocument(many=True)


class JobTimelineView(APIView):
    """The durable history of a job, whether it lives or has ended long ago."""

    @extend_schema(operation_id="getTimeline", responses=TimelineDocument)
    def get(self, request: Request, job: str) -> Response:
        found = find.find_job(caller(request), job)
        document = {"job": find.name_for(found, caller(request)), "partitions": timeline_of(found)}
        return Response(TimelineDocument(document).data)
