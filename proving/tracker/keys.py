"""The names of the Redis keys. All of a deployment share one hash tag, so that they share one slot."""

from dataclasses import dataclass

from proving.tracker.records import Phase

WAITING_PHASES = (Phase.PENDING, Phase.SYNTH_DONE, Phase.FINALIZING)
"""The phases with a line of partitions that nobody works on."""


LAYOUT = 3
"""Grows whenever records or indexes change their form. A live state of an older form is not read: it counts
as lost, and is rebuilt from the database."""


@dataclass(frozen=True, slots=True)
class Keys:
    deployment: str

    @property
    def prefix(self) -> str:
        return f"{{cuzk:{self.deployment}}}:{LAYOUT}:"

    def name(self, *parts: object) -> str:
        return self.prefix + ":".join(str(part) for part in parts)

    def job(self, job_id: str) -> str:
        return self.name("job", job_id)

    def partition(self, job_id: str, index: int) -> str:
        return self.name("partition", job_id, index)

    def worker(self, name: str) -> str:
        return self.name("worker", name)

    def recent(self, worker: str) -> str:
        """A device worker's finished spells, newest last."""
        return self.name("recent", worker)

    def waiting(self, phase: Phase) -> str:
        """Sorted: what waits in this phase, in the order in which it should be taken."""
        return self.name("waiting", phase)

    def tally(self, job_id: str) -> str:
        """How many partitions of a job are where; see `tally`."""
        return self.name("tally", job_id)

    def changed(self, job_id: str) -> str:
        """The version of the live state in which a job changed last."""
        return self.name("changed", job_id)

    @property
    def jobs(self) -> str:
        """Sorted: the live jobs, by priority and then by age."""
        return self.name("jobs")

    @property
    def pace(self) -> str:
        """Seconds and counts of what was done, by circuit and phase."""
        return self.name("pace")

    @property
    def workers(self) -> str:
        return self.name("workers")

    @property
    def worker_ids(self) -> str:
        return self.name("worker-ids")

    @property
    def leases(self) -> str:
        """Sorted by expiry: the partitions that somebody holds."""
        return self.name("leases")

    @property
    def deadlines(self) -> str:
        return self.name("deadlines")

    @property
    def assemblies(self) -> str:
        return self.name("assemblies")

    @property
    def ended(self) -> str:
        return self.name("ended")

    @property
    def held(self) -> str:
        """Bytes held, by host and by device."""
        return self.name("held")

    @property
    def faults(self) -> str:
        """How often the results of each device were wrong."""
        return self.name("faults")

    @property
    def fault_notes(self) -> str:
        """The last fault of each device: when and what."""
        return self.name("fault-notes")

    @property
    def claims(self) -> str:
        """How many claims were granted, each under an epoch of its own."""
        return self.name("claims")

    @property
    def rev(self) -> str:
        return self.name("rev")

    @property
    def counters(self) -> str:
        return self.name("counters")

    @property
    def refusals(self) -> str:
        return self.name("refusals")

    @property
    def stale(self) -> str:
        return self.name("stale")

    @property
    def started(self) -> str:
        return self.name("started")

    @property
    def stops(self) -> str:
        """The channel on which a job is named that was told to stop while somebody works on it: a hint to
        ask now instead of at the next heartbeat."""
        return self.name("stops")

    @property
    def events(self) -> str:
        """A capped stream of what moved."""
        return self.name("events")


def member(job_id: str, index: int) -> str:
    """A partition as a member of a sorted set; equal scores sort by job, then by index."""
    return f"{job_id}/{index:08d}"


def parse_member(name: str) -> tuple[str, int]:
    job_id, _, index = name.rpartition("/")
    return job_id, int(index)
