"""A small typed client of the REST API."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import httpx

from cuzkweb import uploading
from cuzkweb.refusal import ApiError, refusal_of

LONGEST_WAIT = 30.0
"""Seconds that one request may wait at the server."""

__all__ = ["ApiError", "CircuitFiles", "Client", "Job", "Partition", "ProvedPartition", "State"]

PATIENCE_SECONDS = 60.0
"""How long a wait goes on while the server cannot be reached."""


class State(StrEnum):
    """The states of jobs and partitions. An answer with any other is an error."""

    QUEUED = "queued"
    RUNNING = "running"
    CANCELLING = "cancelling"
    PENDING = "pending"
    SYNTHESIZING = "synthesizing"
    SYNTH_DONE = "synth_done"
    GPU = "gpu"
    FINALIZING = "finalizing"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True)
class Partition:
    """A partition of a job."""

    index: int
    state: State
    attempt: int
    error: str | None


@dataclass(frozen=True, slots=True)
class Job:
    """A job as the service last told of it; `error` says why it failed."""

    id: str
    circuit: str
    state: State
    terminal: bool
    priority: str
    error: str | None
    error_partition: int | None
    partitions: tuple[Partition, ...]


@dataclass(frozen=True, slots=True)
class ProvedPartition:
    """A proof and its public signals, both as snarkjs writes them."""

    index: int
    proof: dict[str, Any]
    public: list[str]


@dataclass(frozen=True, slots=True)
class CircuitFiles:
    """The files of a circuit; only the proving key must be given."""

    proving_key: Path
    witness_generator: Path | None = None
    r1cs: Path | None = None
    verifying_key: Path | None = None

    def given(self) -> dict[str, Path]:
        """The files by the names of their form fields."""
        named = {name: getattr(self, name) for name in self.__slots__}
        return {name: path for name, path in named.items() if path is not None}


class Client:
    """Talks to one service with one API key. A context manager; not for several threads at once."""

    def __init__(self, address: str, api_key: str, *, transport: httpx.BaseTransport | None = None) -> None:
        self._http = httpx.Client(
            base_url=address,
            headers={"Authorization": f"Bearer {api_key}"},
            timeout=httpx.Timeout(60.0, connect=5.0),
            transport=transport,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._http.close()

    def register(
        self,
        name: str,
        files: CircuitFiles,
        proof_kind: str = "groth16",
        *,
        sent: uploading.Sent = uploading.unheard,
    ) -> dict[str, Any]:
        """Register a circuit; the same files under the same name give the circuit that is there.

        The files are sent in pieces: a broken connection is taken up where it broke, by a later call too, and
        what the service has already is not sent. `sent` hears (file, bytes there, bytes in all).
        """
        known = {row[part]["sha256"] for row in self.circuits() for part in uploading.KEPT if row.get(part)}
        body = {"name": name, "proof_kind": proof_kind}
        for field, path in files.given().items():
            body[field] = uploading.send(self._http, path, known, sent)
        return self._ask("POST", "/api/v1/circuits", json=body)

    def circuit(self, reference: str) -> dict[str, Any]:
        """A circuit by its id or name, with its verifying key."""
        return self._ask("GET", f"/api/v1/circuits/{reference}")

    def circuits(self) -> Iterator[dict[str, Any]]:
        """All circuits, the newest first."""
        return self._pages("/api/v1/circuits")

    def keys(self) -> Iterator[dict[str, Any]]:
        """All API keys of the owner, without their texts. Wants the scope admin, as do the next two."""
        return self._pages("/api/v1/keys")

    def create_key(
        self, name: str, scopes: Sequence[str] | None = None, expires_at: str | None = None
    ) -> dict[str, Any]:
        """Make an API key; `key` in the answer is its text, shown this once."""
        body: dict[str, Any] = {"name": name}
        body |= {"scopes": list(scopes)} if scopes else {}
        body |= {"expires_at": expires_at} if expires_at else {}
        return self._ask("POST", "/api/v1/keys", json=body)

    def revoke_key(self, prefix: str) -> dict[str, Any]:
        """Stop the key whose text has this open part."""
        return self._ask("POST", f"/api/v1/keys/{prefix}/revoke")

    def submit(
        self,
        circuit: str,
        inputs: Sequence[Mapping[str, Any]],
        *,
        request_id: str | None = None,
        priority: str | None = None,
        label: str | None = None,
        on_failure: str | None = None,
    ) -> Job:
        """Submit a job of one partition an input. With a `request_id` it may be repeated without harm.

        `on_failure` is "cancel" (the server's default) or "continue": what becomes of the other partitions.
        """
        optional = {"request_id": request_id, "priority": priority, "label": label, "on_failure": on_failure}
        body = {"circuit": circuit, "inputs": list(inputs)}
        body |= {name: value for name, value in optional.items() if value is not None}
        return _job(self._ask("POST", "/api/v1/jobs", json=body))

    def submit_witnesses(self, circuit: str, witnesses: Sequence[Path]) -> Job:
        """Submit a job of one partition a witness file."""
        with ExitStack() as stack:
            parts = [("witness", (path.name, stack.enter_context(path.open("rb")))) for path in witnesses]
            return _job(self._ask("POST", "/api/v1/jobs", data={"circuit": circuit}, files=parts))

    def job(self, job_id: str, *, wait: float = 0) -> Job:
        """A job now, or when it ends or `wait` seconds have passed."""
        return _job(self._ask("GET", f"/api/v1/jobs/{job_id}", params={"wait": wait} if wait else None))

    def wait(
        self,
        job_id: str,
        *,
        timeout: float | None = None,
        poll: float | None = None,
        heard: Callable[[Job], None] | None = None,
    ) -> Job:
        """The job once it has ended, or as it is after `timeout` seconds.

        `heard` gets each answer; with `poll` there is one every so many seconds. A server that is away for
        a while is waited for.
        """
        limit = time.monotonic() + timeout if timeout is not None else float("inf")
        reached = time.monotonic()
        while True:
            left = limit - time.monotonic()
            try:
                found = self.job(job_id, wait=0 if poll else max(0.0, min(LONGEST_WAIT, left)))
            except httpx.TransportError:
                if time.monotonic() - reached > PATIENCE_SECONDS:
                    raise
                time.sleep(0.5)
                continue
            reached = time.monotonic()
            if heard:
                heard(found)
            if found.terminal or left <= 0:
                return found
            if poll:
                time.sleep(min(poll, max(0.0, left)))

    def proofs(self, job_id: str) -> list[ProvedPartition]:
        """The proofs of a job that is done, in the order of its partitions."""
        document = self._ask("GET", f"/api/v1/jobs/{job_id}/proof")
        return [ProvedPartition(row["index"], row["proof"], row["public"]) for row in document["proofs"]]

    def cancel(self, job_id: str) -> Job:
        """Ask for a job to end."""
        return _job(self._ask("POST", f"/api/v1/jobs/{job_id}/cancel"))

    def change_priority(self, job_id: str, priority: str) -> Job:
        """Let a job go sooner or later: "low", "normal", "high" or "critical"."""
        return _job(self._ask("PATCH", f"/api/v1/jobs/{job_id}", json={"priority": priority}))

    def status(self) -> dict[str, Any]:
        """The status document."""
        return self._ask("GET", "/api/v1/status")

    def _pages(self, path: str) -> Iterator[dict[str, Any]]:
        following: str | None = path
        while following:
            page = self._ask("GET", following)
            yield from page["results"]
            following = httpx.URL(page["next"]).raw_path.decode() if page["next"] else None

    def _ask(self, method: str, path: str, **options: Any) -> dict[str, Any]:
        answer = self._http.request(method, path, **options)
        if answer.is_success:
            document: dict[str, Any] = answer.json()
            return document
        raise refusal_of(answer)


def _job(document: Mapping[str, Any]) -> Job:
    error = document.get("error") or {}
    return Job(
        id=document["id"],
        circuit=document["circuit"],
        state=State(document["state"]),
        terminal=document["terminal"],
        priority=document["priority"],
        error=error.get("detail"),
        error_partition=error.get("partition"),
        partitions=tuple(_partition(row) for row in document.get("partitions", ())),
    )


def _partition(row: Mapping[str, Any]) -> Partition:
    error = row.get("error") or {}
    return Partition(row["index"], State(row["state"]), row["attempt"], error.get("detail"))
