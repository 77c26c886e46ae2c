"""The panel over the real tracker: what happens in Redis is what the page shows."""

import time

import pytest
import redis

from proving.tracker.outcomes import Applied, Failed, Finished, Reaped, Refusal, Refused
from proving.tracker.store import Store
from tests.browser.chromium import Page
from tests.browser.conftest import Open
from tests.support.tracker import Driver

pytestmark = pytest.mark.browser

JOB = "ps-snap-1000-1-4711"
WORK = "document.querySelector('#devices [data-f=work]')?.innerText"
CALM = "document.querySelector('#banner').hidden"


@pytest.fixture
def store(valkey: redis.Redis) -> Store:
    return Store(valkey, lease_seconds=60.0, synthesis_slots=2, host_budget_bytes=2**31)


@pytest.fixture
def driver(store: Store) -> Driver:
    driver = Driver(store)
    driver.register(model="EPYC 9354, 32 cores")
    return driver


def open_panel(open_page: Open, store: Store) -> Page:
    page, _stage = open_page(lambda: store.snapshot().document(), query=f"?open={JOB}")
    return page


def wait_for_part(page: Page, index: int, words: str) -> None:
    page.wait(f"document.querySelectorAll('.parts li')[{index}]?.innerText.startsWith('P{index}\\n{words}')")


def test_a_partition_is_seen_in_every_state(open_page: Open, store: Store, driver: Driver) -> None:
    page = open_panel(open_page, store)
    assert page.text(".verdict h1") == "Nothing to prove."
    driver.open(JOB, total=1, submitted_at=time.time())
    wait_for_part(page, 0, "Pending")
    synthesis = driver.synthesizing(0, JOB)
    wait_for_part(page, 0, "Synthesizing")
    assert isinstance(store.synthesized(synthesis), Applied)
    wait_for_part(page, 0, "Waiting")
    assert page.evaluate(WORK) == "idle"
    proving = driver.on_device(0, JOB)
    wait_for_part(page, 0, "Device")
    assert page.evaluate(WORK) == f"{JOB} · P0"
    assert isinstance(store.hand_off(proving), Applied)
    wait_for_part(page, 0, "Finalizing")
    assert page.evaluate(WORK) == "idle"
    assert store.finish(driver.finalizing(0, JOB)) == Finished(0, "running")
    wait_for_part(page, 0, "Done")
    assert page.text(".row .count") == "1 / 1"
    assert page.evaluate(CALM)
    assert page.faults == []


def test_a_late_finalizer_does_not_make_a_proving_device_look_idle(
    open_page: Open, store: Store, driver: Driver
) -> None:
    driver.open(JOB, total=2, submitted_at=time.time())
    driver.synthesized(1, JOB)
    first = driver.handed_off(0, JOB)
    finalizer = driver.finalizing(0, JOB)
    driver.on_device(1, JOB)
    page = open_panel(open_page, store)
    page.evaluate(f"""
        window.seen = new Set([{WORK}]);
        const changes = {{subtree: true, childList: true, characterData: true}};
        new MutationObserver(() => seen.add({WORK})).observe(document.querySelector('#devices'), changes);
    """)
    wait_for_part(page, 0, "Finalizing")
    assert store.finish(finalizer) == Finished(1, "running")
    assert store.hand_off(first) == Refused("hand_off", Refusal.ALREADY_DONE)
    wait_for_part(page, 0, "Done")
    page.wait("document.querySelector('#counters-box [data-f=refused]').innerText === '1'")
    assert page.evaluate("[...seen]") == [f"{JOB} · P1"]
    assert page.evaluate(CALM)
    assert page.faults == []


def test_a_lost_device_and_a_failure_are_told_with_their_reasons(
    open_page: Open, store: Store, driver: Driver
) -> None:
    driver.open(JOB, total=2, submitted_at=time.time(), on_failure="continue")
    lost = driver.on_device(0, JOB)
    page = open_panel(open_page, store)
    wait_for_part(page, 0, "Device")
    assert isinstance(store.lose(lost), Reaped)
    wait_for_part(page, 0, "Waiting · attempt 2")
    assert "P0 on attempt 2" in page.text("#attention")
    broken = driver.synthesizing(1, JOB)
    assert isinstance(store.fail(broken, "assertion failed in Main, line 12", retry=False), Failed)
    wait_for_part(page, 1, "Failed")
    assert page.texts("#attention li")[0].endswith("assertion failed in Main, line 12")
    assert page.text(".row .eta") == "1 failed"
    assert page.evaluate(CALM)
    assert page.faults == []
