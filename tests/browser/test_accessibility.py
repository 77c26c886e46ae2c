"""The panel as axe-core sees it: nothing it finds fault with, in any state, scheme or width."""

import time
from collections.abc import Callable

import pytest

from tests.browser.chromium import Page
from tests.browser.conftest import Open
from tests.browser.documents import unused
from tests.browser.past import afternoon_before
from tests.browser.scheduler import Document
from tests.conftest import REPOSITORY

pytestmark = [pytest.mark.browser, pytest.mark.node]

Live = Callable[[], Document]
AXE = REPOSITORY / "tests" / "node" / "node_modules" / "axe-core" / "axe.min.js"
RUN = """axe.run(document).then(found => found.violations.flatMap(
    rule => rule.nodes.map(node => `${rule.impact} ${rule.id}: ${node.html.slice(0, 200)}`)))"""


@pytest.fixture(scope="module")
def axe() -> str:
    if not AXE.is_file():
        pytest.skip("axe-core is not here: npm ci in tests/node brings it")
    return AXE.read_text()


def faults_of(page: Page, axe: str) -> list[str]:
    # the page allows no script but its own; the DevTools protocol is not asked
    page.evaluate(f"{axe}; true")
    return page.evaluate(RUN)


@pytest.mark.parametrize("look", ["light", "dark", "phone"])
def test_a_busy_panel_with_an_open_job(open_page: Open, busy: Live, axe: str, look: str) -> None:
    width = 390 if look == "phone" else 1440
    history = afternoon_before(time.time())
    page, _stage = open_page(
        busy(), history=history, width=width, dark=look == "dark", query="?open=ps-snap-1000-1-4711"
    )
    page.wait("document.querySelectorAll('#past-jobs li').length && document.querySelector('#failures li')")
    assert faults_of(page, axe) == []


def test_hosts_with_faults_and_silence(open_page: Open, busy: Live, axe: str) -> None:
    document = busy()
    first, second, _third = document["gpu_workers"]
    first["faults"] = {
        "count": 2,
        "last_at": document["generated_at"] - 60,
        "last_reason": "sums off the curve",
    }
    second["last_seen_secs_ago"] = 42
    page, _stage = open_page(document, dark=True, query="?view=hosts")
    assert "Device fault" in page.text("#attention")
    assert faults_of(page, axe) == []


def test_an_unused_service_and_the_dialog_of_keys(open_page: Open, busy: Live, axe: str) -> None:
    page, _stage = open_page(lambda: unused(busy()))
    assert faults_of(page, axe) == []
    page.evaluate("document.querySelector('#help-open').click()")
    assert page.evaluate(RUN) == []


def test_a_status_that_cannot_be_read(open_page: Open, busy: Live, axe: str) -> None:
    page, _stage = open_page(busy, fault=502, dark=True)
    assert faults_of(page, axe) == []
