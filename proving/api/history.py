"""What has ended lately over HTTP, in the words of the status document."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from proving.api.permissions import MayWatch, watcher
from proving.api.requests import ChosenStates, PriorityField, QuerySerializer
from proving.api.serializers import JobErrorDocument
from proving.choices import TERMINAL_JOB_STATES, ProofKind
from proving.services import history


class HistoryQuery(QuerySerializer):
    """How much of it is wanted."""

    limit = serializers.IntegerField(min_value=1, max_value=200, default=50, help_text="of each list")
    state = ChosenStates(
        default="",
        allow_blank=True,
        max_length=128,
        help_text="states of finished jobs, with commas between them",
    )
    text = serializers.CharField(
        default="",
        allow_blank=True,
        max_length=128,
        help_text="in the id, the label or the circuit's name of finished jobs",
    )


class FinishedJobDocument(serializers.Serializer[Any]):
    """A job that has ended."""

    job_id = serializers.CharField()
    label = serializers.CharField(allow_blank=True)  # type: ignore[assignment]
    circuit_id = serializers.CharField()
    circuit_name = serializers.CharField()
    proof_kind = serializers.ChoiceField(choices=ProofKind.choices)
    priority = PriorityField()
    state = serializers.ChoiceField(choices=sorted(TERMINAL_JOB_STATES))
    total_partitions = serializers.IntegerField()
    partitions_done = serializers.IntegerField()
    submitted_at = serializers.DateTimeField()
    started_at = serializers.DateTimeField(
        allow_null=True, help_text="null where nobody ever worked on the job"
    )
    finished_at = serializers.DateTimeField()
    error = JobErrorDocument(allow_null=True)


class BadAttemptDocument(serializers.Serializer[Any]):
    """An attempt at a partition that failed or was lost, whatever became of the partition afterwards."""

    job_id = serializers.CharField()
    label = serializers.CharField(allow_blank=True)  # type: ignore[assignment]
    circuit_id = serializers.CharField()
    circuit_name = serializers.CharField()
    partition = serializers.IntegerField()
    attempt = serializers.IntegerField()
    outcome = serializers.ChoiceField(choices=sorted(history.BAD_ENDS))
    worker = serializers.CharField(allow_blank=True)
    device = serializers.CharField(allow_blank=True)
    code = serializers.CharField(allow_blank=True)
    detail = serializers.CharField(allow_blank=True)
    ended_at = serializers.DateTimeField()


class HistoryDocument(serializers.Serializer[Any]):
    """Finished jobs and bad ends, the newest first."""

    finished = FinishedJobDocument(many=True)
    failures = BadAttemptDocument(many=True)


class HistoryView(APIView):
    """The last jobs to end, and the last attempts that failed or were lost.

    Owners see their own; operators (staff, keys with the scope watch) see everybody's. What it tells changes
    when the status document's counters do.
    """

    permission_classes = (MayWatch,)

    @extend_schema(operation_id="getHistory", parameters=[HistoryQuery], responses=HistoryDocument)
    def get(self, request: Request) -> Response:
        query = HistoryQuery(data=request.query_params)
        query.is_valid(raise_exception=True)
        owner, asked = watcher(request), query.validated_data
        limit = asked["limit"]
        found = {
            "finished": history.finished_jobs(owner, limit, asked["state"], asked["text"]),
            "failures": history.bad_attempts(owner, limit),
        }
        return Response(HistoryDocument(found).data, headers={"Cache-Control": "no-cache"})
