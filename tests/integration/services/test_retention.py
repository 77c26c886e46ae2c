"""Nothing grows for ever: what is kept for a period goes after it, and nothing else does."""

import os
import time
from datetime import timedelta
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.utils import timezone
from pytest_django import Settings

from proving import spool
from proving.choices import AttemptOutcome, JobState, PartitionState, ProofKind
from proving.models import Artefact, Circuit, Job, Partition, PartitionAttempt, Proof
from proving.services import retention, upkeep

DAY = 86_400


@pytest.fixture
def circuit(alice: User) -> Circuit:
    key = Artefact.objects.create(sha256="0" * 64, size=1)
    counts = {"variable_count": 4, "public_count": 1, "domain_size": 8, "contributions": 1}
    return Circuit.objects.create(
        owner=alice, name="small", curve="bn254", proving_key=key, verifying_key={}, **counts
    )


def make_job(circuit: Circuit, name: str, age_seconds: float, state: JobState = JobState.DONE) -> Job:
    """A job of one partition with its attempt and its proof, that ended so long ago."""
    then = timezone.now() - timedelta(seconds=age_seconds)
    ended = None if state == JobState.RUNNING else then
    job = Job.objects.create(
        id=name, name=name, owner=circuit.owner, circuit=circuit, proof_kind=ProofKind.GROTH16, state=state,
        partition_count=1, submitted_at=then - timedelta(seconds=5), finished_at=ended,
    )  # fmt: skip
    partition = Partition.objects.create(job=job, index=0, state=PartitionState.DONE)
    PartitionAttempt.objects.create(
        partition=partition, attempt=1, outcome=AttemptOutcome.DONE, ended_at=then
    )
    Proof.objects.create(job=job, partition=partition, index=0, proof={}, public=[], verified_at=then)
    return job


def test_proofs_go_after_their_period_with_all_of_their_job(circuit: Circuit, settings: Settings) -> None:
    settings.CUZKWEB_KEEP_PROOFS_SECONDS = 10 * DAY
    make_job(circuit, "old", 11 * DAY)
    make_job(circuit, "young", 9 * DAY)
    make_job(circuit, "running", 30 * DAY, JobState.RUNNING)

    assert retention.forget_jobs() == 1

    assert set(Job.objects.values_list("pk", flat=True)) == {"young", "running"}
    assert Proof.objects.filter(job_id="old").count() == Partition.objects.filter(job_id="old").count() == 0
    assert Circuit.objects.count() == 1


def test_timelines_go_before_their_proofs(circuit: Circuit, settings: Settings) -> None:
    settings.CUZKWEB_KEEP_PROOFS_SECONDS, settings.CUZKWEB_KEEP_TIMELINES_SECONDS = 90 * DAY, 30 * DAY
    make_job(circuit, "old", 31 * DAY)
    make_job(circuit, "young", 29 * DAY)

    assert (retention.forget_jobs(), retention.forget_timelines()) == (0, 1)

    assert list(PartitionAttempt.objects.values_list("partition__job_id", flat=True)) == ["young"]
    assert Proof.objects.count() == 2


def test_a_period_of_zero_keeps_for_ever(circuit: Circuit, settings: Settings) -> None:
    settings.CUZKWEB_KEEP_PROOFS_SECONDS = settings.CUZKWEB_KEEP_TIMELINES_SECONDS = 0
    make_job(circuit, "ancient", 3650 * DAY)

    assert (retention.forget_jobs(), retention.forget_timelines()) == (0, 0)


def test_a_pass_works_in_batches_and_leaves_the_rest_to_the_next(
    circuit: Circuit, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(retention, "JOBS_A_BATCH", 2)
    monkeypatch.setattr(retention, "BATCHES_A_PASS", 2)
    settings.CUZKWEB_KEEP_PROOFS_SECONDS = DAY
    for number in range(5):
        make_job(circuit, f"job-{number}", (10 - number) * DAY)

    assert retention.forget_jobs() == 4
    assert list(Job.objects.values_list("pk", flat=True)) == ["job-4"], "the oldest go first"
    assert retention.forget_jobs() == 1


def test_kept_inputs_go_after_their_period(circuit: Circuit, home: Path, settings: Settings) -> None:
    settings.CUZKWEB_KEEP_INPUTS_SECONDS = 2 * 3600
    for name, age in (("old", 3 * 3600), ("young", 3600)):
        make_job(circuit, name, age)
        spool.store_input(name, 0, b"{}")
        os.utime(spool.job_folder(name), (time.time() - age,) * 2)

    assert upkeep.sweep_spool() == 1

    assert [path.name for path in spool.root().iterdir()] == ["young"]


def test_the_spool_is_swept_of_what_no_job_owns(circuit: Circuit, home: Path, settings: Settings) -> None:
    settings.CUZKWEB_KEEP_SPOOL_SECONDS = 60
    make_job(circuit, "running", 0, JobState.RUNNING)
    for name in ("running", "orphan"):
        spool.store_input(name, 0, b"{}")
        os.utime(spool.job_folder(name), (time.time() - 61,) * 2)

    assert upkeep.sweep_spool() == 1

    assert [path.name for path in spool.root().iterdir()] == ["running"]


def test_uploads_of_a_killed_process_go(home: Path, settings: Settings, db: None) -> None:
    settings.CUZKWEB_KEEP_SPOOL_SECONDS = 60
    for name, age in (("left", 61), ("fresh", 10)):
        path = home / "uploads" / name
        path.write_bytes(b"x")
        os.utime(path, (time.time() - age,) * 2)

    assert retention.sweep_uploads() == 1
    assert [path.name for path in (home / "uploads").iterdir()] == ["fresh"]


def test_expired_logins_go(db: None) -> None:
    now = timezone.now()
    Session.objects.create(session_key="old", session_data="", expire_date=now - timedelta(seconds=1))
    Session.objects.create(session_key="new", session_data="", expire_date=now + timedelta(days=1))

    assert retention.forget_sessions() == 1
    assert Session.objects.get().session_key == "new"


def test_a_month_of_load_keeps_the_database_flat(circuit: Circuit, settings: Settings) -> None:
    """Each day brings ten jobs; what was there the day before is a day older."""
    settings.CUZKWEB_KEEP_PROOFS_SECONDS, settings.CUZKWEB_KEEP_TIMELINES_SECONDS = 7 * DAY, 3 * DAY
    sizes = []
    for day in range(30):
        for number in range(10):
            make_job(circuit, f"day-{day}-{number}", 0)
        retention.forget_jobs()
        retention.forget_timelines()
        sizes.append((Job.objects.count(), Proof.objects.count(), PartitionAttempt.objects.count()))
        age_all()

    assert len(set(sizes[7:])) == 1, sizes
    assert max(sizes) == sizes[-1]


def age_all() -> None:
    """A day goes by."""
    for model, columns in (
        (Job, ("submitted_at", "finished_at")),
        (PartitionAttempt, ("ended_at",)),
    ):
        rows = list(model.objects.all())
        for row in rows:
            for column in columns:
                setattr(row, column, getattr(row, column) - timedelta(days=1))
        model.objects.bulk_update(rows, columns)
