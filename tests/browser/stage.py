"""A web server for one page: the real panel over a status document that a test holds in its hand."""

from __future__ import annotations

import json
import mimetypes
import queue
import threading
import time
from collections.abc import Callable
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

from django.contrib.auth.models import User
from django.test import RequestFactory

from proving.panel.views import status_page
from tests.conftest import REPOSITORY

STATIC = REPOSITORY / "proving" / "panel" / "static"
Document = dict[str, Any]


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A browser that closes a page drops its connections; that is no error of the page."""


class Stage:
    """Serves `/`, `/static/`, `/status` and its history, and events while `streaming`.

    Set `document` (a value or a function), `history`, `fault` and `streaming` at any time.
    """

    def __init__(self, document: Document | Callable[[], Document]) -> None:
        self.document = document
        self.history: Document = {"finished": [], "failures": []}
        self.fault: int | None = None
        self.streaming = False
        self.requests: list[tuple[str, int]] = []
        self.resumed: queue.SimpleQueue[str] = queue.SimpleQueue()
        self.cuts = 0
        self._server = _Server(("127.0.0.1", 0), type("Handler", (_Handler,), {"stage": self}))
        self._thread = threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True
        )

    def cut_streams(self) -> None:
        """End the streams that are open; what readers say when they come again is put into `resumed`."""
        self.cuts += 1

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}/"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.streaming = False
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def page(self) -> tuple[bytes, dict[str, str]]:
        request = RequestFactory().get(
            "/", SERVER_NAME="127.0.0.1", SERVER_PORT=str(self._server.server_port)
        )
        request.user = User(username="operator", is_staff=True)
        response = status_page(request)
        return response.content, dict(response.headers)

    def status(self) -> Document:
        return self.document() if callable(self.document) else self.document


class _Handler(BaseHTTPRequestHandler):
    stage: Stage
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        path = self.path.partition("?")[0]
        if path == "/":
            self._answer(HTTPStatus.OK, *self.stage.page())
        elif path == "/status":
            self._answer_status()
        elif path == "/api/v1/status/history":
            self._answer_json(self.stage.history)
        elif path == "/api/v1/status/stream":
            self._stream()
        elif (file := STATIC / path.removeprefix("/static/")).is_file():
            kind = mimetypes.guess_type(file.name)[0] or "application/octet-stream"
            self._answer(HTTPStatus.OK, file.read_bytes(), {"Content-Type": kind})
        else:
            self._answer(HTTPStatus.NOT_FOUND, b"", {})

    def _answer_status(self) -> None:
        if fault := self.stage.fault:
            problem = {"title": HTTPStatus(fault).phrase, "detail": "the live state cannot be read"}
            return self._answer(
                fault, json.dumps(problem).encode(), {"Content-Type": "application/problem+json"}
            )
        document = self.stage.status()
        etag = f'"{document["rev"]}"'
        if self.headers.get("If-None-Match") == etag:
            return self._answer(HTTPStatus.NOT_MODIFIED, b"", {"ETag": etag})
        body = json.dumps(document).encode()
        return self._answer(HTTPStatus.OK, body, {"Content-Type": "application/json", "ETag": etag})

    def _answer_json(self, document: Document) -> None:
        self._answer(HTTPStatus.OK, json.dumps(document).encode(), {"Content-Type": "application/json"})

    def _stream(self) -> None:
        """The document as events, as long as the stage streams; else there is no stream."""
        if not self.stage.streaming:
            self._answer(HTTPStatus.NO_CONTENT, b"", {})
            return
        self.stage.requests.append((self.path, 200))
        self.close_connection = True
        self.send_response(HTTPStatus.OK)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        self.wfile.write(b"retry: 100\n\n")
        told, cuts = self.headers.get("Last-Event-ID"), self.stage.cuts
        if told is not None:
            self.stage.resumed.put(told)
        while self.stage.streaming and self.stage.cuts == cuts:
            document = self.stage.status()
            name = "beat" if str(document["rev"]) == told else "status"
            told = str(document["rev"])
            data = json.dumps(document if name == "status" else {"id": told})
            text = f"id: {told}\nevent: {name}\ndata: {data}\n\n"
            self.wfile.write(text.encode())
            self.wfile.flush()
            time.sleep(0.1)

    def _answer(self, status: int, body: bytes, headers: dict[str, str]) -> None:
        self.stage.requests.append((self.path, int(status)))
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        if status != HTTPStatus.NOT_MODIFIED:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_words: object) -> None:
        """Tests read `Stage.requests` instead."""
