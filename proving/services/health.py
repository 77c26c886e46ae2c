"""Whether this process could serve a request: database, migrations, live state, room on the disk."""

from __future__ import annotations

import os
import shutil

from django.conf import settings
from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor
from redis.exceptions import RedisError

from proving import storage
from proving.services import live


def check_readiness() -> dict[str, bool]:
    """Each thing that is needed, by name, and whether it is there."""
    database = _database_answers()
    checks = {
        "database": database,
        "migrations": database and _migrations_applied(),
        "redis": _redis_answers(),
        "eviction": _keeps_everything(),
        "spool": _has_room(),
    }
    return {**checks, "storage": _storage_answers()} if storage.is_shared() else checks


def _database_answers() -> bool:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
            return bool(cursor.fetchone() == (1,))
    except DatabaseError:
        return False


def _migrations_applied() -> bool:
    executor = MigrationExecutor(connection)
    return not executor.migration_plan(executor.loader.graph.leaf_nodes())


def _redis_answers() -> bool:
    try:
        return bool(live.redis().ping())
    except RedisError:
        return False


def _storage_answers() -> bool:
    """Whether the storage that the hosts share can be asked for something."""
    try:
        storage.exists("spool/nothing")
    except OSError:
        return False
    return True


def _keeps_everything() -> bool:
    """Whether the server would rather refuse than drop live state when its memory is full."""
    try:
        told = live.redis().info("memory")
    except RedisError:
        return False
    return told.get("maxmemory_policy") == "noeviction" or told.get("maxmemory") == 0


def _has_room() -> bool:
    """Whether inputs and what passes between stages can be written."""
    home = settings.CUZKWEB_HOME
    try:
        free = shutil.disk_usage(home).free
    except OSError:
        return False
    return os.access(home, os.W_OK) and free >= int(settings.CUZKWEB_MIN_FREE_BYTES)
