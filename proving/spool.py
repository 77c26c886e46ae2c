"""What passes between the stages of one host: private files, written whole or not at all.

Everything lies in HOME/spool/<job>/, folders 0700 and files 0600. A file is written under a temporary
name, synced and renamed, so that a reader finds all of it or nothing. Inputs and witnesses are secrets:
nothing here logs, and `clear_job` leaves nothing behind.
"""

import hashlib
import io
import os
import shutil
import struct
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import numpy as np
from django.conf import settings
from numpy.typing import NDArray

from kernels.device import ProverSums

MAGIC = b"cuzkeval"
VERSION = 1
HEADER = struct.Struct("<8sIIQQ")
PAGE = 4096
TEMPORARY = ".part"
SENT = frozenset({"input", "wtns"})
LONGEST_NAME = 180


@dataclass(frozen=True, slots=True, eq=False)
class Evaluations:
    """A partition between synthesis and device; read-only views of the file when it comes out of the spool.

    `witness` is (wires, 4), plain and canonical; `a` and `b` are (domain, 4), Montgomery form.
    """

    witness: NDArray[np.uint64]
    a: NDArray[np.uint64]
    b: NDArray[np.uint64]


def root() -> Path:
    """The spool's folder."""
    return Path(settings.CUZKWEB_HOME) / "spool"


def job_folder(job_id: str) -> Path:
    """Where a job's files lie. Any text is a legal id: it is escaped, and a long one ends in its digest."""
    name = quote(job_id, safe="")
    if name.startswith("."):
        name = "%2E" + name[1:]
    if len(name) > LONGEST_NAME:
        digest = hashlib.sha256(job_id.encode()).hexdigest()[:32]
        name = f"{name[: LONGEST_NAME - 33]}-{digest}"
    return root() / name


def store_input(job_id: str, index: int, content: bytes) -> None:
    """Keep the input JSON of a partition, as the caller sent it."""
    _write(_path(job_id, index, "input"), [content])


def read_input(job_id: str, index: int) -> bytes:
    """The input JSON of a partition. Raises FileNotFoundError where there is none."""
    return _path(job_id, index, "input").read_bytes()


def store_witness_upload(job_id: str, index: int, chunks: Iterable[bytes]) -> Path:
    """Keep an uploaded witness file (.wtns), chunk by chunk."""
    path = _path(job_id, index, "wtns")
    _write(path, chunks)
    return path


def witness_upload(job_id: str, index: int) -> Path | None:
    """The uploaded witness file of a partition, or None where inputs were sent instead."""
    path = _path(job_id, index, "wtns")
    return path if path.exists() else None


def evaluations_path(job_id: str, index: int, attempt: int) -> Path:
    """Where an attempt's synthesis leaves its evaluations."""
    return _path(job_id, index, f"{attempt}.evaluations")


def write_evaluations(job_id: str, index: int, attempt: int, found: Evaluations) -> int:
    """Keep what a device needs of a partition. Returns the file's bytes."""
    arrays = [np.ascontiguousarray(array, dtype="<u8") for array in (found.witness, found.a, found.b)]
    header = HEADER.pack(MAGIC, VERSION, 0, len(arrays[0]), len(arrays[1]))
    chunks: list[bytes | memoryview] = [header.ljust(PAGE, b"\0")]
    chunks += [array.data.cast("B") for array in arrays if array.size]
    return _write(evaluations_path(job_id, index, attempt), chunks)


def map_evaluations(job_id: str, index: int, attempt: int) -> Evaluations:
    """Map the evaluations that exactly this attempt left.

    Raises FileNotFoundError where synthesis left none, and ValueError where the file is not whole.
    """
    mapped = np.memmap(evaluations_path(job_id, index, attempt), dtype=np.uint8, mode="r")
    if mapped.size < PAGE:
        raise ValueError("the evaluations in the spool are not whole")
    magic, version, _, wires, domain = HEADER.unpack(mapped[: HEADER.size].tobytes())
    if (magic, version) != (MAGIC, VERSION) or mapped.size != PAGE + 32 * (wires + 2 * domain):
        raise ValueError("the evaluations in the spool are not whole")
    words = np.asarray(mapped[PAGE:]).view("<u8").reshape(-1, 4)
    return Evaluations(words[:wires], words[wires : wires + domain], words[wires + domain :])


def store_sums(job_id: str, index: int, attempt: int, sums: ProverSums) -> None:
    """Keep a device's raw sums for the finalizer."""
    buffer = io.BytesIO()
    np.savez(buffer, a=sums.a, b1=sums.b1, b2=sums.b2, c=sums.c, h=sums.h)
    _write(_path(job_id, index, f"{attempt}.sums"), [buffer.getvalue()])


def read_sums(job_id: str, index: int, attempt: int) -> ProverSums:
    """The raw sums of exactly this attempt. Raises FileNotFoundError where the device left none."""
    with np.load(_path(job_id, index, f"{attempt}.sums"), allow_pickle=False) as found:
        return ProverSums(found["a"], found["b1"], found["b2"], found["c"], found["h"])


def clear_partition(job_id: str, index: int, *, keep_input: bool = False) -> None:
    """Delete everything of a partition, or everything but what its caller sent."""
    folder = job_folder(job_id)
    for path in [*folder.glob(f"{index}.*"), *folder.glob(f".{index}.*{TEMPORARY}")]:
        if not (keep_input and path.name in {f"{index}.{suffix}" for suffix in SENT}):
            path.unlink(missing_ok=True)


def clear_job(job_id: str, *, keep_inputs: bool = False) -> None:
    """Delete everything of a job, or everything but what its caller sent."""
    folder = job_folder(job_id)
    if not keep_inputs:
        shutil.rmtree(folder, ignore_errors=True)
        return
    for path in folder.glob("*"):
        if path.name.count(".") != 1 or path.suffix[1:] not in SENT:
            path.unlink(missing_ok=True)


def sweep(keep: Callable[[list[str]], set[str]], older_than: float) -> int:
    """Delete the folders of jobs that are not to be kept; returns how many.

    Only folders untouched for `older_than` seconds are looked at. `keep` gets their names (those of
    `job_folder`) and answers which of them still belong to a job that runs.
    """
    if not root().is_dir():
        return 0
    horizon = time.time() - older_than
    names = [entry.name for entry in os.scandir(root()) if entry.is_dir() and entry.stat().st_mtime < horizon]
    doomed = set(names) - keep(names) if names else set()
    for name in doomed:
        shutil.rmtree(root() / name, ignore_errors=True)
    return len(doomed)


def _path(job_id: str, index: int, suffix: str) -> Path:
    return job_folder(job_id) / f"{index}.{suffix}"


def _write(path: Path, chunks: Iterable[bytes | memoryview]) -> int:
    _private(path.parent)
    temporary = path.with_name(f".{path.name}.{os.getpid()}{TEMPORARY}")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            for chunk in chunks:
                file.write(chunk)
            size = file.tell()
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    _sync_folder(path.parent)
    return size


def _private(folder: Path) -> None:
    for level in (folder.parent, folder):
        level.mkdir(mode=0o700, parents=True, exist_ok=True)


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
