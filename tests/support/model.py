"""A small model of the tracker: what three partitions of one job, their workers and a clock must do.

It knows nothing of Redis, records or tables; the stateful test holds the real store against it.
"""

from dataclasses import dataclass

from proving.tracker.records import Assignment

TOTAL = 3
ATTEMPTS = 2
FREE_RELEASES = 1
LEASE = 60.0
DEADLINE = 240.0
WAITS_FOR = {"synthesis": "pending", "device": "synth_done", "finalize": "finalizing"}
RUNS_IN = {"synthesis": "synthesizing", "device": "gpu", "finalize": "finalizing"}
STEP = {"synthesized": "synthesizing", "hand_off": "gpu", "finish": "finalizing"}
ONWARD = {"synthesizing": "synth_done", "gpu": "finalizing", "finalizing": "done"}
BACK = {"synthesizing": "pending", "gpu": "synth_done", "finalizing": "finalizing"}
ENDS = ("done", "failed", "cancelled")


@dataclass
class Place:
    """A partition."""

    phase: str = "pending"
    attempt: int = 1
    attempts: int = ATTEMPTS
    releases: int = 0
    holder: Assignment | None = None
    lease: float = 0.0

    def fits(self, kind: str) -> bool:
        return self.phase == WAITS_FOR[kind] and self.holder is None


class Model:
    """`now` is how far the test has moved the clock; leases end by it."""

    def __init__(self) -> None:
        self.places = [Place() for _ in range(TOTAL)]
        self.now = 0.0
        self.deadline = DEADLINE
        self.stopping: str | None = None
        self.assembling: float | None = None
        self.assembled = 0
        self.finished = False

    @property
    def held(self) -> dict[str, Assignment]:
        return {place.holder.worker: place.holder for place in self.places if place.holder}

    @property
    def state(self) -> str:
        if self.finished:
            return "done"
        if self.assembling is not None:
            return "assembling"
        if self.stopping is None:
            return "running"
        if any(place.phase not in ENDS for place in self.places):
            return "cancelling"
        return "cancelled" if self.stopping == "cancelled" else "failed"

    @property
    def ended(self) -> bool:
        return self.state in ENDS

    @property
    def complete(self) -> bool:
        return all(place.phase == "done" for place in self.places)

    def first(self, kind: str) -> int | None:
        """Whose turn it is."""
        return next((i for i, place in enumerate(self.places) if place.fits(kind)), None)

    def may_claim(self, kind: str, worker: str, index: int, attempt: int) -> bool:
        place = self.places[index]
        return place.fits(kind) and place.attempt == attempt and not self.stopping and worker not in self.held

    def claim(self, kind: str, assignment: Assignment) -> None:
        place = self.places[assignment.partition]
        place.phase, place.holder, place.lease = RUNS_IN[kind], assignment, self.now + LEASE

    def onward(self, place: Place) -> None:
        self.leave(place, ONWARD[place.phase])

    def leave(self, place: Place, phase: str) -> None:
        place.holder = None
        place.phase = "cancelled" if self.stopping and phase not in ENDS else phase
        if phase == "failed":
            self.stop("failed")
        if self.stopping == "deadline" and self.complete:
            self.stopping = None

    def again(self, place: Place, back: str, *, released: bool = False) -> None:
        """What was lost, failed or handed back waits again, unless that was once too often."""
        free = released and place.releases < FREE_RELEASES
        if self.stopping:
            self.leave(place, "cancelled")
        elif place.attempt >= place.attempts and not free:
            self.leave(place, "failed")
        else:
            place.attempts += free
            place.releases += released
            place.attempt += 1
            self.leave(place, back)

    def stop(self, ending: str) -> None:
        if self.stopping is not None or self.assembling is not None or self.finished:
            return
        self.stopping = ending
        for place in self.places:
            if place.holder is None and place.phase not in ENDS:
                place.phase = "cancelled"

    def expired(self) -> set[int]:
        return {i for i, place in enumerate(self.places) if place.holder and place.lease <= self.now}
