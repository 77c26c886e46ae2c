"""What callers rely on, of a running service: one job for one key, ends that are told, keys that stop."""

import base64
import hashlib
import json
import os
import signal
import socket
import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx
import pytest

from cuzkweb.client import CircuitFiles
from cuzkweb.demo import membership
from cuzkweb.demo.membership import example_inputs
from proving.formats.r1cs import read_r1cs
from proving.formats.zkey import write_zkey
from proving.groth16.setup import setup
from tests.support.processes import wait_for
from tests.support.stack import Stack, running_stack

pytestmark = pytest.mark.acceptance

LOST_IN_A_CUT = 192 << 10
"""Bytes that the web server has received and not handed on yet when it notices that their sender is gone."""


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    """A service that may send webhooks to this host."""
    home = tmp_path_factory.mktemp("home")
    with running_stack(home, "--no-flower", CUZKWEB_WEBHOOK_NETWORKS="127.0.0.0/8") as running:
        yield running


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A development key of the demo's circuit."""
    folder = tmp_path_factory.mktemp("membership")
    write_zkey(folder / "membership.zkey", setup(read_r1cs(membership.CONSTRAINTS), threads=1))
    return folder


@pytest.fixture(scope="module")
def circuit(stack: Stack, folder: Path) -> str:
    return stack.register(
        folder, "membership", generator=membership.GENERATOR, r1cs=Path(membership.CONSTRAINTS)
    )


def http(stack: Stack, key: str | None = None) -> httpx.Client:
    key = key or stack.credentials()["api_key"]
    return httpx.Client(
        base_url=stack.state()["web"],
        headers={"Authorization": f"Bearer {key}"},
        timeout=120,
        limits=httpx.Limits(max_connections=50),
    )


def job_ids(client: httpx.Client) -> set[str]:
    return {job["id"] for job in client.get("/api/v1/jobs").json()["results"]}


def test_two_hundred_submissions_with_one_key_make_one_job(stack: Stack, circuit: str) -> None:
    body = {"circuit": circuit, "inputs": [example_inputs(0)]}
    with http(stack) as client, ThreadPoolExecutor(40) as pool:
        others = job_ids(client)

        def submit(_: int) -> httpx.Response:
            return client.post("/api/v1/jobs", json=body, headers={"Idempotency-Key": "the-same"})

        answers = list(pool.map(submit, range(200)))
        codes = Counter(answer.status_code for answer in answers)
        assert set(codes) <= {202, 409}, codes
        made = {answer.json()["id"] for answer in answers if answer.status_code == 202}
        assert len(made) == 1
        for answer in answers:
            if answer.status_code == 409:
                assert answer.json()["code"] == "request_in_flight"
        assert submit(0).headers["Idempotency-Replayed"] == "true"
        assert job_ids(client) - others == made


def test_a_revoked_key_and_its_stream_stop_within_seconds(stack: Stack) -> None:
    made = stack.client.create_key("guest", ["read"])
    with http(stack, made["key"]) as guest, guest.stream("GET", "/api/v1/status/stream") as stream:
        assert stream.status_code == 200
        lines = stream.iter_lines()
        assert any(line.startswith("event: status") for line in lines)
        revoked = time.monotonic()
        stack.client.revoke_key(made["prefix"])
        assert guest.get("/api/v1/jobs").status_code == 401
        assert any(line == "event: end" for line in lines)
        assert time.monotonic() - revoked < 10


def test_an_upload_goes_on_after_a_cut_and_a_restart(stack: Stack, tmp_path: Path) -> None:
    """A sender is cut off in the middle of a piece, then the web process is killed; a client takes it up."""
    key = tmp_path / "another.zkey"
    write_zkey(key, setup(read_r1cs(membership.CONSTRAINTS), threads=1))
    data = key.read_bytes()
    half = len(data) // 2
    told = base64.b64encode(hashlib.sha256(data).hexdigest().encode()).decode()
    headers = {"Tus-Resumable": "1.0.0", "Upload-Length": str(len(data)), "Upload-Metadata": f"sha256 {told}"}
    with http(stack) as client:
        place = client.post("/api/v1/uploads", headers=headers).headers["Location"]

        def offset() -> int:
            answer = client.head(place, headers={"Tus-Resumable": "1.0.0"})
            return int(answer.headers["Upload-Offset"])

        assert half > 2 * LOST_IN_A_CUT
        cut_off(stack, place, data[:half], announced=len(data))
        wait_for(lambda: offset() >= half - LOST_IN_A_CUT, "what came before the cut is kept", 20)
        before = stack.pid("web")
        os.kill(before, signal.SIGKILL)
        wait_for(lambda: stack.pid("web") != before, "another web process", 20)

    heard: list[tuple[Path, int, int]] = []
    made = stack.client.register("taken-up", CircuitFiles(key), sent=lambda *told: heard.append(told))
    assert half - LOST_IN_A_CUT <= heard[0][1] <= half
    assert heard[-1] == (key, len(data), len(data))
    assert made["proving_key"]["sha256"] == hashlib.sha256(data).hexdigest()


def cut_off(stack: Stack, place: str, data: bytes, *, announced: int) -> None:
    """Send a piece that ends before its announced length, and hang up."""
    url = httpx.URL(place)
    lines = [
        f"PATCH {url.path} HTTP/1.1",
        f"Host: {url.host}:{url.port}",
        f"Authorization: Bearer {stack.credentials()['api_key']}",
        "Tus-Resumable: 1.0.0",
        "Upload-Offset: 0",
        "Content-Type: application/offset+octet-stream",
        f"Content-Length: {announced}",
    ]
    with socket.create_connection((url.host, url.port)) as connection:
        connection.sendall("\r\n".join([*lines, "", ""]).encode() + data)


def test_the_end_of_a_job_is_streamed_and_told_to_a_webhook(stack: Stack, circuit: str) -> None:
    received: list[dict[str, Any]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            received.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(204)
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    try:
        with http(stack) as client:
            url = f"http://127.0.0.1:{server.server_address[1]}/"
            assert client.post("/api/v1/webhooks", json={"url": url}).status_code == 201
            job = stack.client.submit(circuit, [example_inputs(1)], request_id="told")
            with client.stream("GET", f"/api/v1/jobs/{job.id}/stream") as stream:
                told = [line for line in stream.iter_lines() if line.startswith('data: {"id"')]
            assert json.loads(told[-1].removeprefix("data: "))["state"] == "done"
            wait_for(lambda: len(received) == 1, "the webhook was called", 30)
            assert (received[0]["type"], received[0]["data"]["id"]) == ("job.done", "told")
            metrics = client.get("/metrics").text
            assert 'cuzkweb_attempts_total{outcome="done"}' in metrics
            assert 'cuzkweb_stage_seconds_count{stage="device"}' in metrics
    finally:
        server.shutdown()
        server.server_close()
