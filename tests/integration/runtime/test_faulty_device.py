"""A device whose results are wrong: the proof comes all the same, and the device is marked."""

import os
import signal
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from kernels.device import ProverSums
from proving.choices import AttemptOutcome, JobState
from proving.formats.snarkjs import proof_from_json, public_from_json, verifying_key_from_json
from proving.groth16.verifier import verify
from proving.models import Circuit, Job, PartitionAttempt, Proof
from proving.services import device_stage, live, reconcile, station
from tests.integration.runtime.conftest import DEVICE, Line

Submit = Callable[..., Job]
Spoil = Callable[[ProverSums], ProverSums]


class Faulty:
    """The CPU, with something the matter."""

    def __init__(self, spoil: Spoil = lambda sums: sums, *, faults: list[str] | None = None) -> None:
        self.name = "cuda:0"
        self.usable = not faults
        self._faults = faults or []
        self._spoil = spoil
        self._real = device_stage.device()

    def __getattr__(self, name: str) -> object:
        return getattr(self._real, name)

    def prove(self, *arguments: object, **options: object) -> ProverSums:
        return self._spoil(self._real.prove(*arguments, **options))

    def take_faults(self) -> list[str]:
        taken, self._faults = self._faults, []
        return taken


@pytest.fixture
def on_device(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Puts a faulty device into the place of this process's own."""

    def put(*arguments: object, **options: object) -> None:
        station.occupy(replace(DEVICE, device="cuda:0"))
        faulty = Faulty(*arguments, **options)
        monkeypatch.setattr(device_stage, "device", lambda: faulty)
        monkeypatch.setattr("tests.integration.runtime.conftest.DEVICE", station.here())

    return put


def another_sum(sums: ProverSums) -> ProverSums:
    return replace(sums, a=sums.h)


def off_the_curve_in_g1(sums: ProverSums) -> ProverSums:
    return replace(sums, c=sums.c ^ np.uint64(1))


def off_the_curve_in_g2(sums: ProverSums) -> ProverSums:
    return replace(sums, b2=np.roll(sums.b2, 1))


def nothing_at_all(sums: ProverSums) -> ProverSums:
    return ProverSums(*(np.full_like(getattr(sums, name), 2**64 - 1) for name in ("a", "b1", "b2", "c", "h")))


@pytest.mark.parametrize(
    "spoil", [another_sum, off_the_curve_in_g1, off_the_curve_in_g2, nothing_at_all], ids=lambda s: s.__name__
)
def test_wrong_points_yield_a_good_proof_and_a_mark(
    line: Line, submit: Submit, circuit: Circuit, on_device: Callable[..., None], spoil: Spoil
) -> None:
    on_device(spoil)
    job = submit((3, 11))

    line.run()

    job.refresh_from_db()
    assert job.state == JobState.DONE
    row = Proof.objects.get()
    key = verifying_key_from_json(circuit.verifying_key)
    assert verify(key, proof_from_json(row.proof), public_from_json(row.public)).valid
    told = PartitionAttempt.objects.get()
    assert (told.outcome, told.error_code, told.device) == (AttemptOutcome.DONE, "device_fault", "cuda:0")
    found = live.store().snapshot().device_faults
    assert {place: faults.count for place, faults in found.items()} == {"here/cuda:0": 1}
    assert found["here/cuda:0"].last_reason == told.error_detail


def test_a_message_that_comes_twice_marks_once(
    line: Line, submit: Submit, on_device: Callable[..., None]
) -> None:
    on_device(another_sum)
    submit((3, 11))

    line.run(copies=2)

    assert live.store().snapshot().device_faults["here/cuda:0"].count == 1


def test_a_device_that_notices_itself_is_marked_and_left(
    line: Line, submit: Submit, on_device: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    killed: list[tuple[int, int]] = []
    monkeypatch.setattr(device_stage.os, "kill", lambda pid, number: killed.append((pid, number)))
    on_device(faults=["the driver reports: an illegal memory access"])
    job = submit((3, 11))

    line.run()

    job.refresh_from_db()
    assert job.state == JobState.DONE
    assert killed == [(os.getpid(), signal.SIGTERM)]
    assert live.store().snapshot().device_faults["here/cuda:0"].last_reason.startswith("the driver")
    assert PartitionAttempt.objects.get().error_code == "", "its proof was good"


def test_marks_come_back_after_a_loss_of_the_live_state(
    line: Line, submit: Submit, on_device: Callable[..., None]
) -> None:
    on_device(another_sum)
    submit((3, 11), (5, 7))
    line.run()
    before = live.store().snapshot().device_faults["here/cuda:0"]
    assert before.count == 2
    live.redis().flushall()

    assert reconcile.reconcile() == ["the marks of device here/cuda:0 were lost"]

    after = live.store().snapshot().device_faults["here/cuda:0"]
    assert (after.count, after.last_reason) == (2, before.last_reason)
    assert after.last_at == pytest.approx(before.last_at, abs=5)
    assert reconcile.reconcile() == [], "once"
