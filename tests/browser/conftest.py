"""A browser for each module, and a page over a document that the test holds."""

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.browser.chromium import Browser, Page, chromium, find_chromium
from tests.browser.documents import BUSY_AT, busy_afternoon
from tests.browser.scheduler import Document
from tests.browser.stage import Stage
from tests.support.valkey import valkey, valkey_socket

__all__ = ["browser", "busy", "open_page", "valkey", "valkey_socket"]

# lets a test turn the page's monotonic clock forward: `ahead = 6000`
CLOCK = """
    const real = performance.now.bind(performance);
    window.ahead = 0;
    performance.now = () => real() + window.ahead;
"""

Opened = tuple[Page, Stage]
Open = Callable[..., Opened]


@pytest.fixture(scope="module")
def browser(valkey_socket: Path) -> Iterator[Browser]:
    """Started after the server, which forks: this process has a second thread from here on."""
    assert valkey_socket.exists()
    executable = find_chromium()
    if executable is None:
        pytest.skip("no Chromium on PATH: the panel is not tested in a browser")
    with chromium(executable) as running:
        yield running


@pytest.fixture
def busy() -> Callable[[], Document]:
    """A busy house whose time goes on."""
    began = time.time() - BUSY_AT
    afternoon = busy_afternoon(began)
    return lambda: afternoon.document(time.time() - began)


@pytest.fixture
def open_page(browser: Browser) -> Iterator[Open]:
    """`open_page(document, width=, dark=, query=, history=)`: the panel over that document, drawn once."""
    closing = ExitStack()

    def open_one(
        document: Document | Callable[[], Document],
        *,
        width: int = 1440,
        height: int = 1600,
        dark: bool = False,
        query: str = "",
        fault: int | None = None,
        streaming: bool = False,
        history: Document | None = None,
    ) -> Opened:
        stage = closing.enter_context(Stage(document))
        stage.history = history or stage.history
        stage.fault, stage.streaming = fault, streaming
        page = browser.new_page(width, height, dark=dark)
        closing.callback(page.close)
        page.before_load(CLOCK)
        page.open(stage.url + query)
        page.wait(
            "document.body.dataset.ready === ''"
            if fault is None
            else "!document.querySelector('#banner').hidden"
        )
        return page, stage

    with closing:
        yield open_one
