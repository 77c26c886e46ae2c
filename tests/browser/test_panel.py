"""The status panel in a real browser, over documents that the tests hold."""

import re
import time
from collections.abc import Callable

import pytest

from tests.browser.chromium import Page
from tests.browser.conftest import Open
from tests.browser.documents import BAD, many_jobs, unused
from tests.browser.scheduler import Document

pytestmark = pytest.mark.browser

Live = Callable[[], Document]
WIDTH = "document.documentElement.scrollWidth"


def keys(page: Page) -> list[str]:
    return page.evaluate("[...document.querySelectorAll('.row')].map(row => row.dataset.key)")


def test_every_job_has_a_row_and_every_phase_its_count(open_page: Open, busy: Live) -> None:
    document = busy()
    page, _stage = open_page(document)
    assert keys(page) == [job["job_id"] for job in document["pipelines"]]
    states = [p["state"] for job in document["pipelines"] for p in job["partitions"]]
    phases = ["pending", "synthesizing", "synth_done", "gpu", "finalizing", "done"]
    assert page.texts("#flow b") == [str(states.count(phase)) for phase in phases]
    assert page.texts(".row .count") == [
        f"{job['partitions_done']} / {job['total_partitions']}" for job in document["pipelines"]
    ]
    assert page.faults == []


def test_a_proving_device_shows_its_partition_and_its_time_grows(open_page: Open, busy: Live) -> None:
    document = busy()
    page, _stage = open_page(
        lambda: {**document, "generated_at": document["generated_at"] + time.monotonic() % 1}
    )
    work = page.texts("#devices [data-f=work]")
    for worker, text in zip(document["gpu_workers"], work, strict=True):
        assert text.endswith(f"{worker['current_job'][-5:]} · P{worker['current_partition']}")
    first = page.text("#devices [data-f=secs]")
    page.wait(f"document.querySelector('#devices [data-f=secs]').innerText !== '{first}'")
    assert page.faults == []


def test_a_worker_that_hands_off_and_takes_the_next_is_never_shown_idle(open_page: Open, busy: Live) -> None:
    document = busy()
    page, stage = open_page(document)
    page.evaluate("""
        window.seen = [];
        const box = document.querySelector('#devices');
        new MutationObserver(() => seen.push(box.querySelector('[data-f=work]').innerText))
            .observe(box, {subtree: true, childList: true, characterData: true});
    """)
    worker = document["gpu_workers"][0]
    was = next(job for job in document["pipelines"] if job["job_id"] == worker["current_job"])
    now = next(job for job in document["pipelines"] if job["job_id"].endswith("4712"))
    following = next(p for p in now["partitions"] if p["state"] == "synth_done")
    was["partitions"][worker["current_partition"]]["state"] = "finalizing"
    following["state"] = "gpu"
    moved = {"current_job": now["job_id"], "current_partition": following["index"], "busy_secs": 0.1}
    workers = [{**worker, **moved}, *document["gpu_workers"][1:]]
    later = document["generated_at"] + 1
    stage.document = {**document, "gpu_workers": workers, "rev": document["rev"] + 1, "generated_at": later}
    page.wait(f"document.querySelector('#devices [data-f=work]').innerText.endsWith('P{following['index']}')")
    assert page.evaluate("seen.filter(text => text === 'idle').length") == 0
    assert page.evaluate("document.querySelector('#banner').hidden")
    assert page.faults == []


@pytest.mark.parametrize("width", [320, 390])
def test_ids_are_told_apart_on_a_phone_and_nothing_scrolls_sideways(
    open_page: Open, busy: Live, width: int
) -> None:
    document = busy()
    prefix = "customer-of-the-north-batch-of-2026-11-30-"
    for job, number in zip(document["pipelines"][2:4], (4711, 4712), strict=True):
        job["job_id"] = f"{prefix}{number}"
        job["label"] = f"a label that says all that there is to say about the {prefix}{number}"
    page, _stage = open_page(document, width=width, height=3600, query=f"?open={prefix}4711")
    shown = page.texts(".row .id")
    assert len(shown) == len(document["pipelines"])
    assert [text[-4:] for text in shown[:4]] == ["4711", "4712", "4711", "4712"]
    assert len(set(shown)) == len(shown)
    labels = page.texts(".row .label")
    assert [text[-4:] for text in labels[:4]] == ["4711", "4712", "4711", "4712"]
    # nothing of a label or an id is cut off by its box
    assert page.evaluate(
        "[...document.querySelectorAll('.label')].every(l => l.scrollWidth <= l.clientWidth)"
    )
    assert page.evaluate("""[...document.querySelectorAll('.row .id')].every(id => {
        const count = id.parentElement.querySelector('.count').getBoundingClientRect();
        return id.getBoundingClientRect().right <= count.left;
    })""")
    assert page.evaluate(WIDTH) == width
    assert page.faults == []


def test_the_page_stands_still_while_nothing_changes(open_page: Open, busy: Live) -> None:
    page, stage = open_page(busy())
    nodes = "[...document.querySelectorAll('.row, .row *, #devices *, #flow *, #memory *')]"
    page.evaluate(f"window.before = {nodes}")
    answered = "performance.getEntriesByType('resource').filter(e => e.name.endsWith('/status')).length"
    page.wait(f"{answered} >= 4")
    assert any(status == 304 for _path, status in stage.requests)
    assert page.evaluate(
        f"{nodes}.length === before.length && {nodes}.every((node, i) => node === before[i])"
    )
    assert page.faults == []


def test_silence_is_told_and_the_last_state_kept(open_page: Open, busy: Live) -> None:
    page, stage = open_page(busy)
    rows = keys(page)
    stage.fault = 503
    page.evaluate("ahead = 6000")
    page.wait("document.querySelector('#conn').dataset.state === 'stale'")
    page.wait(
        "document.querySelector('#banner').innerText.includes('answers 503: the live state cannot be read')"
    )
    assert page.text("#conn").startswith("Stale since ")
    assert re.match(r"At \d\d:\d\d:\d\d: all 3 devices busy\.", page.text(".verdict h1"))
    growing = "[...document.querySelectorAll('#devices [data-f=secs]')].map(node => node.innerText).join()"
    frozen = page.evaluate(growing)
    page.evaluate("ahead = 20000")
    page.wait("document.querySelector('#conn').dataset.state === 'lost'")
    assert page.text("#conn").startswith("Disconnected")
    assert page.evaluate(growing) == frozen
    assert keys(page) == rows
    stage.fault = None
    page.wait("document.querySelector('#conn').dataset.state === 'live'", seconds=30)
    assert page.evaluate("document.querySelector('#banner').hidden")
    assert all("503" in fault for fault in page.faults)


def test_a_status_that_cannot_be_read_from_the_start_shows_no_state(open_page: Open, busy: Live) -> None:
    page, _stage = open_page(busy, fault=502)
    assert page.text(".verdict h1") == "Status unknown."
    assert "answers 502" in page.text("#banner")
    assert page.evaluate("getComputedStyle(document.querySelector('.cols')).visibility") == "hidden"


def test_a_session_that_ended_offers_the_login(open_page: Open, busy: Live) -> None:
    page, stage = open_page(busy)
    stage.fault = 401
    page.wait("!document.querySelector('#banner').hidden")
    assert "You are signed out." in page.text("#banner")
    assert page.evaluate("document.querySelector('#banner a').getAttribute('href')") == "/admin/login/?next=/"
    assert page.evaluate("document.querySelector('#banner a').hidden") is False


def test_a_snapshot_that_contradicts_itself_is_called_so(open_page: Open, busy: Live) -> None:
    document = busy()
    document["gpu_workers"][0].update(state="idle", current_job=None, current_partition=None)
    page, _stage = open_page(document)
    assert "contradicts itself" in page.text("#banner")
    assert "no device is proving it" in page.text("#banner")


def test_an_empty_house_says_how_to_submit(open_page: Open, busy: Live) -> None:
    page, stage = open_page(lambda: unused(busy()))
    assert page.text(".verdict h1") == "Nothing to prove."
    assert page.text("#blank b") == "No jobs yet"
    assert f"curl {stage.url}api/v1/jobs" in page.text("#blank")
    assert set(page.texts("#devices [data-f=work]")) == {"idle"}
    assert page.evaluate("document.querySelector('#attention-box').hidden")
    assert page.faults == []


def test_a_failure_names_partition_job_and_reason(open_page: Open, busy: Live) -> None:
    page, _stage = open_page(busy())
    told = page.texts("#attention li")
    assert " ".join(told[0].split()) == f"P7 failed ps-snap-1000-1-4711 {BAD}"
    assert "Held back" in told[1]


def test_keys_open_a_job_and_pointing_names_a_partition(open_page: Open, busy: Live) -> None:
    page, _stage = open_page(busy())
    page.press("j")
    focused = page.evaluate("document.activeElement.closest('.row').dataset.key")
    page.evaluate("document.activeElement.click()")
    page.wait("document.querySelectorAll('.row[data-open] .parts li').length === 16")
    assert focused == "ps-snap-1000-1-4711"
    assert page.texts(".row[data-open] .parts li")[7].split()[:2] == ["P7", "Failed"]
    box = page.evaluate("""(() => {
        const {left, top, width} = document.querySelector('.row[data-open] .plot').getBoundingClientRect();
        return [left + width / 3, top + 73 + 22 * 4 + 8];
    })()""")
    page.point(*box)
    page.wait("!document.querySelector('#tip').hidden")
    tip = page.text("#tip")
    assert tip.startswith("P4 · Done · attempt 2 of 3")
    assert "Device, lost" in tip
    assert "the lease ran out" in tip
    page.press("3")
    assert (
        page.evaluate("document.querySelector('#flow [aria-pressed=true]').closest('li').dataset.key")
        == "synth_done"
    )
    page.press("v")
    page.wait("document.querySelector('.row').dataset.kind === 'device'")
    assert keys(page) == ["gpu0@prover-a", "gpu1@prover-a", "gpu0@prover-b"]
    assert page.faults == []


def test_the_chosen_theme_is_remembered(open_page: Open, busy: Live) -> None:
    page, stage = open_page(busy())
    light = page.evaluate("getComputedStyle(document.body).backgroundColor")
    page.evaluate("document.querySelector('#theme').click()")
    page.evaluate("document.querySelector('#theme').click()")
    dark = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert dark != light
    page.open(stage.url)
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == dark
    assert page.text("#theme") == "Theme: dark"


def test_a_thousand_jobs_keep_few_nodes(open_page: Open, busy: Live) -> None:
    page, _stage = open_page(many_jobs(busy(), 994), height=900)
    assert page.text("[data-f=jobcount]") == "1,000 jobs"
    assert len(keys(page)) < 40
    assert page.evaluate("document.querySelectorAll('*').length") < 1200
    page.evaluate("scrollTo(0, document.body.scrollHeight)")
    page.wait("[...document.querySelectorAll('.row')].some(row => row.dataset.key === 'ps-snap-1000-1-5706')")
    assert page.faults == []


def test_a_stream_takes_the_place_of_polling_and_polling_that_of_a_stream(
    open_page: Open, busy: Live
) -> None:
    document = busy()
    page, stage = open_page(document, streaming=True)
    page.wait("performance.getEntriesByType('resource').some(entry => entry.name.includes('/stream'))")
    stage.document = {**document, "rev": document["rev"] + 1, "pipelines": document["pipelines"][:1]}
    page.wait("document.querySelectorAll('.row').length === 1")
    polls = [path for path, _ in stage.requests if path == "/status"]
    assert len(polls) <= 3
    stage.streaming = False
    stage.document = {**document, "rev": document["rev"] + 2, "pipelines": document["pipelines"][:2]}
    page.evaluate("window.ahead = 5000")
    page.wait("document.querySelectorAll('.row').length === 2")
    assert page.faults == []


def test_a_stream_that_was_cut_goes_on_where_it_was(open_page: Open, busy: Live) -> None:
    document = busy()
    page, stage = open_page(document, streaming=True)
    page.wait("performance.getEntriesByType('resource').some(entry => entry.name.includes('/stream'))")
    page.evaluate("window.before = [...document.querySelectorAll('.row')]")
    stage.cut_streams()
    later = {**document, "rev": document["rev"] + 1, "pipelines": document["pipelines"][:2]}
    assert stage.resumed.get(timeout=20) == str(document["rev"])
    stage.document = later
    page.wait("document.querySelectorAll('.row').length === 2")
    assert page.evaluate("[...document.querySelectorAll('.row')].every(row => before.includes(row))")
    assert page.evaluate("document.querySelector('#banner').hidden")
