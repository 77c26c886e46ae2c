"""Which engine does the heavy work in this process.

CUZKWEB_ENGINE names one: portable, avx2, or auto (the fastest that this CPU and build have). It is read
when the first kernel runs.
"""

import ctypes

from kernels.native import EngineUnavailable, call

__all__ = ["NAMES", "EngineUnavailable", "available", "engine_name", "use"]

NAMES = ("portable", "avx2")


def engine_name() -> str:
    """The engine of this process: "avx2" or "portable".

    Raises EngineUnavailable when CUZKWEB_ENGINE asks in vain.
    """
    name = ctypes.c_char_p()
    call("cuzk_selected_engine", ctypes.byref(name))
    return (name.value or b"").decode()


def use(name: str) -> None:
    """Use that engine ("portable", "avx2" or "auto") in this process from now on.

    Bases that are loaded already stay with the engine that loaded them. Raises EngineUnavailable.
    """
    try:
        call("cuzk_select_engine", name.encode())
    except EngineUnavailable:
        raise EngineUnavailable(f"the engine {name!r} is unknown, or this build or CPU lacks it") from None


def available() -> tuple[str, ...]:
    """The engines that this build and CPU have."""
    return tuple(name for name in NAMES if _has(name))


def _has(name: str) -> bool:
    found = ctypes.c_int()
    call("cuzk_has_engine", name.encode(), ctypes.byref(found))
    return bool(found.value)
