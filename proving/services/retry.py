"""Trying again what did not work, as a job of its own: an ended job stays as it ended."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from proving import spool
from proving.choices import InputForm, JobState, Priority
from proving.formats.exact_json import parse_json
from proving.models import Job
from proving.services.errors import conflict
from proving.services.submit import JobRequest, Submitted, submit_inputs, submit_witnesses

RETRIABLE = (JobState.FAILED, JobState.CANCELLED)
CHUNK = 1 << 20


@dataclass(frozen=True, slots=True)
class KeptWitness:
    """A witness file of an earlier job, handed in once more."""

    path: Path

    def temporary_file_path(self) -> str:
        return str(self.path)

    def chunks(self) -> Iterator[bytes]:
        with self.path.open("rb") as file:
            yield from iter(lambda: file.read(CHUNK), b"")


def retry_job(job: Job) -> Submitted:
    """Submit a job that failed or was cancelled once more, under a new id, with the inputs it had.

    ServiceError when it did not end so, or when its inputs were deleted with its end.
    """
    if job.state not in RETRIABLE:
        raise conflict("not_retriable", f"only failed and cancelled jobs are tried again: it is {job.state}")
    request = JobRequest(job.circuit, priority=Priority(job.priority), label=job.label)
    try:
        if job.input_form == InputForm.WITNESS:
            return _resubmit_witnesses(job, request)
        inputs = [parse_json(spool.read_input(job.pk, index)) for index in range(job.partition_count)]
    except FileNotFoundError:
        raise conflict("inputs_deleted", "its inputs were deleted when it ended: submit them again") from None
    return submit_inputs(job.owner, request, inputs)


def _resubmit_witnesses(job: Job, request: JobRequest) -> Submitted:
    with ExitStack() as open_files:
        kept = [
            open_files.enter_context(spool.witness_upload(job.pk, index))
            for index in range(job.partition_count)
        ]
        uploads = [KeptWitness(path) for path in kept if path is not None]
        if len(uploads) != len(kept):
            raise FileNotFoundError
        return submit_witnesses(job.owner, request, uploads)
