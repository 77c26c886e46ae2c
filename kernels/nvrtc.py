"""Compiling CUDA C++ at run time with NVRTC, which needs neither a GPU nor a driver.

The library is opened at the first call, from NVIDIA's wheels or from a CUDA toolkit; importing this module
works without either. What was compiled is kept on disk: see `kernels.cubins`.
"""

import ctypes
import ctypes.util
import hashlib
import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path, PurePosixPath

SOURCES = Path(__file__).with_name("csrc")
_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"([^"\n]+)"', re.MULTILINE)
_TARGET = re.compile(r"(sm|compute)_[0-9]+[a-z]?")
_LIBRARY_NAME = re.compile(r"libnvrtc\.so(\.[0-9]+)*")
_WHEEL_FOLDERS = ("nvidia/cu*/lib", "nvidia/cuda_nvrtc/lib")
_TOOLKIT_VARIABLES = ("CUDA_HOME", "CUDA_PATH")
_TOOLKIT_FOLDERS = ("lib64", "lib", "targets/x86_64-linux/lib")


class NvrtcUnavailable(RuntimeError):  # noqa: N818 - it names the outcome, as EngineUnavailable does
    """No NVRTC can be opened here; the text says where it was looked for."""


class CompileFailed(RuntimeError):  # noqa: N818 - as above
    """NVRTC refused the program; the text is the compiler's own log."""


@dataclass(frozen=True, slots=True)
class Program:
    """One translation unit: `headers` maps what an #include says to the text that it means."""

    name: str
    text: str
    headers: Mapping[str, str]
    options: tuple[str, ...] = ()

    def digest(self) -> str:
        """A hash of everything in it, in hexadecimal."""
        parts = [
            self.name,
            self.text,
            *self.options,
            "",
            *(part for item in sorted(self.headers.items()) for part in item),
        ]
        digest = hashlib.sha256()
        for part in parts:
            data = part.encode()
            digest.update(len(data).to_bytes(8, "little"))
            digest.update(data)
        return digest.hexdigest()


@dataclass(frozen=True, slots=True)
class Compiled:
    """What NVRTC made: a cubin (target `sm_90`) or PTX text (target `compute_90`), and its log."""

    image: bytes
    log: str


def read_program(name: str, options: Sequence[str] = (), folder: Path = SOURCES) -> Program:
    """The program in the file `name` below `folder`, with every header that it includes in quotes.

    An #include is looked for beside the file that says it, then below `folder`. Raises FileNotFoundError
    where it is in neither place and ValueError where one spelling means two files.
    """
    path = folder / name
    found: dict[str, Path] = {}
    _follow_includes(path, folder, found)
    headers = {spelling: file.read_text() for spelling, file in sorted(found.items())}
    return Program(name, path.read_text(), headers, tuple(options))


def _follow_includes(path: Path, folder: Path, found: dict[str, Path]) -> None:
    for spelling in _INCLUDE.findall(path.read_text()):
        file = _resolve(spelling, path, folder)
        if spelling in found:
            if found[spelling] != file:
                raise ValueError(f'#include "{spelling}" means both {found[spelling]} and {file}')
            continue
        found[spelling] = file
        _follow_includes(file, folder, found)


def _resolve(spelling: str, includer: Path, folder: Path) -> Path:
    places = [includer.parent / PurePosixPath(spelling), folder / PurePosixPath(spelling)]
    for place in places:
        if place.is_file():
            return place.resolve()
    raise FileNotFoundError(f'{includer.name}: #include "{spelling}" is not among the shipped sources')


def compile_program(program: Program, target: str) -> Compiled:
    """Compile for `target`: `sm_XY` gives a cubin, `compute_XY` gives PTX text.

    Raises CompileFailed with the compiler's log, NvrtcUnavailable, and ValueError for a target that is none.
    """
    if not _TARGET.fullmatch(target):
        raise ValueError(f"a target is called sm_XY or compute_XY, not {target!r}")
    library = _library()
    handle = _create(library, program)
    try:
        options = _texts([f"--gpu-architecture={target}", *program.options])
        status = library.nvrtcCompileProgram(handle, len(options), options)
        log = _output(library, "ProgramLog", handle).rstrip(b"\0").decode(errors="replace")
        if status:
            raise CompileFailed(log.strip() or _describe(library, status))
        if target.startswith("sm"):
            return Compiled(_output(library, "CUBIN", handle), log)
        return Compiled(_output(library, "PTX", handle).rstrip(b"\0"), log)
    finally:
        library.nvrtcDestroyProgram(ctypes.byref(handle))


@cache
def version() -> str:
    """The version of the NVRTC found here, as "13.5". Raises NvrtcUnavailable."""
    major, minor = ctypes.c_int(), ctypes.c_int()
    library = _library()
    _check(library, library.nvrtcVersion(ctypes.byref(major), ctypes.byref(minor)))
    return f"{major.value}.{minor.value}"


def _create(library: ctypes.CDLL, program: Program) -> ctypes.c_void_p:
    handle = ctypes.c_void_p()
    _check(
        library,
        library.nvrtcCreateProgram(
            ctypes.byref(handle),
            program.text.encode(),
            program.name.encode(),
            len(program.headers),
            _texts(program.headers.values()),
            _texts(program.headers),
        ),
    )
    return handle


def _texts(texts: Iterable[str]) -> ctypes.Array[ctypes.c_char_p]:
    encoded = [text.encode() for text in texts]
    return (ctypes.c_char_p * len(encoded))(*encoded)


def _output(library: ctypes.CDLL, kind: str, handle: ctypes.c_void_p) -> bytes:
    size = ctypes.c_size_t()
    _check(library, getattr(library, f"nvrtcGet{kind}Size")(handle, ctypes.byref(size)))
    buffer = ctypes.create_string_buffer(size.value)
    _check(library, getattr(library, f"nvrtcGet{kind}")(handle, buffer))
    return buffer.raw


def _check(library: ctypes.CDLL, status: int) -> None:
    if status:
        raise CompileFailed(_describe(library, status))


def _describe(library: ctypes.CDLL, status: int) -> str:
    library.nvrtcGetErrorString.restype = ctypes.c_char_p
    return bytes(library.nvrtcGetErrorString(status)).decode()


@cache
def _library() -> ctypes.CDLL:
    tried = []
    for place in _places():
        try:
            return ctypes.CDLL(place)
        except OSError as error:
            tried.append(str(error))
    reason = "; ".join(tried) or "it is in no wheel, toolkit or library path"
    raise NvrtcUnavailable(f"libnvrtc cannot be opened: {reason}")


def _places() -> Iterator[str]:
    """Where libnvrtc may be: NVIDIA's wheels, the toolkit named by the environment, the loader's own path."""
    for entry in map(Path, sys.path):
        for pattern in _WHEEL_FOLDERS:
            for folder in sorted(entry.glob(pattern), reverse=True):
                yield from _libraries(folder)
    for variable in _TOOLKIT_VARIABLES:
        if variable in os.environ:
            for name in _TOOLKIT_FOLDERS:
                yield from _libraries(Path(os.environ[variable]) / name)
    known = ctypes.util.find_library("nvrtc")
    if known:
        yield known


def _libraries(folder: Path) -> Iterator[str]:
    for path in sorted(folder.glob("libnvrtc.so*"), reverse=True):
        if _LIBRARY_NAME.fullmatch(path.name):
            yield str(path)
