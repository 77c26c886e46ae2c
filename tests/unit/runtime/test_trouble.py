"""What a host lacks is told from what is wrong with a request."""

import errno

import pytest
from django.db import DataError, IntegrityError, InterfaceError, OperationalError
from redis.exceptions import ConnectionError as RedisConnectionError

from proving.services.trouble import Trouble, trouble_of


@pytest.mark.parametrize(
    ("fault", "found"),
    [
        (OSError(errno.ENOSPC, ""), Trouble.STORAGE_FULL),
        (OSError(errno.EDQUOT, ""), Trouble.STORAGE_FULL),
        (OSError(errno.EFBIG, ""), Trouble.STORAGE_FULL),
        (OSError(errno.EROFS, ""), Trouble.STORAGE_UNWRITABLE),
        (OSError(errno.ENOMEM, ""), Trouble.OUT_OF_MEMORY),
        (MemoryError(), Trouble.OUT_OF_MEMORY),
        (OperationalError(), Trouble.DATABASE_AWAY),
        (InterfaceError(), Trouble.DATABASE_AWAY),
        (RedisConnectionError(), Trouble.LIVE_STATE_AWAY),
    ],
)
def test_what_is_to_blame(fault: Exception, found: Trouble) -> None:
    assert trouble_of(fault) is found
    assert found.words


@pytest.mark.parametrize(
    "fault",
    [
        FileNotFoundError(errno.ENOENT, ""),
        PermissionError(errno.EACCES, ""),
        OSError("without a number"),
        IntegrityError(),
        DataError(),
        ValueError(),
    ],
)
def test_what_waiting_does_not_mend(fault: Exception) -> None:
    assert trouble_of(fault) is None
