"""The native library: opening it and calling it, without numpy.

Every function of the C ABI returns a status; `call` turns it into an exception. The functions release the GIL
while they run.
"""

import ctypes
import os
from collections.abc import Sequence
from pathlib import Path

ABI_VERSION = 2
LIBRARY = Path(__file__).with_name("_native.so")


class EngineUnavailable(RuntimeError):  # noqa: N818 - it names the outcome, as Cancelled does
    """The engine asked for is unknown, or the build or the CPU lacks it."""


class Cancelled(Exception):  # noqa: N818 - an outcome that the caller asked for, not a fault
    """The caller said stop: between two stages, or by a flag that is watched (see `kernels.flag`)."""


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
    "cuzk_bases_multiply_all": (_POINTER, _SIZE, _POINTER, _SIZE, _POINTER, _POINTER, _INT),
    "cuzk_table_choose": (_INT, _INT, _SIZE, _POINTER, _POINTER, _POINTER),
    "cuzk_table_build": (
        *(_INT, _INT, _POINTER, _POINTER, _SIZE),
        *(_INT, _INT, _INT, _POINTER, _INT),
    ),
    "cuzk_windows_combine": (_INT, _INT, _POINTER, _SIZE, _INT, _POINTER),
    "cuzk_ntt": (_INT, _POINTER, _INT, _INT, _POINTER, _INT),
    "cuzk_quotient": (_INT, _POINTER, _POINTER, _INT, _POINTER, _INT),
    "cuzk_constraints_evaluate": (
        *(_INT, _POINTER, _SIZE, _POINTER, _SIZE, _SIZE),
        *(_POINTER, _POINTER, _INT, _POINTER),
    ),
    "cuzk_pairing_product": (_INT, _POINTER, _POINTER, _SIZE, _POINTER, _POINTER, _POINTER),
    "cuzk_miller_loop": (_INT, _POINTER, _POINTER, _POINTER),
    "cuzk_pairing_line_count": (_INT, _POINTER),
    "cuzk_pairing_lines": (_INT, _POINTER, _POINTER),
    "cuzk_prepared_product": (
        *(_INT, _POINTER, _POINTER, _SIZE),
        *(_POINTER, _POINTER, _SIZE, _POINTER, _POINTER),
    ),
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
    for name in ("cuzk_bases_free", "cuzk_watch_flag"):
        getattr(library, name).argtypes = (_POINTER,)
        getattr(library, name).restype = None
    return library


LIB = _open()


def call(name: str, *arguments: object) -> None:
    """Call a function of the C ABI.

    Raises MemoryError, EngineUnavailable, Cancelled, ValueError (an argument the Python side let through)
    or RuntimeError.
    """
    status = getattr(LIB, name)(*arguments)
    if status == 0:
        return
    if status == -1:
        raise ValueError(f"{name}: bad argument")
    if status == -2:
        raise MemoryError(f"{name}: out of memory")
    if status == -5:
        raise Cancelled
    if status == -3:
        wanted = os.environ.get("CUZKWEB_ENGINE", "auto")
        raise EngineUnavailable(f"no such engine here (CUZKWEB_ENGINE is {wanted!r})")
    raise RuntimeError(f"{name}: internal error {status}")


def thread_count(threads: int) -> int:
    """How many threads to use: 0 means every core this process may run on. Raises ValueError below 0."""
    if threads < 0:
        raise ValueError(f"threads must be 0 (all cores) or more, not {threads}")
    return threads or len(os.sched_getaffinity(0))
