"""Reading the panel closely: zoom, keys and their switch, hosts, what has ended."""

import re
import time
from collections.abc import Callable

import pytest

from tests.browser.conftest import Open
from tests.browser.documents import BAD, LOST
from tests.browser.past import afternoon_before
from tests.browser.scheduler import Document

pytestmark = pytest.mark.browser

Live = Callable[[], Document]
CHIP = "document.querySelector('#follow')"
CHECKED = "document.querySelector('[name=window]:checked')?.value"


def clocks(text: str) -> list[float]:
    """The wall clock times in a text, in seconds of their day."""
    found = re.findall(r"(\d\d):(\d\d):(\d\d(?:\.\d)?)", text)
    return [int(hours) * 3600 + int(minutes) * 60 + float(seconds) for hours, minutes, seconds in found]


def test_dragging_over_lanes_shows_that_stretch_of_time_and_escape_leads_back(
    open_page: Open, busy: Live
) -> None:
    page, _stage = open_page(busy(), query="?window=15")
    left, top, width = page.evaluate("""(() => {
        const {left, top, width} = document.querySelector('.plot').getBoundingClientRect();
        return [left, top, width];
    })()""")
    page.drag((left + 0.5 * width, top + 20), (left + 0.6 * width, top + 40))
    page.wait(f"!{CHIP}.hidden")
    start, end = clocks(page.text("#follow"))
    assert (end - start) % 86400 == pytest.approx(90, abs=3)  # a tenth of 15 minutes
    assert page.evaluate(CHECKED) is None
    page.press("Escape")
    page.wait(f"{CHIP}.hidden")
    assert page.evaluate(CHECKED) == "15"
    assert page.faults == []


def test_keys_and_wheel_zoom_and_move_along_the_axis(open_page: Open, busy: Live) -> None:
    page, _stage = open_page(busy(), query="?window=5")
    page.press("+")
    page.wait(f"{CHIP}.innerText.startsWith('last 2:30')")
    page.evaluate("document.querySelector('.plot').focus()")
    page.press("ArrowLeft")
    page.wait(f"!{CHIP}.innerText.startsWith('last')")
    shown = page.text("#follow")
    before = clocks(shown)
    page.press("ArrowLeft")
    page.wait(f"{CHIP}.innerText !== {shown!r}")
    after = clocks(page.text("#follow"))
    assert (before[0] - after[0]) % 86400 == pytest.approx(30, abs=1)  # a fifth of 2:30
    x, y = page.evaluate("""(() => {
        const {left, top, width} = document.querySelector('.plot').getBoundingClientRect();
        return [left + width / 2, top + 20];
    })()""")
    shown = page.text("#follow")
    control = 2
    page.send(
        "Input.dispatchMouseEvent", type="mouseWheel", x=x, y=y, deltaX=0, deltaY=-100, modifiers=control
    )
    page.wait(f"{CHIP}.innerText !== {shown!r}")
    start, end = clocks(page.text("#follow"))
    assert (end - start) % 86400 < 150
    assert start > after[0]
    page.press("0")
    page.wait(f"{CHIP}.hidden")
    assert page.faults == []


def test_single_keys_can_be_switched_off_for_good(open_page: Open, busy: Live) -> None:
    page, stage = open_page(busy())
    page.press("v")
    page.wait("document.querySelector('.row').dataset.kind === 'device'")
    page.evaluate(
        "document.querySelector('#help-open').click(); document.querySelector('#shortcuts').click()"
    )
    page.evaluate("document.querySelector('#help').close()")
    for key in ("v", "3", "?", "+"):
        page.press(key)
    assert page.evaluate("document.querySelector('.row').dataset.kind") == "device"
    assert page.evaluate("document.querySelector('#flow [aria-pressed=true]')") is None
    assert page.evaluate("document.querySelector('#help').open") is False
    assert page.evaluate(f"{CHIP}.hidden")
    page.open(stage.url)
    page.wait("document.querySelector('.row')")
    assert page.evaluate("document.querySelector('#shortcuts').checked") is False
    page.press("v")
    page.evaluate("document.querySelector('.row .plot').focus()")
    assert page.evaluate("document.querySelector('.row').dataset.kind") == "device"
    assert page.faults == []


def test_hosts_show_devices_versions_memory_and_the_last_sign_of_life(open_page: Open, busy: Live) -> None:
    document = busy()
    document["lease_secs"] = 10
    document["gpu_workers"][1]["last_seen_secs_ago"] = 42
    document["gpu_workers"][2]["version"] = "0.9.1"
    page, _stage = open_page(document, query="?view=hosts")
    assert page.text("[data-f=jobcount]") == "2 hosts, 3 devices, 2 versions"
    rows = [" ".join(text.split()) for text in page.texts("#hosts tbody tr")]
    assert rows[0].startswith("prover-a cuda:0")
    assert "1 worker silent" in rows[0]
    assert "0.9.0" in rows[0]
    assert "0.9.0, 0.9.1" in rows[1]
    assert "just now" in rows[1]
    assert "of 64.0 GiB" in rows[1]
    assert "Silent worker" in page.text("#attention")
    assert page.faults == []


def test_what_has_ended_is_told_with_reasons_and_found_again(open_page: Open, busy: Live) -> None:
    page, _stage = open_page(busy(), history=afternoon_before(time.time()))
    page.wait("document.querySelectorAll('#past-jobs li').length === 8")
    failures = [" ".join(text.split()) for text in page.texts("#failures li")]
    assert len(failures) == 3
    assert failures[0].startswith("ps-snap-1000-1-4711 P4, attempt 1 was lost on gpu1@prover-a")
    assert failures[0].endswith(LOST)
    assert failures[1].endswith(BAD)
    assert page.evaluate("document.querySelector('#past-jobs [data-f=details]').getAttribute('href')") == (
        "/admin/proving/job/ps-snap-1000-1-4710/change/"
    )
    assert page.evaluate("document.querySelector('#past-jobs [data-f=proof]').getAttribute('href')") == (
        "/api/v1/jobs/ps-snap-1000-1-4710/proof"
    )
    page.evaluate("document.querySelector('[name=ended][value=failed]').click()")
    page.wait("document.querySelectorAll('#past-jobs li').length === 4")
    assert all(BAD in text for text in page.texts("#past-jobs li"))
    page.evaluate("document.querySelector('[name=ended][value=all]').click()")
    page.evaluate("""(() => {
        const input = document.querySelector('#sought');
        input.value = 'sector 4698';
        input.dispatchEvent(new Event('input', {bubbles: true}));
    })()""")
    page.wait("document.querySelectorAll('#past-jobs li').length === 1")
    assert page.text("#past-jobs .id") == "ps-snap-1000-1-4698"
    page.wait("performance.getEntriesByType('resource').some(e => e.name.endsWith('text=sector+4698'))")
    assert page.faults == []


def test_a_job_that_ends_appears_among_the_finished_ones(open_page: Open, busy: Live) -> None:
    document = busy()
    page, stage = open_page(document)
    page.wait("document.querySelector('#past').innerText.includes('No job has ended yet.')")
    stage.history = afternoon_before(time.time(), count=1)
    counters = {**document["counters"], "total_completed": document["counters"]["total_completed"] + 1}
    stage.document = {**document, "rev": document["rev"] + 1, "counters": counters}
    page.wait("document.querySelector('#past-jobs .id')?.innerText === 'ps-snap-1000-1-4710'")
    assert page.faults == []


def test_trouble_leads_to_the_job_that_it_befell(open_page: Open, busy: Live) -> None:
    page, _stage = open_page(busy(), height=700)
    held = "ps-porep-1000-7-120044"
    page.evaluate(f"document.querySelector('#attention [data-job={held}]').click()")
    page.wait(f"document.activeElement.closest('.row')?.dataset.key === '{held}'")
    assert page.evaluate("document.activeElement.getAttribute('aria-expanded')") == "true"
    top, height = page.evaluate(
        "[document.activeElement.getBoundingClientRect().top, innerHeight]",
    )
    assert 78 < top < height
    assert page.faults == []


def test_paper_gets_every_row_in_light_colours(open_page: Open, busy: Live) -> None:
    page, _stage = open_page(busy(), height=500, dark=True)
    light = "rgb(246, 247, 249)"
    rows = len(page.texts(".row"))
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert len(page.texts(".row")) == 6 >= rows
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == light
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") != light
    assert page.faults == []
