"""Sending a large file in pieces, after the tus protocol 1.0: taken up again where a connection broke."""

import base64
import hashlib
import time
from collections.abc import Callable, Collection, Iterator
from pathlib import Path

import httpx

from cuzkweb.refusal import refusal_of

PIECE_BYTES = 64 << 20
CHUNK_BYTES = 256 << 10
PATIENCE_SECONDS = 60.0
"""How long a send goes on while the server cannot be reached, or is busy with an earlier connection."""

PAUSE_SECONDS = 0.5
TUS = {"Tus-Resumable": "1.0.0"}
KEPT = ("proving_key", "witness_generator", "r1cs")
"""The parts of a registered circuit that tell the digest of their file."""

PASSING = frozenset({423, 429, 502, 503, 504})
"""Statuses that say: not now."""

Sent = Callable[[Path, int, int], None]
"""Hears of a file how many of its bytes are there, of how many."""


def unheard(_path: Path, _there: int, _size: int) -> None:
    """Nobody listens."""


def send(http: httpx.Client, path: Path, known: Collection[str], sent: Sent = unheard) -> str:
    """The name under which the service has this file, once it has all of it.

    `known` are the digests of files that it has already. Raises ApiError, httpx.TransportError once nobody
    answers for PATIENCE_SECONDS, OSError.
    """
    with path.open("rb") as file:
        digest, size = hashlib.file_digest(file, "sha256").hexdigest(), path.stat().st_size
    if digest in known:
        sent(path, size, size)
        return f"sha256:{digest}"
    place = _begun(http, digest, size) or _begin(http, path.name, digest, size)
    _send_rest(http, path, place, size, sent)
    return place.rpartition("/")[2]


def _begun(http: httpx.Client, digest: str, size: int) -> str | None:
    """Where this content goes that an earlier call has begun to send, or sent whole."""
    answer = _patiently(lambda: http.get("/api/v1/uploads", params={"sha256": digest}))
    rows = [row for row in answer.json()["results"] if row["size"] == size]
    return max(rows, key=lambda row: int(row["offset"]))["links"]["self"] if rows else None


def _begin(http: httpx.Client, name: str, digest: str, size: int) -> str:
    told = {"filename": name, "sha256": digest}
    metadata = ",".join(f"{key} {base64.b64encode(text.encode()).decode()}" for key, text in told.items())
    headers = {**TUS, "Upload-Length": str(size), "Upload-Metadata": metadata}
    answer = _patiently(lambda: http.post("/api/v1/uploads", headers=headers))
    return httpx.URL(answer.headers["Location"]).path


def _send_rest(http: httpx.Client, path: Path, place: str, size: int, sent: Sent) -> None:
    reached, furthest = time.monotonic(), -1
    while True:
        offset = int(_patiently(lambda: http.head(place, headers=TUS)).headers["Upload-Offset"])
        sent(path, offset, size)
        if offset == size:
            return
        if offset > furthest:
            reached, furthest = time.monotonic(), offset
        try:
            answer = http.patch(
                place,
                content=_piece(path, offset, size, sent),
                headers={
                    **TUS,
                    "Upload-Offset": str(offset),
                    "Content-Type": "application/offset+octet-stream",
                    "Content-Length": str(min(PIECE_BYTES, size - offset)),
                },
            )
        except httpx.TransportError:
            if time.monotonic() - reached > PATIENCE_SECONDS:
                raise
            time.sleep(PAUSE_SECONDS)
            continue
        if not answer.is_success:
            if answer.status_code not in {409, *PASSING} or time.monotonic() - reached > PATIENCE_SECONDS:
                raise refusal_of(answer)
            time.sleep(_pause(answer))


def _piece(path: Path, offset: int, size: int, sent: Sent) -> Iterator[bytes]:
    end = min(size, offset + PIECE_BYTES)
    with path.open("rb") as file:
        file.seek(offset)
        while chunk := file.read(min(CHUNK_BYTES, end - offset)):
            yield chunk
            offset += len(chunk)
            sent(path, offset, size)


def _patiently(ask: Callable[[], httpx.Response]) -> httpx.Response:
    """The answer to a question, asked again while the service is away or busy."""
    began = time.monotonic()
    while True:
        late = time.monotonic() - began > PATIENCE_SECONDS
        try:
            answer = ask()
        except httpx.TransportError:
            if late:
                raise
            time.sleep(PAUSE_SECONDS)
            continue
        if answer.is_success:
            return answer
        if late or answer.status_code not in PASSING:
            raise refusal_of(answer)
        time.sleep(_pause(answer))


def _pause(answer: httpx.Response) -> float:
    told = answer.headers.get("Retry-After", "")
    return min(float(told), PATIENCE_SECONDS) if told.isdecimal() else PAUSE_SECONDS
