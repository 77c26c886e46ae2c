"""Server-sent events: the status, and a job, told again whenever they change.

A view of the framework lets the caller in; what follows is asynchronous and holds no thread while it waits.
An event's id is what a reader that was cut off sends back as Last-Event-ID, so that it hears only of news.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import time
from collections.abc import AsyncIterator, Callable
from typing import Any
from weakref import WeakKeyDictionary

from asgiref.sync import sync_to_async
from django.conf import settings
from django.contrib.auth.models import User
from django.db import close_old_connections
from django.http import StreamingHttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.views import APIView

from proving.api.permissions import MayWatch, caller, watcher
from proving.api.problems import STATUS_OF_REFUSAL, problem
from proving.api.requests import QuerySerializer
from proving.api.serializers import JobDocument
from proving.models import ApiKey
from proving.services import find, keys
from proving.services.access import viewer_of
from proving.services.errors import Refusal, ServiceError
from proving.services.status import read_snapshot, read_version
from proving.tracker.narrow import Viewer
from proving.tracker.snapshot import Snapshot

LOOK_SECONDS = 0.5
"""How often it is looked whether there is news."""

AGREE_SECONDS = 1.0
"""How often it is asked whether the reader may still listen."""

RETRY_SECONDS = 2.0
PING_SECONDS = 15.0
REFRESH_SECONDS = 10.0
"""Ages in the status grow without news of it: it is told again after this long."""

STREAM = {(200, "text/event-stream"): OpenApiTypes.STR}
LAST_EVENT_ID = OpenApiParameter("Last-Event-ID", str, OpenApiParameter.HEADER)


class EventStream(JSONRenderer):
    """Lets readers ask for text/event-stream; a refusal is JSON all the same."""

    media_type = "text/event-stream"
    format = "events"


class StreamQuery(QuerySerializer):
    """How a reader wants to be kept awake."""

    beat = serializers.FloatField(
        min_value=1,
        max_value=60,
        required=False,
        help_text="seconds of silence after which an event `beat` says that nothing has changed",
    )


class StatusStreamView(APIView):
    """The status document as events `status`, whose ids are its `rev`."""

    permission_classes = (MayWatch,)
    renderer_classes = (EventStream, JSONRenderer)

    @extend_schema(operation_id="streamStatus", parameters=[StreamQuery, LAST_EVENT_ID], responses=STREAM)
    def get(self, request: Request) -> StreamingHttpResponse:
        user = watcher(request)

        async def look() -> tuple[str, str]:
            return await shared_status().latest(user)

        return answer(request, "status", look, refresh=REFRESH_SECONDS)


class JobStreamView(APIView):
    """A job as events `job`; the last one tells of its end, and `end` closes the stream."""

    renderer_classes = (EventStream, JSONRenderer)

    @extend_schema(operation_id="streamJob", parameters=[StreamQuery, LAST_EVENT_ID], responses=STREAM)
    def get(self, request: Request, job: str) -> StreamingHttpResponse:
        viewer = caller(request)
        find.find_job(viewer, job)

        def read() -> tuple[str, str]:
            try:
                document = JobDocument(find.find_job(viewer, job), context={"request": request}).data
                text = JSONRenderer().render(document).decode()
                tag = hashlib.sha256(text.encode()).hexdigest()[:16]
                return f"{tag}{'.' if document['terminal'] else ''}", text
            finally:
                close_old_connections()

        async def look() -> tuple[str, str]:
            return await sync_to_async(read)()

        return answer(request, "job", look, ends=lambda tag: tag.endswith("."))


def answer(
    request: Request,
    name: str,
    look: Callable[[], Any],
    *,
    refresh: float | None = None,
    ends: Callable[[str], bool] = lambda _: False,
) -> StreamingHttpResponse:
    """A response of events. `look` gives what there is now: its id and its text."""
    query = StreamQuery(data=request.query_params)
    query.is_valid(raise_exception=True)
    if Open.count >= settings.CUZKWEB_MAX_STREAMS:
        detail = f"{settings.CUZKWEB_MAX_STREAMS} streams are open already: ask again now and then instead"
        raise ServiceError(Refusal.UNAVAILABLE, "too_many_streams", detail, retry_after=10)
    beat = query.validated_data.get("beat")
    last = request.headers.get("Last-Event-ID", "")
    stream = events(name, look, last, still_welcome(request), beat=beat, refresh=refresh, ends=ends)
    response = StreamingHttpResponse(counted(stream), content_type="text/event-stream")
    response.headers["Cache-Control"] = "no-cache"
    response.headers["X-Accel-Buffering"] = "no"
    return response


async def events(
    name: str,
    look: Callable[[], Any],
    last: str,
    welcome: Callable[[], Any],
    *,
    beat: float | None,
    refresh: float | None,
    ends: Callable[[str], bool],
) -> AsyncIterator[str]:
    """The text of a stream: news, beats, pings, faults that pass, and an end."""
    yield "retry: 2000\n\n"
    told = asked = spoke = time.monotonic()
    while True:
        now = time.monotonic()
        if now - asked >= AGREE_SECONDS:
            asked = now
            if not await welcome():
                refusal = problem(401, "not_authenticated", "the key or session has ended")
                yield event("end", json.dumps(refusal))
                return
        try:
            tag, text = await look()
        except ServiceError as error:
            status = STATUS_OF_REFUSAL[error.refusal]
            yield event("fault", json.dumps(problem(status, error.code, error.detail)))
            await asyncio.sleep(RETRY_SECONDS)
            continue
        if tag != last or (refresh is not None and now - told >= refresh):
            last, told, spoke = tag, now, now
            yield event(name, text, tag)
        elif beat is not None and now - spoke >= beat:
            spoke = now
            yield event("beat", json.dumps({"id": tag}))
        elif now - spoke >= PING_SECONDS:
            spoke = now
            yield ": ping\n\n"
        if ends(tag):
            yield event("end", "{}")
            return
        await asyncio.sleep(LOOK_SECONDS)


def event(name: str, data: str, tag: str | None = None) -> str:
    """One event; its data is a JSON text, which has no line breaks."""
    head = f"id: {tag}\n" if tag is not None else ""
    return f"{head}event: {name}\ndata: {data}\n\n"


def still_welcome(request: Request) -> Callable[[], Any]:
    """Asks whether whoever was let in would be let in again: keys are revoked, sessions end."""
    auth, user, session = request.auth, request.user, request._request.session  # noqa: SLF001
    session_key = session.session_key

    def ask() -> bool:
        try:
            if isinstance(auth, ApiKey):
                return (
                    keys.still_good(auth)
                    and User.objects.filter(pk=auth.owner_id, is_staff=auth.owner.is_staff).exists()
                )
            if isinstance(user, User):
                known = User.objects.filter(pk=user.pk, is_active=True, is_staff=True).exists()
                return known and (session_key is None or session.exists(session_key))
            return True
        finally:
            close_old_connections()

    return sync_to_async(ask)


class Open:
    """How many streams this process has open."""

    count = 0


async def counted(stream: AsyncIterator[str]) -> AsyncIterator[str]:
    """The same stream, counted while it is open."""
    Open.count += 1
    try:
        async for text in stream:
            yield text
    finally:
        Open.count -= 1


class SharedStatus:
    """One reading of the status for all streams of an event loop, however many listen."""

    def __init__(self) -> None:
        self._lock = asyncio.Lock()
        self._read_at = self._looked_at = float("-inf")
        self._snapshot: Snapshot | None = None
        self._texts: dict[int | None, str] = {}

    async def latest(self, user: User | None = None) -> tuple[str, str]:
        """The newest `rev` and document, at most LOOK_SECONDS old, as this user may see it; None sees all."""
        async with self._lock:
            snapshot = await self._newest()
            who = user.pk if user else None
            if who not in self._texts:
                viewer = await sync_to_async(_viewer)(user) if user else None
                document = await asyncio.to_thread(snapshot.document, None, None, viewer)
                self._texts[who] = json.dumps(document, separators=(",", ":"))
            return str(snapshot.rev), self._texts[who]

    async def _newest(self) -> Snapshot:
        now, known = time.monotonic(), self._snapshot
        if known is None or now - self._looked_at >= 0.9 * LOOK_SECONDS:
            rev = await asyncio.to_thread(read_version)
            if known is None or rev != known.rev or now - self._read_at >= 0.9 * REFRESH_SECONDS:
                known = self._snapshot = await asyncio.to_thread(read_snapshot)
                self._texts.clear()
                self._read_at = now
            self._looked_at = now
        return known


def _viewer(user: User) -> Viewer:
    try:
        return viewer_of(user)
    finally:
        close_old_connections()


_shared: WeakKeyDictionary[asyncio.AbstractEventLoop, SharedStatus] = WeakKeyDictionary()


def shared_status() -> SharedStatus:
    """The reading that the streams of this event loop share."""
    loop = asyncio.get_running_loop()
    if loop not in _shared:
        _shared[loop] = SharedStatus()
    return _shared[loop]
