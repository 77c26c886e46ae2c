"""Everything that happens to a fleet, each kind as a function that does it and makes it good again.

A kind answers with what it did to whom, or raises NotNow where it could do nothing just then.
"""

import os
import random
import resource
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import httpx
from celery import Celery
from kombu.exceptions import OperationalError as BrokerError
from redis.exceptions import RedisError

from cuzkweb.celery import configuration
from cuzkweb.client import ApiError
from cuzkweb.demo.membership import example_inputs
from tests.support.chaos.site import PROGRAMS, Site
from tests.support.ledger import messages
from tests.support.processes import children_of, wait_for
from tests.support.stack import DEPLOYMENT

FROZEN_LEASES = 2.0
BROKEN_SECONDS = 2.0
PAUSE_SECONDS = 0.5
SLOW_SECONDS = 0.05
SPOILED_BYTES = 256
WORKERS = ("synthesis", "gpu0", "gpu1", "finalize")
FORKING = ("synthesis", "finalize")
GONE = (
    *(KeyError, TypeError, AttributeError, IndexError, AssertionError),
    *(ProcessLookupError, FileNotFoundError, httpx.HTTPError, ApiError),
)
"""What looking at a process, or asking it, raises when another fault has just taken it away."""


class NotNow(Exception):  # noqa: N818
    """There was nothing to do this to."""


@dataclass(frozen=True)
class Kind:
    """A kind of fault. Two of the same `place` do not happen at once; after a lossy one the live state may
    tell less than before. It can only act on a site that has what it `needs`."""

    name: str
    act: Callable[[Site, random.Random], str]
    place: str = ""
    lossy: bool = False
    needs: str = ""

    def possible(self, site: Site) -> bool:
        return not self.needs or getattr(site, self.needs) is not None


def signalled(name: str, *numbers: signal.Signals) -> Kind:
    """One program gets these signals, one right after the other."""

    def act(site: Site, chance: random.Random) -> str:
        victim = chance.choice(PROGRAMS)
        with missing_is_not_now():
            pid = site.pid(victim)
            for number in numbers:
                os.kill(pid, number)
        return victim

    return Kind(name, act)


@contextmanager
def missing_is_not_now() -> Iterator[None]:
    try:
        yield
    except GONE as error:
        raise NotNow(repr(error)) from None


def kill_pool_child(site: Site, chance: random.Random) -> str:
    victim = chance.choice(FORKING)
    with missing_is_not_now():
        os.kill(chance.choice(children_of(site.pid(victim))), signal.SIGKILL)
    return f"a child of {victim}"


def freeze(site: Site, chance: random.Random) -> str:
    """For longer than a lease: others take over, and the zombie finishes late."""
    victim = chance.choice(WORKERS)
    with missing_is_not_now():
        pid = site.pid(victim)
        tree = [pid, *children_of(pid)]
    send(site, tree, signal.SIGSTOP)
    time.sleep(FROZEN_LEASES * site.lease)
    send(site, tree, signal.SIGCONT)
    return victim


def send(site: Site, pids: list[int], number: signal.Signals) -> None:
    for pid in pids:
        with suppress(ProcessLookupError):
            if site.owns(pid):
                os.kill(pid, number)


def restart_broker(site: Site, _: random.Random) -> str:
    site.live.kill()
    time.sleep(PAUSE_SECONDS)
    site.start(site.live)
    wait_for(site.live.answers, "the server answers again")
    return "with its file"


def restart_empty_broker(site: Site, _: random.Random) -> str:
    site.live.kill()
    shutil.rmtree(site.live.folder / "appendonlydir", ignore_errors=True)
    site.start(site.live)
    wait_for(site.live.answers, "the server answers again")
    return "without its file"


def flush(site: Site, _: random.Random) -> str:
    with broker_down_is_not_now(), site.client() as client:
        client.flushall()
    return "FLUSHALL"


@contextmanager
def broker_down_is_not_now() -> Iterator[None]:
    try:
        yield
    except (RedisError, BrokerError) as error:
        raise NotNow(repr(error)) from None


def restart_database(site: Site, _: random.Random) -> str:
    assert site.database is not None
    site.database.kill()
    time.sleep(PAUSE_SECONDS)
    site.start(site.database)
    wait_for(site.database.answers, "the database answers again")
    return "immediate shutdown, recovery"


def fill_disk(site: Site, _: random.Random) -> str:
    assert site.disk is not None
    ballast = site.disk / ".ballast"
    try:
        with ballast.open("wb", buffering=0) as file, suppress(OSError):
            while file.write(bytes(1 << 16)):
                pass
        time.sleep(BROKEN_SECONDS)
    finally:
        ballast.unlink()
    return "the spool"


def forbid_writing(site: Site, _: random.Random) -> str:
    """A file system that somebody writes to just now is busy: asked again for a while."""
    assert site.disk is not None
    deadline = time.monotonic() + 3.0
    while remount(site.disk, "ro"):
        if time.monotonic() > deadline:
            raise NotNow("busy")
        time.sleep(0.01)
    time.sleep(BROKEN_SECONDS)
    assert remount(site.disk, "rw") == 0
    return "the spool"


def remount(disk: Path, mode: str) -> int:
    command = ["mount", "-o", f"remount,{mode}", str(disk)]
    return subprocess.run(command, check=False, capture_output=True).returncode


def forbid_growth(site: Site, chance: random.Random) -> str:
    """No file that the process writes may pass a few kilobytes: what a quota does to those without root."""
    victim = chance.choice(WORKERS)
    with missing_is_not_now():
        pid = site.pid(victim)
        limit_for_a_while(pids_of(pid), resource.RLIMIT_FSIZE, lambda _: 4096)
    return victim


def starve(site: Site, chance: random.Random) -> str:
    """A worker's address space may grow no more: allocations fail, in native code too."""
    victim = chance.choice(WORKERS)
    with missing_is_not_now():
        limit_for_a_while(pids_of(site.pid(victim)), resource.RLIMIT_AS, address_space)
    return victim


def pids_of(pid: int) -> list[int]:
    return children_of(pid) or [pid]


def address_space(pid: int) -> int:
    return int(Path(f"/proc/{pid}/statm").read_text().split()[0]) * resource.getpagesize()


def limit_for_a_while(pids: list[int], what: int, limit: Callable[[int], int]) -> None:
    before = {pid: resource.prlimit(pid, what) for pid in pids}
    try:
        for pid, (_, hard) in before.items():
            resource.prlimit(pid, what, (limit(pid), hard))
        time.sleep(BROKEN_SECONDS)
    finally:
        for pid, limits in before.items():
            with suppress(ProcessLookupError):
                resource.prlimit(pid, what, limits)


def step_clock(site: Site, chance: random.Random) -> str:
    """The clock of every process of the service leaps; that of the servers does not."""
    assert site.clock is not None
    step = chance.choice([-3600.0, 3600.0])
    site.clock.step(step)
    time.sleep(BROKEN_SECONDS)
    site.clock.step(0.0)
    return f"{step:+.0f} s and back"


def deliver_again(site: Site, _: random.Random) -> str:
    """Every message that there may ever have been for what lives, three times."""
    with broker_down_is_not_now():
        sender = Celery("saboteur", set_as_current=False)
        sender.conf.update(configuration(site.live.administrator, DEPLOYMENT))
        with missing_is_not_now(), site.stack.own_client() as client:
            pipelines = client.status()["pipelines"]
        places = [
            (pipeline["job_id"], partition["index"], partition["attempt"])
            for pipeline in pipelines
            for partition in pipeline["partitions"]
        ]
        with sender.producer_or_acquire() as producer:
            for place in 3 * places[:20]:
                for task in ("synthesize", "prove", "finalize"):
                    sender.send_task(task, args=place, producer=producer, retry=False)
            for job_id in {place[0] for place in places}:
                sender.send_task("assemble", args=(job_id,), producer=producer, retry=False)
        sender.close()
    return f"{len(places)} partitions"


def lose_messages(site: Site, _: random.Random) -> str:
    with broker_down_is_not_now(), site.client() as client:
        names = messages(client)
        if not names:
            raise NotNow("no message waits")
        client.delete(*names)
    return f"{len(names)} queues"


def slow_network(site: Site, _: random.Random) -> str:
    site.wire.delay = SLOW_SECONDS
    try:
        time.sleep(BROKEN_SECONDS)
    finally:
        site.wire.delay = 0.0
    return f"{SLOW_SECONDS * 1e3:.0f} ms each way"


def cut_network(site: Site, _: random.Random) -> str:
    site.wire.cut()
    return "every connection to the server of live state"


def falsify_sums(site: Site, _: random.Random) -> str:
    """What a device made is another point of the curve by the time a finalizer reads it: the finalizers stand
    still until there is something to falsify."""
    with missing_is_not_now():
        pids = children_of(site.pid("finalize"))
    send(site, pids, signal.SIGSTOP)
    try:
        deadline = time.monotonic() + 0.6 * site.lease
        while not (found := list((site.stack.home / "spool").rglob("*.sums"))):
            if time.monotonic() > deadline:
                raise NotNow("no device has made anything")
            time.sleep(0.01)
        return f"{exchange_sums(found)} results"
    finally:
        send(site, pids, signal.SIGCONT)


def exchange_sums(paths: list[Path]) -> int:
    """Put A's sum in the place of C's and the other way round. Both are points, and neither is right."""
    import numpy as np

    done = 0
    for path in paths:
        with suppress(OSError, ValueError):
            with np.load(path, allow_pickle=False) as whole:
                arrays = dict(whole)
            arrays["a"], arrays["c"] = arrays["c"], arrays["a"]
            with path.open("r+b") as file:
                np.savez(file, **arrays)
            done += 1
    return done


def spoil_key(site: Site, chance: random.Random) -> str:
    """The key on the disk is another for a while; jobs that want it are sent just before and meanwhile."""
    assert site.spare is not None
    spare, size = site.spare, site.spare.key_file.stat().st_size
    place = chance.randrange(size // 3, size - SPOILED_BYTES)
    with spare.key_file.open("r+b") as file:
        file.seek(place)
        good = file.read(SPOILED_BYTES)
        file.seek(place)
        file.write(bytes(byte ^ 0x5A for byte in good))
        file.flush()
        try:
            name = f"spare-{len(spare.jobs)}"
            with missing_is_not_now(), site.stack.own_client() as client:
                inputs = [example_inputs(index) for index in range(2)]
                client.submit(spare.circuit, inputs, request_id=name)
                spare.jobs.append(name)
            time.sleep(BROKEN_SECONDS)
        finally:
            file.seek(place)
            file.write(good)
    return f"{SPOILED_BYTES} bytes at {place}"


KINDS = (
    signalled("SIGKILL", signal.SIGKILL),
    signalled("SIGTERM", signal.SIGTERM),
    signalled("SIGQUIT", signal.SIGQUIT),
    signalled("SIGINT twice", signal.SIGINT, signal.SIGINT),
    Kind("SIGKILL of a pool child", kill_pool_child),
    Kind("SIGSTOP past the lease, then SIGCONT", freeze),
    Kind("broker killed, back with its file", restart_broker, "broker"),
    Kind("broker killed, back without its file", restart_empty_broker, "broker", lossy=True),
    Kind("FLUSHALL", flush, "broker", lossy=True),
    Kind("database restarted", restart_database, "database", needs="database"),
    Kind("spool disk full", fill_disk, "disk", needs="disk"),
    Kind("spool read-only", forbid_writing, "disk", needs="disk"),
    Kind("files may not grow", forbid_growth, "limits"),
    Kind("no memory for a worker", starve, "limits"),
    Kind("clock step", step_clock, "clock", needs="clock"),
    Kind("every message again", deliver_again),
    Kind("every waiting message lost", lose_messages),
    Kind("slow network", slow_network, "wire"),
    Kind("network cut", cut_network, "wire"),
    Kind("key file spoiled", spoil_key, "key", needs="spare"),
    Kind("device returns wrong points", falsify_sums, "finalizers"),
)
