"""Plain reads, outside any transaction: good for finding candidates, never for deciding."""

from typing import Any

import redis

from proving.tracker import codec
from proving.tracker.keys import WAITING_PHASES, Keys
from proving.tracker.records import JobRecord, PartitionRecord, WorkerRecord

BATCH = 256


class Reader:
    def __init__(self, client: redis.Redis, keys: Keys) -> None:
        self._client: Any = client
        self._keys = keys

    def now(self) -> float:
        """The server's clock."""
        seconds, micros = self._client.time()
        return float(seconds) + float(micros) / 1e6

    def number(self, key: str) -> int:
        return int(self._client.get(key) or 0)

    def jobs(self, names: list[str]) -> list[JobRecord]:
        return [codec.load_job(data) for data in self._present([self._keys.job(name) for name in names])]

    def partitions(self, names: list[tuple[str, int]]) -> list[PartitionRecord]:
        found = self._present([self._keys.partition(job_id, index) for job_id, index in names])
        return [codec.load_partition(data) for data in found]

    def workers(self, names: list[str]) -> list[WorkerRecord]:
        return [
            codec.load_worker(data) for data in self._present([self._keys.worker(name) for name in names])
        ]

    def worker_names(self) -> list[str]:
        return sorted(raw.decode() for raw in self._client.smembers(self._keys.workers))

    def due(self, key: str, until: float) -> list[str]:
        """Members of a sorted set that are due, the oldest first, a batch of them."""
        return [raw.decode() for raw in self._client.zrangebyscore(key, "-inf", until, start=0, num=BATCH)]

    def first(self, key: str, limit: int, start: int = 0) -> list[str]:
        return [raw.decode() for raw in self._client.zrange(key, start, start + limit - 1)]

    def line_lengths(self) -> int:
        """How many stand in all lines together."""
        return sum(int(self._client.zcard(self._keys.waiting(phase))) for phase in WAITING_PHASES)

    def _present(self, names: list[str]) -> list[bytes]:
        return [data for data in self._client.mget(names) if data] if names else []
