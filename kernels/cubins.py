"""Compiled device code, kept on disk so that a program is compiled once for an architecture.

An entry's name is a hash of the program's texts, its options, NVRTC's version and the target. It is written
under a temporary name and renamed, so that several workers may share the folder; an entry that is not whole
is compiled again.
"""

import hashlib
import logging
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path

from kernels import nvrtc
from kernels.nvrtc import Compiled, Program

_MAGIC = b"cuzk1\n"
_DIGEST_BYTES = 32
_LENGTH_BYTES = 8
_HEADER_BYTES = len(_MAGIC) + _DIGEST_BYTES + _LENGTH_BYTES

logger = logging.getLogger(__name__)


def default_folder() -> Path:
    """`cuzkweb/cubins` in the user's cache folder ($XDG_CACHE_HOME, or ~/.cache)."""
    base = os.environ.get("XDG_CACHE_HOME", "")
    root = Path(base) if Path(base).is_absolute() else Path.home() / ".cache"
    return root / "cuzkweb" / "cubins"


@dataclass(frozen=True, slots=True)
class CubinCache:
    """A folder of compiled programs. Several threads and processes may use one folder at once."""

    folder: Path

    def compile(self, program: Program, target: str) -> Compiled:
        """The program compiled for `target`, from the folder where it is there and whole.

        Raises what `nvrtc.compile_program` raises. A folder that cannot be written costs a warning.
        """
        path = self.path(program, target)
        kept = _read(path)
        if kept is not None:
            return kept
        compiled = nvrtc.compile_program(program, target)
        try:
            _write(path, compiled)
        except OSError as error:
            logger.warning("compiled device code is not kept: %s", error)
        return compiled

    def path(self, program: Program, target: str) -> Path:
        """Where the program compiled for `target` is, or would be. Raises NvrtcUnavailable."""
        key = "\n".join((program.digest(), nvrtc.version(), target))
        name = hashlib.sha256(key.encode()).hexdigest()
        return self.folder / f"{name[:40]}.{target}"


def _read(path: Path) -> Compiled | None:
    try:
        data = path.read_bytes()
    except OSError:
        return None
    body = data[len(_MAGIC) + _DIGEST_BYTES :]
    sealed = _MAGIC + hashlib.sha256(body).digest()
    if len(data) < _HEADER_BYTES or not data.startswith(sealed):
        logger.warning("compiled device code in %s is damaged and is made again", path.name)
        return None
    log_end = _LENGTH_BYTES + int.from_bytes(body[:_LENGTH_BYTES], "little")
    return Compiled(image=body[log_end:], log=body[_LENGTH_BYTES:log_end].decode())


def _write(path: Path, compiled: Compiled) -> None:
    log = compiled.log.encode()
    body = len(log).to_bytes(_LENGTH_BYTES, "little") + log + compiled.image
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=".", suffix=".part")
    temporary = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(_MAGIC + hashlib.sha256(body).digest() + body)
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
