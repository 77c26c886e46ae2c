"""Work that runs is stopped in its middle: by a cancelled job, by a worker that leaves, by a lost lease."""

import threading
from collections.abc import Callable

import numpy as np
import pytest

from kernels.curves import BN254
from kernels.ntt import ntt
from proving.models import Job
from proving.services import ear, live, pulse
from proving.services.pulse import Pulse
from proving.services.stage import under_lease
from proving.tracker.outcomes import Claimed
from proving.tracker.records import Phase
from tests.integration.runtime.conftest import Line
from tests.support.processes import wait_for

Submit = Callable[..., Job]


@pytest.fixture
def deaf(monkeypatch: pytest.MonkeyPatch) -> None:
    """Heartbeats are so rare that only a call can be heard."""
    monkeypatch.setattr(pulse, "LONGEST_INTERVAL", 100.0)


@pytest.fixture
def claim(line: Line, submit: Submit) -> Claimed:
    submit((3, 11))
    line.run_until("prove")
    found = live.store().take_device("gpu0@here")
    assert isinstance(found, Claimed)
    return found


def compute_for_ever(begun: threading.Event) -> Callable[[Pulse], bool]:
    """Work that looks at nothing: only its native code does."""

    def work(_: Pulse) -> bool:
        data = np.zeros((1 << 12, 4), dtype=np.uint64)
        while True:
            ntt(BN254, data)
            begun.set()

    return work


def interrupted(claim: Claimed, interrupt: Callable[[], object]) -> None:
    """Run endless work under the claim's lease, interrupt it once it has begun, and wait for its end."""
    begun = threading.Event()

    def when_begun() -> None:
        begun.wait(30)
        interrupt()

    helper = threading.Thread(target=when_begun)
    helper.start()
    assert under_lease(claim.assignment, compute_for_ever(begun)) is None
    helper.join()


def test_a_cancelled_job_stops_native_work_at_once(claim: Claimed, deaf: None) -> None:
    place = claim.assignment
    begun = threading.Event()

    def heard() -> bool:
        """Cancelling again changes nothing and calls nobody: the call is repeated by hand."""
        live.redis().publish(live.store().ledger.keys.stops, place.job)
        return ended.is_set()

    ended = threading.Event()

    def cancel() -> None:
        live.store().cancel_job(place.job)
        wait_for(heard, "the worker has let go")

    helper = threading.Thread(target=lambda: begun.wait(30) and cancel())
    helper.start()
    assert under_lease(place, compute_for_ever(begun)) is None
    ended.set()
    helper.join()

    found = live.store().partition(place.job, place.partition)
    assert found is None or found.phase == Phase.CANCELLED


def test_to_cancel_calls_those_who_listen(claim: Claimed) -> None:
    with live.redis().pubsub(ignore_subscribe_messages=True) as channel:
        channel.subscribe(live.store().ledger.keys.stops)
        wait_for(lambda: channel.subscribed and not channel.get_message(timeout=0.1), "it listens")

        live.store().cancel_job(claim.assignment.job)

        said = wait_for(lambda: channel.get_message(timeout=1.0), "somebody is called")
    assert said["data"].decode() == claim.assignment.job


def test_a_worker_that_leaves_stops_native_work(
    claim: Claimed, deaf: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pulse, "_leaving", threading.Event())

    interrupted(claim, pulse.hand_back)

    found = live.store().partition(claim.assignment.job, 0)
    assert found is not None
    assert (found.phase, found.attempt) == (Phase.SYNTH_DONE, 2)


def test_nobody_listens_any_more_when_work_is_over(claim: Claimed) -> None:
    under_lease(claim.assignment, lambda _: True)

    assert ear._waiting == {}
