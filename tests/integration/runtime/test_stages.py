"""Partitions through the stages, with every kind of trouble on the way."""

from collections.abc import Callable

import numpy as np
import pytest
from pytest_django import Settings

from kernels.device import ProverSums
from proving import spool
from proving.choices import AttemptOutcome, JobState, PartitionState
from proving.formats.snarkjs import proof_from_json, public_from_json, verifying_key_from_json
from proving.formats.wtns import Witness, encode_witness, read_witness
from proving.groth16.verifier import verify
from proving.models import Circuit, Job, Partition, PartitionAttempt, Proof
from proving.services import device_stage, fleet, live, record, station, upkeep
from proving.services.cancel import cancel_job
from proving.services.stage import Report
from proving.tracker.outcomes import Claimed
from proving.tracker.records import Assignment
from proving.tracker.store import Store
from tests.integration.conftest import CircuitFolder
from tests.integration.runtime.conftest import DEVICE, Line, take

Submit = Callable[..., Job]


def ended(job: Job) -> Job:
    job.refresh_from_db()
    return job


def test_a_job_goes_through_every_stage(line: Line, submit: Submit, circuit: Circuit) -> None:
    job = submit((3, 11), (5, 7))

    line.run()

    assert (ended(job).state, job.error_code) == (JobState.DONE, "")
    key = verifying_key_from_json(circuit.verifying_key)
    rows = list(Proof.objects.filter(job=job).order_by("index"))
    assert [row.public for row in rows] == [["33"], ["35"]]
    assert all(verify(key, proof_from_json(row.proof), public_from_json(row.public)).valid for row in rows)
    assert [task for task, _ in line.delivered].count("assemble") == 1
    assert not spool.job_folder(job.pk).exists()
    outcomes = PartitionAttempt.objects.values_list("attempt", "outcome", "error_code")
    assert list(outcomes) == [(1, AttemptOutcome.DONE, "")] * 2


def test_every_phase_is_timed(line: Line, submit: Submit) -> None:
    submit((3, 11))

    line.run()

    row = Partition.objects.get()
    times = [
        row.queued_at,
        row.synthesis_started_at,
        row.synthesis_ended_at,
        row.device_started_at,
        row.device_ended_at,
        row.finalize_started_at,
        row.finalize_ended_at,
    ]
    assert None not in times
    assert times == sorted(times)


def test_blinding_is_fresh_for_each_proof(line: Line, submit: Submit) -> None:
    submit((3, 11), (3, 11))

    line.run()

    first, second = Proof.objects.all()
    assert first.public == second.public
    assert first.proof != second.proof


def test_blinding_is_fresh_for_each_attempt(
    line: Line, submit: Submit, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[object] = []
    store_proof = record.proved

    def lose_the_first(assignment: Assignment, proof: object, public: list[str], *, fault: str = "") -> bool:
        made.append(proof)
        if len(made) == 1:
            raise RuntimeError("the finalizer dies before it has stored the proof")
        return store_proof(assignment, proof, public, fault=fault)

    monkeypatch.setattr(record, "proved", lose_the_first)
    job = submit((3, 11))

    line.run()

    assert ended(job).state == JobState.DONE
    first, second = made
    assert first != second
    assert Proof.objects.get().proof == second


def test_messages_that_come_twice_change_nothing(line: Line, submit: Submit) -> None:
    job = submit((3, 11), (5, 7))

    line.run(copies=2)

    assert ended(job).state == JobState.DONE
    assert Proof.objects.count() == 2
    assert set(Partition.objects.values_list("attempt", flat=True)) == {1}


class FaultyDevice:
    """Proves, and then returns a point of another sum."""

    def __init__(self, real: object) -> None:
        self._real = real

    def __getattr__(self, name: str) -> object:
        return getattr(self._real, name)

    def prove(self, *arguments: object, **options: object) -> ProverSums:
        sums = self._real.prove(*arguments, **options)
        return ProverSums(sums.h, sums.b1, sums.b2, sums.c, sums.a)


def test_a_device_that_returns_wrong_sums_is_caught_and_named(
    line: Line, submit: Submit, circuit: Circuit, monkeypatch: pytest.MonkeyPatch
) -> None:
    station.occupy(DEVICE)
    faulty = FaultyDevice(device_stage.device())
    monkeypatch.setattr(device_stage, "device", lambda: faulty)
    job = submit((3, 11))

    line.run()

    assert ended(job).state == JobState.DONE
    row = Proof.objects.get()
    key = verifying_key_from_json(circuit.verifying_key)
    assert verify(key, proof_from_json(row.proof), public_from_json(row.public)).valid
    told = PartitionAttempt.objects.get()
    assert (told.outcome, told.error_code, told.device) == (AttemptOutcome.DONE, "device_fault", "host")
    assert "pairing" in told.error_detail


def tampered(folder: CircuitFolder) -> bytes:
    """A witness of the right shape whose product is wrong."""
    found = read_witness(folder.wtns)
    values = np.array(found.values)
    values[1, 0] += 1
    return b"".join(bytes(piece) for piece in encode_witness(Witness(found.curve, values)))


def test_a_false_witness_is_stopped_before_the_device(
    line: Line, submit_witness: Callable[[bytes, bytes], Job], multiplier: CircuitFolder
) -> None:
    job = submit_witness(multiplier.wtns.read_bytes(), tampered(multiplier))

    line.run()

    assert (ended(job).state, job.error_code, job.error_partition) == (
        JobState.FAILED,
        "unsatisfied_witness",
        0,
    )
    assert "constraint 0" in job.error_detail
    assert [task for task, _ in line.delivered] == ["synthesize"]
    assert not spool.job_folder(job.pk).exists()


def test_without_a_constraint_system_a_false_witness_still_yields_no_proof(
    line: Line,
    circuit: Circuit,
    submit_witness: Callable[[bytes, bytes], Job],
    multiplier: CircuitFolder,
) -> None:
    Circuit.objects.update(r1cs=None)
    job = submit_witness(multiplier.wtns.read_bytes(), tampered(multiplier))

    line.run()

    assert (ended(job).state, job.error_code) == (JobState.FAILED, "unsatisfied_witness")
    assert "does not satisfy the circuit" in job.error_detail
    assert not Proof.objects.exists()
    assert Partition.objects.get().attempt == 1, "bad input is not tried again"


def test_a_fault_of_the_service_is_tried_again_and_then_told(
    line: Line, submit: Submit, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken() -> None:
        raise OSError("the secret is 12345")

    monkeypatch.setattr(device_stage, "device", broken)
    job = submit((3, 11))

    line.run()

    assert (ended(job).state, job.error_code) == (JobState.FAILED, "fault")
    assert "12345" not in job.error_detail
    assert [message for message in line.delivered if message[0] == "prove"] == [
        ("prove", (job.pk, 0, attempt)) for attempt in (1, 2, 3)
    ]
    assert list(PartitionAttempt.objects.values_list("attempt", "outcome")) == [
        (attempt, AttemptOutcome.FAILED) for attempt in (1, 2, 3)
    ]


def test_a_worker_that_starts_again_gives_back_what_its_former_life_held(
    line: Line, submit: Submit, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = submit((3, 11))
    line.run_until("prove")
    claim = live.store().claim_device("gpu0@here", job.pk, 0, 1)
    assert isinstance(claim, Claimed)

    monkeypatch.setattr(fleet, "INCARNATION", "another life")
    station.occupy(DEVICE)
    fleet.join()
    line.run()

    assert ended(job).state == JobState.DONE
    assert Partition.objects.get().attempt == 2
    lost = PartitionAttempt.objects.get(attempt=1)
    assert (lost.outcome, lost.device_ended_at) == (AttemptOutcome.LOST, None)
    assert [place for task, place in line.delivered if task == "synthesize"] == [(job.pk, 0, 1)], (
        "its evaluations are kept"
    )


def test_a_finalizer_that_dies_between_the_proof_and_the_tracker_is_made_good(
    line: Line, submit: Submit, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = submit((3, 11))
    line.run_until("finalize")
    hasty = Store(live.redis(), "main", lease_seconds=0.0)
    with monkeypatch.context() as patch:
        patch.setattr(live, "store", lambda: hasty)
        patch.setattr(hasty, "finish", lambda assignment: (_ for _ in ()).throw(SystemExit))
        with pytest.raises(SystemExit):
            line.deliver()
    assert Proof.objects.count() == 1

    assert upkeep.reap() == 1
    line.run()

    assert ended(job).state == JobState.DONE
    assert Proof.objects.count() == 1


def test_a_row_that_missed_an_attempt_catches_up(line: Line, submit: Submit) -> None:
    job = submit((3, 11))
    line.run_until("prove")
    claim = live.store().claim_device("gpu0@here", job.pk, 0, 1)
    assert isinstance(claim, Claimed)
    live.store().fail(claim.assignment, "lost on the way to the database", retry=True)
    line.waiting = [("prove", (job.pk, 0, 2))]

    line.run()

    assert ended(job).state == JobState.DONE
    assert Partition.objects.get().attempt == 2


def test_a_partition_that_never_fits_fails_at_once(line: Line, submit: Submit, settings: Settings) -> None:
    settings.CUZKWEB_HOST_BUDGET_BYTES = 1
    live.store.cache_clear()
    job = submit((3, 11))

    line.run()

    assert (ended(job).state, job.error_code) == (JobState.FAILED, "over_budget")


def test_a_full_budget_puts_the_message_back(
    line: Line, submit: Submit, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("proving.services.synthesis_stage.PATIENCE_SECONDS", 0.0)
    monkeypatch.setattr("proving.services.stage.PAUSE_SECONDS", 0.0)
    settings.CUZKWEB_HOST_BUDGET_BYTES = 6000
    live.store.cache_clear()
    job = submit((3, 11), (5, 7))

    assert line.deliver() == Report.DONE
    second = line.waiting[0]
    assert line.deliver() == Report.LATER
    line.run()
    assert take(*second) == Report.DONE
    line.run()

    assert ended(job).state == JobState.DONE


def test_a_job_is_cancelled_before_it_runs(
    line: Line, submit: Submit, django_capture_on_commit_callbacks: Callable[..., object]
) -> None:
    job = submit((3, 11), (5, 7))

    with django_capture_on_commit_callbacks(execute=True):
        cancel_job(job, "no longer wanted")
    line.run()

    assert (ended(job).state, job.error_detail) == (JobState.CANCELLED, "no longer wanted")
    assert set(Partition.objects.values_list("state", flat=True)) == {PartitionState.CANCELLED}
    assert not spool.job_folder(job.pk).exists()


def test_a_lost_message_is_sent_again(
    line: Line, submit: Submit, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = submit((3, 11))
    line.waiting.clear()
    settings.CUZKWEB_LEASE_SECONDS = 0.0
    monkeypatch.setattr(upkeep, "queue_length", lambda name: 1)
    assert upkeep.resend() == 0, "a message is on its way"

    monkeypatch.setattr(upkeep, "queue_length", lambda name: 0)
    assert upkeep.resend() == 1

    settings.CUZKWEB_LEASE_SECONDS = 30.0
    line.run()
    assert ended(job).state == JobState.DONE


def test_steps_lost_between_database_and_tracker_are_mended(
    line: Line, submit: Submit, settings: Settings
) -> None:
    job = submit((3, 11))
    live.redis().flushall()
    line.waiting.clear()
    settings.CUZKWEB_LEASE_SECONDS = 0.0
    assert upkeep.mend_jobs() == 1, "a job that the tracker never heard of"
    settings.CUZKWEB_LEASE_SECONDS = 30.0
    station.occupy(DEVICE)
    fleet.join()
    line.run_until("assemble")
    line.waiting.clear()

    settings.CUZKWEB_LEASE_SECONDS = 0.0
    assert upkeep.mend_jobs() == 1, "a job whose assembly nobody called for"
    settings.CUZKWEB_LEASE_SECONDS = 30.0
    line.run()

    assert ended(job).state == JobState.DONE


@pytest.mark.parametrize("lost", [[1], [0, 2], [0, 1, 2]])
def test_a_job_whose_proofs_are_not_all_there_is_not_done(
    line: Line, submit: Submit, lost: list[int]
) -> None:
    job = submit((3, 11), (5, 7), (2, 9))
    line.run_until("assemble")
    job.proofs.filter(index__in=lost).delete()

    line.run()

    found = ended(job)
    assert found.state == JobState.FAILED
    assert found.error_code == "bad_proof"
    assert found.error_detail == "; ".join(f"partition {index}: its proof is missing" for index in lost)


def test_a_setting_keeps_what_callers_sent_for_a_while(
    line: Line, submit: Submit, settings: Settings
) -> None:
    settings.CUZKWEB_KEEP_INPUTS_SECONDS = 7200
    job = submit((3, 11), (5, 7))

    line.run()

    assert ended(job).state == JobState.DONE
    kept = sorted(path.name for path in spool.job_folder(job.pk).iterdir())
    assert kept == ["0.input", "1.input"], "and nothing that was made of it"


def test_files_that_no_job_owns_are_swept(line: Line, submit: Submit, settings: Settings) -> None:
    job = submit((3, 11))
    spool.store_input("nobody's", 0, b"{}")
    settings.CUZKWEB_KEEP_SPOOL_SECONDS = 0

    assert upkeep.sweep_spool() == 1

    assert spool.job_folder(job.pk).exists()
    assert not spool.job_folder("nobody's").exists()
