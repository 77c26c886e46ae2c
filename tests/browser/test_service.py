"""The panel of a whole running service: jobs come through the API, and an operator watches them."""

import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.browser.chromium import Browser, Page
from tests.support.merkle import leaves
from tests.support.stack import LEASE_SECONDS, Stack, running_stack

pytestmark = [pytest.mark.browser, pytest.mark.acceptance, pytest.mark.shared]

PATIENCE = 90.0
"""Seconds for what takes two at most on a machine that has nothing else to do."""

COUNT = 6
PARTS = "[...document.querySelectorAll('.parts li [data-f=state]')].map(node => node.innerText)"
WATCH = f"""
    window.seen = new Set();
    const look = () => {{ for (const words of {PARTS}) seen.add(words.split(' ')[0]); }};
    new MutationObserver(look).observe(document.querySelector('#jobs'), {{
        subtree: true, childList: true, characterData: true,
    }});
"""


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    """The portable engine, so that a proof lasts long enough to be seen."""
    home = tmp_path_factory.mktemp("home")
    with running_stack(home, "--no-flower", CUZKWEB_ENGINE="portable") as running:
        yield running


@pytest.fixture
def page(browser: Browser, stack: Stack) -> Iterator[Page]:
    page = browser.new_page(1440, 1600)
    yield page
    page.close()


def open_signed_in(page: Page, stack: Stack, query: str) -> None:
    """The panel, by way of the login that it sends a stranger to."""
    kept = stack.credentials()
    page.open(f"{stack.state()['web']}/{query}")
    if page.evaluate("Boolean(document.querySelector('#login-form'))"):
        page.evaluate(f"""
            document.querySelector('#id_username').value = {kept["user"]!r};
            document.querySelector('#id_password').value = {kept["password"]!r};
            document.querySelector('#login-form').submit();
        """)
    page.wait("document.body.dataset.ready === ''", PATIENCE)
    page.faults.clear()  # the login page is the admin's, and has no icon


@contextmanager
def stopped(stack: Stack, *programs: str) -> Iterator[None]:
    """Workers that stand still, with nothing in their hands."""
    pids = [stack.pid(program) for program in programs]
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        for pid in pids:
            os.kill(pid, signal.SIGCONT)


def all_are(words: str) -> str:
    return f"{PARTS}.length === {COUNT} && {PARTS}.every(words => words.startsWith('{words}'))"


def timeline(stack: Stack, job: str) -> list[dict[str, Any]]:
    """What the database tells of each partition's last attempt."""
    key = {"Authorization": f"Bearer {stack.credentials()['api_key']}"}
    answer = httpx.get(f"{stack.state()['web']}/api/v1/jobs/{job}/timeline", headers=key)
    return [partition["attempts"][-1] for partition in answer.raise_for_status().json()["partitions"]]


def seconds(text: str | None) -> float:
    assert text is not None
    return datetime.fromisoformat(text).timestamp()


def shown_seconds(text: str) -> float:
    """'3.2 s' or '1:04'."""
    if text.endswith(" s"):
        return float(text.removesuffix(" s"))
    minutes, rest = text.split(":")
    return 60 * int(minutes) + int(rest)


def test_a_job_goes_through_every_state_with_true_times(
    page: Page, stack: Stack, circuit: str, merkle: Path
) -> None:
    job = "ps-snap-1000-1-4711"
    open_signed_in(page, stack, f"?open={job}&window=15")
    page.evaluate(WATCH)
    with stopped(stack, "finalize"):
        with stopped(stack, "gpu0"):
            with stopped(stack, "synthesis"):
                stack.client.submit(circuit, leaves(merkle, COUNT), request_id=job, label="sector 4711")
                page.wait(all_are("Pending"), PATIENCE)
            page.wait(all_are("Waiting"), PATIENCE)
        page.wait(all_are("Finalizing"), PATIENCE)
    page.wait(all_are("Done"), PATIENCE)
    row = f".row[data-key={job}]"
    assert page.text(f"{row} .count") == f"{COUNT} / {COUNT}"
    assert page.text(f"{row} .meta").startswith("merkle20")
    assert page.text(f"{row} .label") == "sector 4711"
    in_order = ["Pending", "Synthesizing", "Waiting", "Device", "Finalizing", "Done"]
    assert page.evaluate("[...seen]") == in_order

    shown = [shown_seconds(text) for text in page.texts(".parts li [data-f=secs]")]
    page.evaluate("document.querySelector('.row[data-open] .plot').focus()")
    page.press("ArrowDown")
    page.wait("!document.querySelector('#tip').hidden")
    tip = page.texts("#tip dl div")

    told = timeline(stack, job)
    lasted = [seconds(attempt["ended_at"]) - seconds(attempt["queued_at"]) for attempt in told]
    assert shown == pytest.approx(lasted, abs=1.2)  # minutes are shown without tenths
    began, ended = seconds(told[0]["device_started_at"]), seconds(told[0]["device_ended_at"])
    device = next(line for line in tip if line.startswith("Device"))
    clock = "t => new Date(t * 1000).toTimeString().slice(0, 8)"
    assert device.split("\n")[-1].split()[::2] == page.evaluate(f"[{began}, {ended}].map({clock})")

    page.wait("document.querySelector('#past-jobs .id')?.title === 'ps-snap-1000-1-4711'", PATIENCE)
    linked = "name => fetch(document.querySelector(`#past-jobs [data-f=${name}]`).href)"
    proofs = page.evaluate(f"({linked})('proof').then(answer => answer.json())")
    assert len(proofs["proofs"]) == COUNT
    assert page.evaluate(f"({linked})('details').then(answer => answer.status)") == 200
    assert page.faults == []


def test_a_killed_worker_is_told_within_its_lease(
    page: Page, stack: Stack, circuit: str, merkle: Path
) -> None:
    job = "ps-snap-1000-1-4712"
    open_signed_in(page, stack, f"?open={job}")
    stack.client.submit(circuit, leaves(merkle, COUNT), request_id=job)
    page.wait(f"{PARTS}.includes('Device')", PATIENCE)
    killed = time.time()
    os.kill(stack.pid("gpu0"), signal.SIGKILL)
    page.wait(f"{PARTS}.some(words => words.includes('attempt 2'))", PATIENCE)
    assert "on attempt 2" in page.text("#attention")
    live = stack.client.status()["pipelines"]
    lost = [past for known in live for p in known["partitions"] for past in p["history"]]
    assert [past["outcome"] for past in lost] == ["lost"]
    assert lost[0]["worker"].startswith("gpu0@")
    # the server's clock, so that a busy machine between it and the page counts for nothing
    assert 0 < seconds(lost[0]["ended_at"]) - killed < 3 * LEASE_SECONDS
    page.wait(
        "document.querySelector('#failures')?.innerText.includes('attempt 1 was lost on gpu0@')", PATIENCE
    )
    stack.client.cancel(job)
    page.wait(f"{PARTS}.every(words => /^(Done|Cancelled)/.test(words))", PATIENCE)
    assert page.faults == []
