"""What a partition's whole life costs the server of the live state: `python -m tests.benchmarks.lives`.

The figures are processor time, so that other work on the machine shows little. See docs/scale.md.
"""

import time

import redis

from proving.tracker.store import Store
from tests.benchmarks.tracker import processor_seconds
from tests.support.tracker import Driver, device
from tests.support.valkey import running_valkey

JOBS, PARTITIONS = 20, 16
TRANSITIONS = 6
"""Of a life without heartbeats: three claims, three ends."""
DEVICES = (1, 100, 1_000)


def main() -> None:
    print("devices   server ms a transition   worker ms a transition   transitions a second   commands")
    with running_valkey() as socket, redis.Redis(unix_socket_path=str(socket)) as client:
        for devices in DEVICES:
            measure(client, devices)


def measure(client: redis.Redis, devices: int) -> None:
    """One line of the table: lives one after the other, while so many devices are known."""
    client.flushall()
    store = Store(client, lease_seconds=600.0, host_budget_bytes=10**12)
    driver = Driver(store)
    for number in range(devices):
        store.register_worker(device(f"gpu{number}@host", pid=number, ordinal=number))
    for number in range(JOBS):
        driver.open(f"job-{number:04d}", PARTITIONS, submitted_at=1_000.0 + number, host_bytes=100)
    server, process, commands = processor_seconds(client), time.process_time(), count(client)
    started = time.perf_counter()
    for number in range(JOBS):
        for index in range(PARTITIONS):
            driver.done(index, job=f"job-{number:04d}", worker=f"gpu{number % devices}@host")
    taken, lives = time.perf_counter() - started, JOBS * PARTITIONS
    each = [
        1e3 * spent / lives / TRANSITIONS
        for spent in (processor_seconds(client) - server, time.process_time() - process)
    ]
    rate, asked = lives * TRANSITIONS / taken, (count(client) - commands) / lives / TRANSITIONS
    print(f"{devices:7}   {each[0]:22.3f}   {each[1]:22.3f}   {rate:20.0f}   {asked:8.1f}")


def count(client: redis.Redis) -> int:
    """Commands that the server has executed."""
    return int(client.info("stats")["total_commands_processed"])


if __name__ == "__main__":
    main()
