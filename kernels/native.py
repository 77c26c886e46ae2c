"""The native library: opening it, calling it, and handing arrays over.

Every function of the C ABI returns a status; `call` turns it into an exception. The functions release the GIL
while they run.
"""

import ctypes
import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from kernels.curves import Curve, Group

ABI_VERSION = 1
LIBRARY = Path(__file__).with_name("_native.so")
WORD_BYTES = 8

Words = NDArray[np.uint64]
RawPoints = NDArray[np.uint64] | NDArray[np.uint8]


class EngineUnavailable(RuntimeError):  # noqa: N818 - it names the outcome, as Cancelled does
    """The engine asked for is unknown, or the build or the CPU lacks it."""


_INT = ctypes.c_int
_SIZE = ctypes.c_size_t
_POINTER = ctypes.c_void_p
_TEXT = ctypes.c_char_p

_PROTOTYPES: dict[str, Sequence[type]] = {
    "cuzk_select_engine": (_TEXT,),
    "cuzk_selected_engine": (_POINTER,),
    "cuzk_has_engine": (_TEXT, _POINTER),
    "cuzk_field_apply": (_INT, _INT, _INT, _POINTER, _POINTER, _SIZE, _POINTER),
    "cuzk_field_check": (_INT, _INT, _POINTER, _SIZE, _POINTER),
    "cuzk_points_check": (_INT, _INT, _POINTER, _SIZE, _INT, _INT, _POINTER),
    "cuzk_points_add": (_INT, _INT, _POINTER, _POINTER, _SIZE, _POINTER, _INT),
    "cuzk_points_negate": (_INT, _INT, _POINTER, _SIZE, _POINTER),
    "cuzk_points_multiply": (_INT, _INT, _POINTER, _POINTER, _SIZE, _POINTER, _INT),
    "cuzk_fixed_base_multiply": (_INT, _INT, _POINTER, _POINTER, _SIZE, _POINTER, _INT),
    "cuzk_bases_load": (_INT, _INT, _POINTER, _SIZE, _INT, _POINTER),
    "cuzk_bases_bytes": (_POINTER, _POINTER),
    "cuzk_bases_multiply": (_POINTER, _POINTER, _SIZE, _POINTER, _INT),
    "cuzk_ntt": (_INT, _POINTER, _INT, _INT, _POINTER, _INT),
    "cuzk_quotient": (_INT, _POINTER, _POINTER, _INT, _POINTER, _INT),
    "cuzk_constraints_evaluate": (
        *(_INT, _POINTER, _SIZE, _POINTER, _SIZE, _SIZE),
        *(_POINTER, _POINTER, _INT, _POINTER),
    ),
    "cuzk_pairing_product": (_INT, _POINTER, _POINTER, _SIZE, _POINTER, _POINTER, _POINTER),
}


def _open() -> ctypes.CDLL:
    if not LIBRARY.exists():
        raise ImportError(f"the native library {LIBRARY.name} is not built: run `make setup`")
    library = ctypes.CDLL(str(LIBRARY))
    found = library.cuzk_abi_version()
    if found != ABI_VERSION:
        raise ImportError(f"{LIBRARY.name} has ABI {found}, this code wants {ABI_VERSION}: run `make setup`")
    for name, arguments in _PROTOTYPES.items():
        function = getattr(library, name)
        function.argtypes = arguments
        function.restype = _INT
    library.cuzk_bases_free.argtypes = (_POINTER,)
    library.cuzk_bases_free.restype = None
    return library


LIB = _open()


def call(name: str, *arguments: object) -> None:
    """Call a function of the C ABI.

    Raises MemoryError, EngineUnavailable, ValueError (an argument the Python side let through) or
    RuntimeError.
    """
    status = getattr(LIB, name)(*arguments)
    if status == 0:
        return
    if status == -1:
        raise ValueError(f"{name}: bad argument")
    if status == -2:
        raise MemoryError(f"{name}: out of memory")
    if status == -3:
        wanted = os.environ.get("CUZKWEB_ENGINE", "auto")
        raise EngineUnavailable(f"no such engine here (CUZKWEB_ENGINE is {wanted!r})")
    raise RuntimeError(f"{name}: internal error {status}")


def thread_count(threads: int) -> int:
    """How many threads to use: 0 means every core this process may run on. Raises ValueError below 0."""
    if threads < 0:
        raise ValueError(f"threads must be 0 (all cores) or more, not {threads}")
    return threads or len(os.sched_getaffinity(0))


def words(array: object, width: int, what: str) -> Words:
    """An (n, width) array of uint64 words, C-contiguous and aligned; copied only where it is not aligned.

    Raises ValueError when it is not such an array.
    """
    if not isinstance(array, np.ndarray) or array.dtype != np.dtype("<u8"):
        raise ValueError(f"{what} must be a numpy array of uint64 words, not {_described(array)}")
    if array.ndim != 2 or array.shape[1] != width:
        raise ValueError(f"{what} must have shape (n, {width}), not {array.shape}")
    if not array.flags.c_contiguous:
        raise ValueError(f"{what} must be C-contiguous")
    return np.require(array, requirements=["C", "A"])


def writable_words(array: object, width: int, what: str) -> Words:
    """As `words`, for an array that is changed in place: it must be aligned and writable itself."""
    checked = words(array, width, what)
    if checked is not array or not checked.flags.writeable:
        raise ValueError(f"{what} is changed in place: it must be aligned and writable")
    return checked


def points(curve: Curve, group: Group, array: object, what: str = "points") -> RawPoints:
    """Points as (n, 2W | 4W) uint64 words or as uint8 bytes of whole points, C-contiguous; alignment is free.

    Raises ValueError when they are not.
    """
    if not isinstance(array, np.ndarray) or array.dtype not in (np.dtype("<u8"), np.dtype("u1")):
        raise ValueError(f"{what} must be a numpy array of uint64 words or bytes, not {_described(array)}")
    if not array.flags.c_contiguous:
        raise ValueError(f"{what} must be C-contiguous")
    width = curve.point_words(group)
    if array.dtype == np.dtype("u1"):
        if array.nbytes % (width * WORD_BYTES):
            raise ValueError(
                f"{what}: {array.nbytes} bytes are no whole number of points of {width * WORD_BYTES}"
            )
    elif array.ndim != 2 or array.shape[1] != width:
        raise ValueError(f"{what} must have shape (n, {width}), not {array.shape}")
    return array


def point_count(curve: Curve, group: Group, array: RawPoints) -> int:
    """How many points the array holds."""
    return int(array.nbytes // curve.point_bytes(group))


def address(array: NDArray[np.uint64] | NDArray[np.uint8]) -> int:
    """Where the array's memory starts; the caller keeps the array alive."""
    return int(array.ctypes.data)


def _described(value: object) -> str:
    if isinstance(value, np.ndarray):
        return f"one of {value.dtype}"
    return type(value).__name__
