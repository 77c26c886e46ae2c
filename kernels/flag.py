"""Stopping native work that runs: a flag that any thread raises and the working thread's calls look at."""

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager

from kernels.library import LIB


class Flag:
    """Down at first; once raised it stays up. Calling it tells whether it is up.

    So it serves as the `cancelled` of `kernels.device.Device.prove` too.
    """

    def __init__(self) -> None:
        self._word = ctypes.c_int(0)

    def __call__(self) -> bool:
        return self._word.value != 0

    def up(self) -> None:
        """Raise it."""
        self._word.value = 1

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Inside, native calls of this thread raise `Cancelled` soon after the flag is up: on a CPU within
        the time that one piece of their work takes, some ten milliseconds. They give their memory back.

        Calls of other threads are not touched, and there is no nesting.
        """
        LIB.cuzk_watch_flag(ctypes.addressof(self._word))
        try:
            yield
        finally:
            LIB.cuzk_watch_flag(None)
