"""Faults of every kind rain on a service that proves; the account is taken when the sky is clear again."""

import hashlib
import os
import random
import signal
import statistics
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

import httpx
from redis.exceptions import RedisError

from cuzkweb.client import ApiError, Client, Job, ProvedPartition, State
from cuzkweb.demo.membership import example_inputs
from proving.groth16.objects import VerifyingKey
from proving.tracker.store import Store
from tests.support.chaos.faults import KINDS, Kind, NotNow
from tests.support.chaos.judge import Judge, judging
from tests.support.chaos.site import Site, Spare
from tests.support.ledger import leftovers
from tests.support.processes import wait_for
from tests.support.soak import count_attempts, is_ready, missing, register
from tests.support.stack import DEPLOYMENT

Answer = TypeVar("Answer")

PATIENCE_SECONDS = 900.0
CALM_SECONDS = 60.0
INSIST_SECONDS = 120.0
TRY_AGAIN_SECONDS = 0.5
AWAY = (httpx.HTTPError, ApiError)


@dataclass(frozen=True)
class Struck:
    """A fault that acted: its kind, on what, and when, by time.monotonic()."""

    kind: str
    victim: str
    began: float
    ended: float


@dataclass
class Storm:
    """What happened. `wrong` is empty when all is well."""

    partitions: int = 0
    seconds: float = 0.0
    struck: list[Struck] = field(default_factory=list)
    idle: Counter[str] = field(default_factory=Counter)
    readings: int = 0
    attempts: int = 0
    states: Counter[str] = field(default_factory=Counter)
    recoveries: dict[str, list[float]] = field(default_factory=dict)
    wrong: list[str] = field(default_factory=list)
    spare_states: Counter[str] = field(default_factory=Counter)
    poison_kills: int = 0

    def __str__(self) -> str:
        told = ", ".join(f"{count} {state}" for state, count in sorted(self.states.items()))
        return (
            f"{self.partitions} partitions in {self.seconds:.0f} s by {self.attempts} attempts; {told}; "
            f"{len(self.struck)} faults of {len({one.kind for one in self.struck})} kinds; "
            f"{self.readings} readings of the status; {len(self.wrong)} things wrong; "
            f"with a spoiled key: {dict(self.spare_states)}; the poison partition killed {self.poison_kills}"
        )

    def table(self) -> str:
        """A line of Markdown for each kind: how often, and the seconds until a partition that was begun
        after it was done."""
        lines = ["| fault | times | median s | longest s |", "| --- | ---: | ---: | ---: |"]
        for kind in KINDS:
            times = sum(one.kind == kind.name for one in self.struck)
            found = self.recoveries.get(kind.name, [])
            told = f"{statistics.median(found):.1f} | {max(found):.1f}" if found else "- | -"
            lines.append(f"| {kind.name} | {times} | {told} |")
        return "\n".join(lines)


@dataclass
class Load:
    """Jobs that are sent while it storms: sent again until the service has taken them."""

    site: Site
    circuit: str
    jobs: dict[str, int] = field(default_factory=dict)

    def send(self, name: str, count: int, first: int = 0, **options: str) -> None:
        inputs = [example_inputs(first + index) for index in range(count)]
        self.jobs[name] = count
        persist(lambda client: client.submit(self.circuit, inputs, request_id=name, **options), self.site)

    def unfinished(self) -> int:
        """Partitions of jobs that have not ended; jobs that cannot be asked for count as a whole."""
        left = 0
        for name, count in self.jobs.items():
            if name not in self._ended:
                job = self._look(name)
                open_ones = [row for row in job.partitions if row.state.value not in ENDED] if job else None
                left += count if open_ones is None else len(open_ones)
                if job and job.terminal:
                    self._ended.add(name)
        return left

    def _look(self, name: str) -> Job | None:
        with suppress(*AWAY), self.site_client() as client:
            return client.job(name)
        return None

    def site_client(self) -> Client:
        return Client(self.site.stack.state()["web"], self.site.stack.credentials()["api_key"])

    _ended: set[str] = field(default_factory=set)


ENDED = {"done", "failed", "cancelled"}


def persist(ask: Callable[[Client], Answer], site: Site) -> Answer:
    """Ask until there is an answer: what a caller with a request_id may do without harm."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while True:
        try:
            with Client(site.stack.state()["web"], site.stack.credentials()["api_key"]) as client:
                return ask(client)
        except AWAY as error:
            if isinstance(error, ApiError) and error.status < 500:
                raise
            if time.monotonic() > deadline:
                raise
            time.sleep(TRY_AGAIN_SECONDS)


class Weather:
    """Faults one after another, each in a thread of its own: one that lasts does not stop the next."""

    def __init__(self, site: Site, judge: Judge, seed: int, say: Callable[[str], None]) -> None:
        self._site, self._judge, self._say = site, judge, say
        self._chance = random.Random(seed)
        self._places: dict[str, threading.Lock] = defaultdict(threading.Lock)
        self._threads: list[threading.Thread] = []
        self._left: list[Kind] = []
        self.kinds = [kind for kind in KINDS if kind.possible(site)]
        self.struck: list[Struck] = []
        self.idle: Counter[str] = Counter()
        self.errors: list[str] = []

    def strike(self, kind: Kind) -> None:
        """Begin a fault."""
        seed = self._chance.random()
        thread = threading.Thread(target=self._act, args=(kind, random.Random(seed)), daemon=True)
        self._threads = [one for one in self._threads if one.is_alive()] + [thread]
        thread.start()

    def clear(self) -> None:
        """Wait until every fault is over."""
        for thread in self._threads:
            thread.join(60)
        self._threads.clear()

    def rain(self, pause: float, over: threading.Event) -> None:
        """A random fault every `pause` seconds. Every kind comes before one comes again."""
        while not over.wait(pause):
            if not self._left:
                self._left = self._chance.sample(self.kinds, len(self.kinds))
            self.strike(self._left.pop())

    def missing(self) -> set[str]:
        """The kinds that could act here and have not acted yet."""
        return {kind.name for kind in self.kinds} - {one.kind for one in self.struck}

    def _act(self, kind: Kind, chance: random.Random) -> None:
        place = self._places[kind.place or f"{id(chance)}"]
        with place:
            began = time.monotonic()
            try:
                with self._judge.losing() if kind.lossy else nullcontext():
                    victim = kind.act(self._site, chance)
            except NotNow:
                self.idle[kind.name] += 1
                self._left.insert(0, kind)
                self._say(f"{kind.name}: nothing to do it to")
                return
            except Exception as error:  # noqa: BLE001 - told in the account
                self.errors.append(f"the saboteur of '{kind.name}' failed: {error!r}")
                return
            self.struck.append(Struck(kind.name, victim, began, time.monotonic()))
            self._say(f"{kind.name}: {victim}")


def settle(site: Site, load: Load) -> None:
    """Wait until every job has ended, in calm."""
    wait_for(lambda: load.unfinished() == 0, "every job has ended", PATIENCE_SECONDS)


def all_ready(site: Site) -> bool:
    """Whether every worker has said that it is ready, in its present life."""
    try:
        return all(is_ready(site.stack, name) for name in ("gpu0", "gpu1", "synthesis", "finalize"))
    except (KeyError, TypeError, FileNotFoundError, AssertionError):
        return False


def account(site: Site, load: Load, key: VerifyingKey, storm: Storm) -> None:
    """The ledger: every job has ended, each partition of a job that is done has one valid proof made by one
    attempt, what is stored counts up to what was asked for, and nothing is left lying about."""
    for name, count in load.jobs.items():
        job = persist(lambda client, name=name: client.job(name), site)
        storm.states[job.state] += 1
        if len(job.partitions) != count or not job.terminal:
            storm.wrong.append(f"{name}: {job.state} with {len(job.partitions)} of {count} partitions")
        proofs = [
            ProvedPartition(row["index"], row["proof"], row["public"]) for row in partial_proofs(site, name)
        ]
        if job.state == State.DONE:
            storm.wrong += [f"{name}: {told}" for told in missing(key, proofs, count)]
            storm.attempts += count_attempts(site.stack, name, storm.wrong)
    with site.client() as client:
        try:
            wait_for(lambda: not leftovers(site.stack, client), "nothing is left", CALM_SECONDS)
        except AssertionError:
            storm.wrong += leftovers(site.stack, client)


def account_for_spare(site: Site, key: VerifyingKey, storm: Storm) -> None:
    """A job whose key was spoiled under it ends, and hands out good proofs or none."""
    for name in site.spare.jobs if site.spare else ():
        job = persist(lambda client, name=name: client.wait(name, timeout=PATIENCE_SECONDS), site)
        storm.spare_states[job.state] += 1
        rows = partial_proofs(site, name)
        proofs = [ProvedPartition(row["index"], row["proof"], row["public"]) for row in rows]
        if proofs:
            storm.wrong += [f"{name}: {told}" for told in missing(key, proofs, len(job.partitions))]
        if not job.terminal:
            storm.wrong.append(f"{name}: {job.state}")


@dataclass
class Poison:
    """A job of one partition that kills every worker that takes it."""

    site: Site
    name: str = "poison"
    kills: int = 0

    def watch(self, over: threading.Event) -> None:
        """Kill whoever holds the partition, until told to stop."""
        with self.site.client() as client:
            store = Store(client, DEPLOYMENT)
            while not over.wait(0.05):
                with suppress(RedisError, ProcessLookupError, AttributeError):
                    holder = store.partition(self.name, 0).assignment.worker
                    victim = store.worker(holder).spec.pid
                    if self.site.owns(victim):
                        os.kill(victim, signal.SIGKILL)
                        self.kills += 1


@contextmanager
def poisoning(site: Site) -> Iterator[Poison]:
    """A poison partition is about from entering to leaving."""
    over, poison = threading.Event(), Poison(site)
    thread = threading.Thread(target=poison.watch, args=(over,), daemon=True)
    thread.start()
    try:
        yield poison
    finally:
        over.set()
        thread.join()


def account_for_poison(poison: Poison, found: Storm) -> None:
    """The poison job has failed, after no more attempts than it may have, and says why."""
    job = persist(lambda client: client.wait(poison.name, timeout=PATIENCE_SECONDS), poison.site)
    found.poison_kills = poison.kills
    if job.state != State.FAILED or "lost" not in (job.error or ""):
        found.wrong.append(f"the poison job: {job.state}, {job.error}")


def partial_proofs(site: Site, name: str) -> Sequence[dict]:
    """The proofs of a job, or nothing where the service hands none out."""
    try:
        answer = persist(lambda client: client._ask("GET", f"/api/v1/jobs/{name}/proof"), site)
    except ApiError:
        return []
    found: list[dict] = answer["proofs"]
    return found


def add_spare(site: Site, folder: Path) -> VerifyingKey:
    """Register the second circuit, with a key of its own."""
    circuit, key = register(site.stack, folder, name="spare")
    digest = hashlib.sha256((folder / "membership.zkey").read_bytes()).hexdigest()
    stored = [path for path in (site.stack.home / "artefacts").rglob(f"*{digest}*") if path.is_file()]
    site.spare = Spare(circuit, stored[0])
    return key


@contextmanager
def raining(weather: Weather, pause: float) -> Iterator[None]:
    """Random faults from entering to leaving."""
    over = threading.Event()
    thread = threading.Thread(target=weather.rain, args=(pause, over), daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
        weather.clear()


def storm(
    site: Site,
    folder: Path,
    *,
    partitions: int,
    a_job: int,
    seconds: float,
    pause: float,
    seed: int,
    insist: bool = False,
    say: Callable[[str], None] = lambda _: None,
) -> Storm:
    """So many partitions, sent in jobs over so many seconds, while a fault begins every `pause` seconds.

    With `insist` it storms on until every kind that is possible here has happened.
    """
    circuit, key = register(site.stack, folder)
    spare_key = add_spare(site, folder / "spare")
    load, found = Load(site, circuit), Storm(partitions)
    started = time.monotonic()
    with judging(site, Judge()) as judge, poisoning(site) as poison:
        weather = Weather(site, judge, seed, say)
        with raining(weather, pause):
            load.send(poison.name, 1)
            jobs = partitions // a_job
            for number in range(jobs):
                load.send(f"storm-{number}", a_job, number * a_job)
                say(f"job {number} of {jobs} sent; {len(judge.ended)} partitions seen done")
                time.sleep(max(0.0, started + (number + 1) * seconds / jobs - time.monotonic()))
            wait_for(
                lambda: time.monotonic() > started + seconds and not (insist and weather.missing()),
                f"everything has happened but {weather.missing()}",
                seconds + INSIST_SECONDS,
            )
        settle(site, load)
        account_for_poison(poison, found)
        found.seconds = time.monotonic() - started
    found.struck, found.idle, found.readings = weather.struck, weather.idle, judge.readings
    found.wrong += [*judge.wrong, *weather.errors]
    del load.jobs[poison.name]
    account_for_spare(site, spare_key, found)
    account(site, load, key, found)
    note_recoveries(found, judge)
    return found


def note_recoveries(found: Storm, judge: Judge) -> None:
    """For each kind, how long it took until something begun afterwards was done."""
    for one in found.struck:
        span = judge.recovery(one.began)
        if span is not None:
            found.recoveries.setdefault(one.kind, []).append(span)
