"""Whether this process could serve a request: database, migrations, the server of live state."""

from __future__ import annotations

from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor
from redis.exceptions import RedisError

from proving.services import live


def check_readiness() -> dict[str, bool]:
    """Each thing that is needed, by name, and whether it is there."""
    database = _database_answers()
    return {
        "database": database,
        "migrations": database and _migrations_applied(),
        "redis": _redis_answers(),
    }


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
