"""Telling what a host or a server lacks just now from what is wrong with a request or a proof."""

from __future__ import annotations

import errno
from enum import StrEnum

from django.db import InterfaceError, OperationalError, connection
from redis.exceptions import RedisError

from proving.storage import StorageAway


class Trouble(StrEnum):
    """What is to blame. It may be over in a moment; neither caller nor circuit can do anything about it."""

    STORAGE_FULL = "storage_full"
    STORAGE_UNWRITABLE = "storage_unwritable"
    OUT_OF_MEMORY = "out_of_memory"
    DATABASE_AWAY = "database_away"
    LIVE_STATE_AWAY = "live_state_away"
    STORAGE_AWAY = "storage_away"

    @property
    def words(self) -> str:
        """The same for people."""
        return WORDS[self]


WORDS = {
    Trouble.STORAGE_FULL: "there is no room left on the service's disk",
    Trouble.STORAGE_UNWRITABLE: "the service cannot write to its disk",
    Trouble.OUT_OF_MEMORY: "a worker has no memory left",
    Trouble.DATABASE_AWAY: "the database does not answer",
    Trouble.LIVE_STATE_AWAY: "the server of live state does not answer",
    Trouble.STORAGE_AWAY: "the storage that the hosts share does not answer",
}


BY_KIND: tuple[tuple[type[BaseException], Trouble], ...] = (
    (MemoryError, Trouble.OUT_OF_MEMORY),
    (OperationalError, Trouble.DATABASE_AWAY),
    (InterfaceError, Trouble.DATABASE_AWAY),
    (RedisError, Trouble.LIVE_STATE_AWAY),
    (StorageAway, Trouble.STORAGE_AWAY),
)

BY_NUMBER = {
    **dict.fromkeys((errno.ENOSPC, errno.EDQUOT, errno.EFBIG), Trouble.STORAGE_FULL),
    **dict.fromkeys((errno.EROFS, errno.EIO, errno.ESTALE), Trouble.STORAGE_UNWRITABLE),
    errno.ENOMEM: Trouble.OUT_OF_MEMORY,
}


def trouble_of(fault: BaseException) -> Trouble | None:
    """What a fault tells of the host or a server, or None where it tells of something else."""
    found = next((trouble for kind, trouble in BY_KIND if isinstance(fault, kind)), None)
    if found is None and isinstance(fault, OSError) and fault.errno is not None:
        return BY_NUMBER.get(fault.errno)
    return found


def forget_connection() -> None:
    """Have the next query of this thread connect anew: a connection to a server that restarted is dead."""
    connection.close()
