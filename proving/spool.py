"""What passes between the stages: private files, written whole or not at all.

Everything of a job lies in one folder: HOME/spool/<job>/ of one host, folders 0700 and files 0600, or, where
several hosts share a storage, below its prefix spool/. Inputs and witnesses are secrets: nothing here logs,
and `clear_job` leaves nothing behind.
"""

import hashlib
import io
import struct
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import numpy as np
from django.conf import settings
from numpy.typing import NDArray

from kernels.device import ProverSums
from proving import storage
from proving.shelf import LocalShelf, SharedShelf, Shelf

MAGIC = b"cuzkeval"
VERSION = 1
HEADER = struct.Struct("<8sIIQQ")
PAGE = 4096
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
    """The spool's folder on this host."""
    return Path(settings.CUZKWEB_HOME) / "spool"


def shelf() -> Shelf:
    """Where the files lie: on this host, unless the deployment has a storage for several."""
    return SharedShelf("spool", root()) if storage.is_shared() else LocalShelf(root())


def folder_name(job_id: str) -> str:
    """A job's folder. Any text is a legal id: it is escaped, and a long one ends in its digest."""
    name = quote(job_id, safe="")
    if name.startswith("."):
        name = "%2E" + name[1:]
    if len(name) > LONGEST_NAME:
        digest = hashlib.sha256(job_id.encode()).hexdigest()[:32]
        name = f"{name[: LONGEST_NAME - 33]}-{digest}"
    return name


def job_folder(job_id: str) -> Path:
    """Where a job's files lie when they lie on this host."""
    return root() / folder_name(job_id)


def store_input(job_id: str, index: int, content: bytes) -> None:
    """Keep the input JSON of a partition, as the caller sent it."""
    _write(job_id, f"{index}.input", [content])


def read_input(job_id: str, index: int) -> bytes:
    """The input JSON of a partition. Raises FileNotFoundError where there is none."""
    with shelf().open(folder_name(job_id), f"{index}.input") as file:
        return file.read()


def store_witness_upload(job_id: str, index: int, chunks: Iterable[bytes]) -> int:
    """Keep an uploaded witness file (.wtns), chunk by chunk. Returns its bytes."""
    return _write(job_id, f"{index}.wtns", chunks)


@contextmanager
def witness_upload(job_id: str, index: int) -> Iterator[Path | None]:
    """The uploaded witness file of a partition, or None where inputs were sent instead.

    The path may be one of an open file: what is mapped from it stays, the path does not.
    """
    try:
        file = shelf().open(folder_name(job_id), f"{index}.wtns")
    except FileNotFoundError:
        yield None
        return
    with file:
        yield Path(f"/dev/fd/{file.fileno()}")


def write_evaluations(job_id: str, index: int, attempt: int, found: Evaluations) -> int:
    """Keep what a device needs of a partition. Returns the file's bytes."""
    arrays = [np.ascontiguousarray(array, dtype="<u8") for array in (found.witness, found.a, found.b)]
    header = HEADER.pack(MAGIC, VERSION, 0, len(arrays[0]), len(arrays[1]))
    chunks: list[bytes | memoryview] = [header.ljust(PAGE, b"\0")]
    chunks += [array.data.cast("B") for array in arrays if array.size]
    return _write(job_id, _evaluations(index, attempt), chunks)


def map_evaluations(job_id: str, index: int, attempt: int) -> Evaluations:
    """Map the evaluations that exactly this attempt left.

    Raises FileNotFoundError where synthesis left none, and ValueError where the file is not whole.
    """
    with shelf().open(folder_name(job_id), _evaluations(index, attempt)) as file:
        mapped = np.memmap(file, dtype=np.uint8, mode="r")
    if mapped.size < PAGE:
        raise ValueError("the evaluations in the spool are not whole")
    magic, version, _, wires, domain = HEADER.unpack(mapped[: HEADER.size].tobytes())
    if (magic, version) != (MAGIC, VERSION) or mapped.size != PAGE + 32 * (wires + 2 * domain):
        raise ValueError("the evaluations in the spool are not whole")
    words = np.asarray(mapped[PAGE:]).view("<u8").reshape(-1, 4)
    return Evaluations(words[:wires], words[wires : wires + domain], words[wires + domain :])


def store_public(job_id: str, index: int, attempt: int, values: NDArray[np.uint64]) -> None:
    """Keep the public wires that an attempt's synthesis found, (count, 4) plain, for the finalizer."""
    _write(job_id, f"{index}.{attempt}.public", [np.ascontiguousarray(values, dtype="<u8").tobytes()])


def read_public(job_id: str, index: int, attempt: int) -> NDArray[np.uint64] | None:
    """The public wires of exactly this attempt, (count, 4); None where synthesis kept none apart."""
    try:
        with shelf().open(folder_name(job_id), f"{index}.{attempt}.public") as file:
            return np.frombuffer(bytearray(file.read()), dtype="<u8").reshape(-1, 4)
    except FileNotFoundError:
        return None


def store_sums(job_id: str, index: int, attempt: int, sums: ProverSums) -> None:
    """Keep a device's raw sums for the finalizer."""
    buffer = io.BytesIO()
    np.savez(buffer, a=sums.a, b1=sums.b1, b2=sums.b2, c=sums.c, h=sums.h)
    _write(job_id, f"{index}.{attempt}.sums", [buffer.getvalue()])


def read_sums(job_id: str, index: int, attempt: int) -> ProverSums:
    """The raw sums of exactly this attempt. Raises FileNotFoundError where the device left none."""
    with (
        shelf().open(folder_name(job_id), f"{index}.{attempt}.sums") as file,
        np.load(file, allow_pickle=False) as found,
    ):
        return ProverSums(found["a"], found["b1"], found["b2"], found["c"], found["h"])


def drop_earlier(job_id: str, index: int, attempt: int) -> None:
    """Delete what attempts before this one left: it begins anew, and nobody's claim names theirs again.

    Otherwise a partition that is lost again and again fills the disk that it waits for.
    """
    folder = folder_name(job_id)
    shelf().delete(folder, [name for name in shelf().names(folder) if _attempt(name, index) < attempt])


def clear_partition(job_id: str, index: int, *, keep_input: bool = False) -> None:
    """Delete everything of a partition, or everything but what its caller sent."""
    folder = folder_name(job_id)
    sent = {f"{index}.{suffix}" for suffix in SENT} if keep_input else set()
    own = [name for name in shelf().names(folder) if name.removeprefix(".").startswith(f"{index}.")]
    shelf().delete(folder, set(own) - sent)


def clear_job(job_id: str, *, keep_inputs: bool = False) -> None:
    """Delete everything of a job, or everything but what its caller sent."""
    folder = folder_name(job_id)
    if not keep_inputs:
        shelf().drop(folder)
        return
    shelf().delete(folder, [name for name in shelf().names(folder) if not _is_sent(name)])


def sweep(keep: Callable[[list[str]], set[str]], older_than: float) -> int:
    """Delete the folders of jobs that are not to be kept; returns how many.

    `keep` gets the names of all folders (those of `folder_name`) and answers which of them still belong to a
    job that runs. Of the others only those go that were not touched for `older_than` seconds.
    """
    here, horizon = shelf(), time.time() - older_than
    names = here.folders()
    unowned = set(names) - keep(names) if names else set()
    doomed = [name for name in unowned if here.touched_at(name) < horizon]
    for name in doomed:
        here.drop(name)
    return len(doomed)


def _evaluations(index: int, attempt: int) -> str:
    return f"{index}.{attempt}.evaluations"


def _attempt(name: str, index: int) -> float:
    """The attempt that a file of the partition belongs to, drafts included; infinity for all other files."""
    owner, _, rest = name.removeprefix(".").partition(".")
    attempt = rest.partition(".")[0]
    return int(attempt) if owner == str(index) and attempt.isdecimal() else float("inf")


def _is_sent(name: str) -> bool:
    """Whether a file is one that a caller sent: `<index>.input` or `<index>.wtns`."""
    index, _, suffix = name.partition(".")
    return index.isdecimal() and suffix in SENT


def _write(job_id: str, name: str, chunks: Iterable[bytes | memoryview]) -> int:
    return shelf().write(folder_name(job_id), name, chunks)
