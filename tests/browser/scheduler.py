"""Status documents worked out by a small scheduler: whatever the moment, they are of one piece."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

Document = dict[str, Any]
GIB = 2**30
NEVER = float("inf")
PENDING, SYNTHESIZING, SYNTH_DONE, GPU, FINALIZING, DONE, FAILED = (
    "pending",
    "synthesizing",
    "synth_done",
    "gpu",
    "finalizing",
    "done",
    "failed",
)


@dataclass(frozen=True)
class Work:
    """A job as it is submitted: seconds count from the start of the afternoon, durations are typical ones."""

    job_id: str
    kind: str
    size: int
    submitted: float
    synth: float
    gpu: float
    finalize: float
    circuit: str
    label: str = ""
    priority: str = "normal"
    deadline: float | None = None
    devices: tuple[str, ...] = ("gpu0@prover-a", "gpu1@prover-a")
    fails: dict[int, str] = field(default_factory=dict)
    loses: dict[int, str] = field(default_factory=dict)
    bytes: int = 5 * GIB
    held: bool = False

    @property
    def host(self) -> str:
        return self.devices[0].partition("@")[2]


@dataclass
class Course:
    """What becomes of one partition."""

    work: Work
    index: int
    queued: float
    synth_started: float = NEVER
    synth_ended: float = NEVER
    waits: float = NEVER
    gpu_started: float = NEVER
    gpu_ended: float = NEVER
    ended: float = NEVER
    synthesizer: str = ""
    device: str = ""
    past: list[Document] = field(default_factory=list)

    def state(self, now: float) -> str:
        if now < self.synth_started:
            return PENDING
        if now < self.synth_ended:
            return SYNTHESIZING
        if now < self.gpu_started:
            return SYNTH_DONE
        if now < self.gpu_ended:
            return GPU
        if self.index in self.work.fails:
            return FAILED
        return FINALIZING if now < self.ended else DONE


@dataclass(frozen=True)
class Spell:
    """A device's time on a partition."""

    device: str
    course: Course
    attempt: int
    start: float
    end: float
    outcome: str


class Afternoon:
    """Runs the works through a few synthesis slots and devices, first come first served."""

    def __init__(
        self, works: Iterable[Work], devices: dict[str, str], slots: dict[str, int], began: float = 0
    ) -> None:
        self.works = list(works)
        self.devices = devices
        self.slots = slots
        self.began = began
        self.spells: list[Spell] = []
        self.courses = [Course(w, i, w.submitted) for w in self.works for i in range(w.size)]
        self._synthesize()
        self._prove()

    @staticmethod
    def _jitter(course: Course, salt: int) -> float:
        return 0.85 + 0.3 * ((course.index * 7919 + salt * 104729) % 97) / 97

    def _synthesize(self) -> None:
        free = {f"synthesis@{host}/{n + 1}": 0.0 for host, count in self.slots.items() for n in range(count)}
        for c in sorted(self.courses, key=lambda c: (c.queued, c.index)):
            if c.work.held:
                continue
            c.synthesizer = min(
                (name for name in free if f"@{c.work.host}/" in name), key=lambda name: free[name]
            )
            c.synth_started = max(c.queued + 0.2, free[c.synthesizer])
            c.synth_ended = c.synth_started + c.work.synth * self._jitter(c, 1)
            free[c.synthesizer] = c.synth_ended
            c.waits = c.synth_ended

    def _prove(self) -> None:
        free = dict.fromkeys(self.devices, 0.0)
        waiting = sorted((c for c in self.courses if not c.work.held), key=lambda c: c.waits)
        while waiting:
            c = waiting.pop(0)
            device = min(c.work.devices, key=lambda name: free[name])
            start = max(c.waits + 0.1, free[device])
            length = c.work.gpu * self._jitter(c, 2)
            attempt = len(c.past) + 1
            if c.index in c.work.loses and attempt == 1:
                lost = start + length * 0.4
                self._lose(c, device, start, lost)
                free[device] = lost + 4
                waiting = sorted([*waiting, c], key=lambda c: c.waits)
                continue
            c.device, c.gpu_started, c.gpu_ended = device, start, start + length
            c.ended = c.gpu_ended + c.work.finalize * self._jitter(c, 3)
            free[device] = c.gpu_ended + 0.05
            self.spells.append(
                Spell(device, c, attempt, start, c.gpu_ended, "failed" if c.index in c.work.fails else "done")
            )

    def _lose(self, c: Course, device: str, start: float, lost: float) -> None:
        c.past.append(
            {
                "attempt": 1,
                "outcome": "lost",
                "worker": device,
                "error": c.work.loses[c.index],
                "synth_started_at": c.synth_started,
                "synth_ended_at": c.synth_ended,
                "wait_started_at": c.waits,
                "gpu_started_at": start,
                "ended_at": lost,
            }
        )
        c.waits = lost
        self.spells.append(Spell(device, c, 1, start, lost, "lost"))

    def document(self, now: float) -> Document:
        """The status at `now`, seconds from the start of the afternoon."""
        live = [w for w in self.works if w.submitted <= now and self._is_live(w, now)]
        hosts = self._hosts(live, now)
        free = {host["host"]: host["available_bytes"] for host in hosts}
        pipelines = [self._pipeline(w, now, free[w.host]) for w in live]
        partitions = [p for pipeline in pipelines for p in pipeline["partitions"]]
        tally = defaultdict(int)
        for p in partitions:
            tally[p["state"]] += 1
        return {
            "rev": int(now * 10),
            "generated_at": self.began + now,
            "consistent": True,
            "uptime_secs": 274000 + now,
            "memory": {
                **{
                    name: sum(h[name] for h in hosts)
                    for name in ("total_bytes", "used_bytes", "available_bytes")
                },
                "hosts": hosts,
            },
            "synthesis": {"max_concurrent": sum(self.slots.values()), "active": tally[SYNTHESIZING]},
            "pipelines": pipelines,
            "gpu_workers": [self._worker(n, name, now) for n, name in enumerate(self.devices)],
            "workers": self._helpers(now),
            "allocations": {"srs": self._keys(hosts), "pce": []},
            "counters": {
                "total_completed": 12408,
                "total_failed": 3,
                "total_cancelled": 12,
                "completed_by_kind": {"groth16": 11593, "snap-update": 611, "porep-c2": 204},
                "failed_by_kind": {"snap-update": 2, "groth16": 1},
                "queue_depth": tally[PENDING] + tally[SYNTH_DONE],
                "stale_writes_total": 7,
            },
            "buffers": {"synth_in_flight": tally[SYNTHESIZING], "provers_in_flight": tally[GPU]},
        }

    def _is_live(self, work: Work, now: float) -> bool:
        ends = [c.ended for c in self.courses if c.work is work]
        return now < max(ends) + 20

    def _time(self, seconds: float, now: float) -> float | None:
        return round(self.began + seconds, 3) if seconds <= now else None

    def _pipeline(self, work: Work, now: float, free: int) -> Document:
        courses = [c for c in self.courses if c.work is work]
        partitions = [self._partition(c, now) for c in courses]
        return {
            "job_id": work.job_id,
            "proof_kind": work.kind,
            "started_secs_ago": now - work.submitted,
            "total_partitions": work.size,
            "partitions_done": sum(p["state"] == DONE for p in partitions),
            "priority": work.priority,
            "label": work.label,
            "circuit_id": work.circuit,
            "circuit_name": work.circuit,
            "submitted_at": self.began + work.submitted,
            "deadline": None if work.deadline is None else self.began + work.deadline,
            "eta_at": self._estimate(work, courses, now),
            "waiting_for": self._shortage(work, free) if work.held else None,
            "partitions": partitions,
        }

    def _estimate(self, work: Work, courses: list[Course], now: float) -> float | None:
        end = max(c.ended for c in courses)
        return None if work.held or end <= now else round(self.began + end)

    @staticmethod
    def _shortage(work: Work, free: int) -> Document:
        return {
            "resource": "host_memory",
            "host": work.host,
            "needs_bytes": free + 4 * GIB,
            "free_bytes": free,
        }

    def _partition(self, c: Course, now: float) -> Document:
        state = c.state(now)
        lost = [h for h in c.past if h["ended_at"] <= now]
        ended = c.gpu_ended if c.index in c.work.fails else c.ended
        named = ("synth_started_at", "synth_ended_at", "wait_started_at", "gpu_started_at", "ended_at")
        began = c.past[0]["gpu_started_at"] if c.past and not lost else c.gpu_started
        if c.past and not lost and now >= began:
            state = GPU
        return {
            "index": c.index,
            "state": state,
            "attempt": len(lost) + 1,
            "max_attempts": 3,
            "worker": c.device if now >= began else c.synthesizer if now >= c.synth_started else None,
            "synth_ms": self._length(c.synth_started, c.synth_ended, now),
            "gpu_ms": self._length(began, c.gpu_ended, now),
            "queued_at": self._time(c.queued, now),
            "synth_started_at": self._time(c.synth_started, now),
            "synth_ended_at": self._time(c.synth_ended, now),
            "wait_started_at": self._time(c.waits if lost else c.synth_ended, now),
            "gpu_started_at": self._time(began, now),
            "gpu_ended_at": self._time(c.gpu_ended, now),
            "finished_at": self._time(ended, now),
            "error": c.work.fails.get(c.index) if state == FAILED else None,
            "history": [{**h, **{name: self._time(h[name], now) for name in named}} for h in lost],
        }

    @staticmethod
    def _length(start: float, end: float, now: float) -> int | None:
        return None if now < start else round((min(now, end) - start) * 1000)

    def _worker(self, number: int, name: str, now: float) -> Document:
        spells = [s for s in self.spells if s.device == name and s.start <= now]
        current = next((s for s in spells if s.end > now), None)
        past = sorted((s for s in spells if s.end <= now), key=lambda s: s.start)
        total = 24 * GIB if self.devices[name].startswith("EPYC") else 48 * GIB
        keys = sorted({w.circuit for w in self.works if name in w.devices})
        occupants = [{"kind": "key", "circuit_id": key, "bytes": total // 5} for key in keys]
        if current:
            occupants.append({"kind": "work", "circuit_id": None, "bytes": total // 6})
        return {
            "worker_id": number,
            "gpu_ordinal": number,
            "state": "proving" if current else "idle",
            "current_job": current.course.work.job_id if current else None,
            "current_partition": current.course.index if current else None,
            "busy_secs": now - current.start if current else 0,
            "name": name,
            "device": "host" if total < 40 * GIB else f"cuda:{number}",
            "model": self.devices[name],
            "host": name.partition("@")[2],
            "version": "0.9.0",
            "last_seen_secs_ago": 0.4,
            "idle_since": None if current else self.began + (past[-1].end if past else 0),
            "resident_keys": keys,
            "memory": {
                "total_bytes": total,
                "used_bytes": sum(o["bytes"] for o in occupants),
                "occupants": occupants,
            },
            "recent": [
                [
                    s.course.work.job_id,
                    s.course.index,
                    s.attempt,
                    self.began + s.start,
                    self.began + s.end,
                    s.outcome,
                ]
                for s in past
                if s.end > now - 900
            ],
        }

    def _helpers(self, now: float) -> list[Document]:
        busy = {c.synthesizer: c for c in self.courses if c.synth_started <= now < c.synth_ended}
        names = [f"synthesis@{host}/{n + 1}" for host, count in self.slots.items() for n in range(count)]
        return [
            {
                "name": name,
                "kind": "synthesis",
                "host": name.partition("@")[2].partition("/")[0],
                "state": "working" if name in busy else "idle",
                "current_job": busy[name].work.job_id if name in busy else None,
                "current_partition": busy[name].index if name in busy else None,
                "version": "0.9.0",
                "last_seen_secs_ago": 0.7,
            }
            for name in names
        ]

    def _hosts(self, live: list[Work], now: float) -> list[Document]:
        hosts = []
        for host, total in (("prover-a", 173 * GIB), ("prover-b", 64 * GIB)):
            occupants: list[Document] = []
            here = [w for w in live if w.host == host]
            for work in here:
                held = sum(c.work is work and c.synth_started <= now < c.gpu_ended for c in self.courses)
                if held:
                    occupants.append(
                        {"kind": "partitions", "job_id": work.job_id, "bytes": held * work.bytes}
                    )
            occupants += [
                {
                    "kind": "srs",
                    "circuit_id": circuit,
                    "bytes": total // 6,
                    "evictable": circuit.startswith("rollup"),
                }
                for circuit in sorted({w.circuit for w in here})
            ]
            used = sum(o["bytes"] for o in occupants)
            free = total - used
            hosts.append(
                {
                    "host": host,
                    "total_bytes": total,
                    "used_bytes": used,
                    "available_bytes": free,
                    "occupants": occupants,
                }
            )
        return hosts

    @staticmethod
    def _keys(hosts: list[Document]) -> list[Document]:
        keys = [o for host in hosts for o in host["occupants"] if o["kind"] == "srs"]
        named = ("circuit_id", "bytes", "evictable")
        return [
            {name: key[name] for name in named} | {"last_used_secs_ago": 0.4 + 30 * n}
            for n, key in enumerate(keys)
        ]
